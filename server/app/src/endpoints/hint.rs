//! How a secret is told from others without being shown: by its last four characters, and not even
//! by those when that would be much of it.

/// Secrets shorter than this show nothing: four of eight characters are half of it.
const CHARS_MIN: usize = 12;
const SHOWN_CHARS: usize = 4;

/// What people know a secret by.
pub(crate) fn hint(secret: &str) -> String {
    let told = pem_content(secret).unwrap_or(secret).trim();
    let chars = told.chars().count();
    if chars < CHARS_MIN {
        return "…".to_owned();
    }
    std::iter::once('…').chain(told.chars().skip(chars - SHOWN_CHARS)).collect()
}

/// The last line of a PEM text tells nothing; the one before it does.
fn pem_content(text: &str) -> Option<&str> {
    let text = text.trim();
    if !text.starts_with("-----BEGIN ") {
        return None;
    }
    text.lines().rev().find(|line| !line.starts_with("-----") && !line.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_characters_are_shown_of_a_long_secret_and_none_of_a_short_one() {
        assert_eq!(hint("whsec_abcdefgh1234"), "…1234");
        assert_eq!(hint("abcdefghijkl"), "…ijkl");
        assert_eq!(hint("abcdefghijk"), "…");
        assert_eq!(hint(""), "…");
        assert_eq!(hint("ääääääääääöüß€"), "…öüß€");
    }

    #[test]
    fn a_public_key_in_pem_shows_the_end_of_its_content() {
        let pem =
            "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYI\nAbCdEfGhIjKlMnOp\n-----END PUBLIC KEY-----\n";
        assert_eq!(hint(pem), "…MnOp");
    }
}
