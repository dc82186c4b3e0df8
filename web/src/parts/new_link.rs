//! A one-time link that was just made: sent by e-mail where the operator has configured that, and else shown
//! this once, to be passed on. A link that could not be sent is shown as well, so that none is lost.

use restante_app::mail::{Letter, Mailed};

use super::badge::Tone;
use crate::state::Web;

/// What a page says of a new link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NewLink {
    pub(crate) tone: Tone,
    pub(crate) icon: &'static str,
    pub(crate) sentence: String,
    /// The whole address; `None` once it is on its way to whom it is for.
    pub(crate) url: Option<String>,
}

impl NewLink {
    /// An invitation into a tenant.
    pub(crate) async fn invitation(web: &Web, to: &str, tenant: &str, token: &str) -> Self {
        let url = address(web, token);
        let mailed = web.app.mail(&Letter::invitation(to, tenant, url.clone())).await;
        Self::told(mailed, to, "is good for a week", url)
    }

    /// A link for a new password.
    pub(crate) async fn new_password(web: &Web, to: &str, token: &str) -> Self {
        let url = address(web, token);
        let mailed = web.app.mail(&Letter::new_password(to, url.clone())).await;
        let good = "sets a new password, once, within an hour, and leaves a second factor where it is";
        Self::told(mailed, to, good, url)
    }

    fn told(mailed: Mailed, to: &str, good: &str, url: String) -> Self {
        match mailed {
            Mailed::Sent => Self {
                tone: Tone::Good,
                icon: "mail",
                sentence: format!("The link is on its way to {to} by e-mail. It {good}."),
                url: None,
            },
            Mailed::NotConfigured => Self {
                tone: Tone::Good,
                icon: "check",
                sentence: format!(
                    "Pass this link on to {to}, and to nobody else. It {good}, and is shown this once."
                ),
                url: Some(url),
            },
            Mailed::Failed(why) => Self {
                tone: Tone::Warn,
                icon: "mail",
                sentence: format!(
                    "The link could not be sent by e-mail. {} It works all the same: pass it on to {to}, and to nobody else. It \
                     {good}, and is shown this once.",
                    why.sentence()
                ),
                url: Some(url),
            },
        }
    }

    /// Something for tests of templates.
    #[cfg(test)]
    pub(crate) fn sample(text: &str) -> Self {
        Self { tone: Tone::Good, icon: "check", sentence: text.to_owned(), url: Some(text.to_owned()) }
    }
}

fn address(web: &Web, token: &str) -> String {
    format!("{}/links/{token}", web.app.settings.public_url)
}

#[cfg(test)]
mod tests {
    use restante_app::mail::Failure;

    use super::*;

    #[test]
    fn a_link_is_shown_unless_it_was_sent() {
        let told = |mailed| NewLink::told(mailed, "eve@example.com", "is good for a week", "link".to_owned());
        assert_eq!(told(Mailed::Sent).url, None);
        assert_eq!(told(Mailed::NotConfigured).url.as_deref(), Some("link"));
        let failed = told(Mailed::Failed(Failure::Refused(550)));
        assert_eq!((failed.url.as_deref(), failed.tone), (Some("link"), Tone::Warn));
        assert!(failed.sentence.contains("550") && failed.sentence.contains("eve@example.com"));
    }
}
