//! The letters: what each says. They are plain text, and hold the link whole on a line of its own.

use std::time::SystemTime;

use lettre::Message;
use lettre::message::Mailbox;
use lettre::message::header::ContentType;
use restante_core::secret::Secret;

/// A letter. Its link opens an account or a tenant, so that its `Debug` hides it.
#[derive(Debug, Clone)]
pub struct Letter {
    to: String,
    link: Secret<String>,
    about: About,
}

#[derive(Debug, Clone)]
enum About {
    Invitation { tenant: String },
    NewPassword,
}

impl Letter {
    /// An invitation into a tenant, which is good for a week.
    pub fn invitation(to: &str, tenant: &str, link: String) -> Self {
        Self {
            to: to.to_owned(),
            link: Secret::new(link),
            // A name is one line, whatever stands in it.
            about: About::Invitation { tenant: tenant.replace(char::is_control, " ") },
        }
    }

    /// A link that sets a new password, once, within an hour.
    pub fn new_password(to: &str, link: String) -> Self {
        Self { to: to.to_owned(), link: Secret::new(link), about: About::NewPassword }
    }

    /// What it is, in the log.
    pub(super) const fn kind(&self) -> &'static str {
        match self.about {
            About::Invitation { .. } => "invitation",
            About::NewPassword => "new password",
        }
    }

    fn subject(&self) -> String {
        match &self.about {
            About::Invitation { tenant } => format!("Invitation to {tenant} on Restante"),
            About::NewPassword => "A new password for Restante".to_owned(),
        }
    }

    fn text(&self) -> String {
        let link = self.link.expose();
        match &self.about {
            About::Invitation { tenant } => format!(
                "You are invited to the tenant \u{201c}{tenant}\u{201d} on Restante. The link is good for a week, and once:\n\n{link}\n\n\
                 If you don't know what this is about, do nothing: without the link nobody joins in your name.\n"
            ),
            About::NewPassword => format!(
                "Somebody who looks after your account on Restante has made a link with which you choose a new password. It is \
                 good for an hour, and once:\n\n{link}\n\nUntil it is used, your password stays as it is. If you have not asked for \
                 it, tell whoever looks after your account.\n"
            ),
        }
    }

    /// The letter as it is sent; `None` when the address can't be written.
    pub(super) fn message(&self, from: Mailbox, now: SystemTime) -> Option<Message> {
        Message::builder()
            .from(from)
            .to(self.to.parse().ok()?)
            .date(now)
            .subject(self.subject())
            .header(ContentType::TEXT_PLAIN)
            .body(self.text())
            .ok()
    }
}
