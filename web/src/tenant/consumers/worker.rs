//! A worker for a consumer in four languages, with the real address and name. The key is an environment
//! variable, since no page holds one. The texts are those of `docs/guide/workers.md`. A test copies those in
//! curl, Node.js and Python out of the page and runs them against the program.

use crate::parts::link::Link;

/// A language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Shell,
    Node,
    Python,
    Rust,
}

impl Language {
    pub(crate) const ALL: [Self; 4] = [Self::Shell, Self::Node, Self::Python, Self::Rust];

    /// The word in the address.
    const fn as_str(self) -> &'static str {
        match self {
            Self::Shell => "curl",
            Self::Node => "node",
            Self::Python => "python",
            Self::Rust => "rust",
        }
    }

    /// The name for people.
    const fn title(self) -> &'static str {
        match self {
            Self::Shell => "curl",
            Self::Node => "Node.js",
            Self::Python => "Python",
            Self::Rust => "Rust",
        }
    }

    /// The language of a word; curl where it is none.
    pub(crate) fn from_word(word: &str) -> Self {
        Self::ALL.into_iter().find(|one| one.as_str() == word).unwrap_or(Self::Shell)
    }

    const fn text(self) -> &'static str {
        match self {
            Self::Shell => include_str!("../../../workers/worker.sh"),
            Self::Node => include_str!("../../../workers/worker.mjs"),
            Self::Python => include_str!("../../../workers/worker.py"),
            Self::Rust => include_str!("../../../workers/worker.rs"),
        }
    }

    /// What it needs.
    pub(crate) const fn needs(self) -> &'static str {
        match self {
            Self::Shell => "For trying things out: one event at a time.",
            Self::Node => "Node.js 18 or newer, without packages.",
            Self::Python => "Python 3.8 or newer, without packages.",
            Self::Rust => "With ureq 3 (feature json) and serde_json.",
        }
    }

    /// The languages as choices below a path.
    pub(crate) fn choices(self, path: &str) -> Vec<(&'static str, String, bool)> {
        let choice = |one: Self| {
            (one.title(), format!("{}#worker", Link::to(path).with("worker", one.as_str())), one == self)
        };
        Self::ALL.map(choice).into()
    }
}

/// The worker of a consumer. `address` is the public URL; both are of letters that need no quoting.
pub(crate) fn worker(language: Language, address: &str, consumer: &str) -> String {
    let address = address.trim_end_matches('/');
    let text = language.text().replace("/v1/consumers/default", &format!("/v1/consumers/{consumer}"));
    match language {
        Language::Shell => text.replace("$HERE", address),
        Language::Node => text.replace("${process.env.HERE}", address),
        Language::Python => text.replace("{os.environ['HERE']}", address),
        Language::Rust => text.replace("std::env::var(\"HERE\")?", &format!("\"{address}\"")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_has_the_real_address_and_name_and_no_key() {
        for language in Language::ALL {
            let text = worker(language, "https://hooks.example.com/", "billing");
            assert!(
                text.contains("/v1/consumers/billing") && text.contains("https://hooks.example.com"),
                "{text}"
            );
            for never in ["HERE", "default", "com//", "rst_"] {
                assert!(!text.contains(never), "{never} in {text}");
            }
            assert!(text.contains("KEY"), "{text}");
        }
    }

    /// The guide's texts are the ones that a test runs.
    #[test]
    fn the_workers_are_those_of_the_guide() {
        let guide = include_str!("../../../../docs/guide/workers.md");
        for language in Language::ALL {
            assert!(guide.contains(&format!("\n{}```\n", language.text())), "{}", language.title());
        }
    }

    #[test]
    fn a_language_is_chosen_by_its_word() {
        assert_eq!(Language::from_word("rust"), Language::Rust);
        assert_eq!(Language::from_word("cobol"), Language::Shell);
        let choices = Language::Node.choices("/t/acme/consumers/billing");
        assert_eq!(choices[1], ("Node.js", "/t/acme/consumers/billing?worker=node#worker".to_owned(), true));
    }
}
