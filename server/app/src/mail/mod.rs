//! E-mail, when the operator has configured a server for it: invitations and links for a new password go to
//! whom they are for. Without one, and when sending fails, the link is shown to be passed on, so that it is
//! never lost. No link, address or word of the other server reaches the log.

mod message;
#[cfg(test)]
mod tests;

pub use message::Letter;

use std::time::Duration;

use lettre::message::Mailbox;
use lettre::transport::smtp::extension::ClientId;
use lettre::{AsyncSmtpTransport, AsyncTransport as _, Tokio1Executor};
use restante_core::secret::Secret;
use url::{Host, Url};

use crate::App;

/// How long a person waits for their page while a letter is handed over.
const SEND_MAX: Duration = Duration::from_secs(10);
/// How long one answer of the mail server may take.
const ANSWER_MAX: Duration = Duration::from_secs(8);

/// A way to a mail server. Its `Debug` shows neither the server nor the password.
pub struct Mailer {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
}

impl std::fmt::Debug for Mailer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Mailer")
    }
}

/// What became of a letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mailed {
    /// No mail server is configured.
    NotConfigured,
    /// The mail server has taken it over. Whether it arrives, nobody here learns.
    Sent,
    /// It could not be handed over.
    Failed(Failure),
}

/// Why a letter could not be handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// The mail server did not answer in time, or can't be reached.
    Away,
    /// TLS with the mail server failed: its certificate is not one that is trusted, for instance.
    Tls,
    /// The mail server refused it, with this status of SMTP.
    Refused(u16),
    /// The address or a name can't stand in a letter.
    Unwritable,
}

impl Failure {
    /// Why, for people.
    pub fn sentence(self) -> String {
        match self {
            Self::Away => "The mail server can’t be reached, or did not answer in time.".to_owned(),
            Self::Tls => "There is no trusted TLS connection with the mail server.".to_owned(),
            Self::Refused(status) => format!("The mail server refused it ({status})."),
            Self::Unwritable => "The address can’t stand in a letter.".to_owned(),
        }
    }
}

impl Mailer {
    /// A way to the server of a URL: `smtps://user:password@host` with TLS from the beginning,
    /// `smtp://user:password@host?tls=required` with STARTTLS, `smtp://127.0.0.1:25` in clear on this machine.
    ///
    /// # Errors
    /// With a sentence that holds nothing of the URL.
    pub fn new(url: &Secret<String>, from: &str) -> Result<Self, String> {
        let like = "It looks like smtps://user:password@mail.example.com or smtp://user:password@mail.example.com?tls=required.";
        let parsed =
            Url::parse(url.expose()).map_err(|_| format!("This is no URL of a mail server. {like}"))?;
        let (Some(host), "smtp" | "smtps") = (parsed.host(), parsed.scheme()) else {
            return Err(format!("The URL has to begin with smtps:// or smtp:// and to name a host. {like}"));
        };
        let tls = parsed.query_pairs().find(|(name, _)| name == "tls").map(|(_, value)| value.into_owned());
        let in_clear = parsed.scheme() == "smtp" && tls.as_deref() != Some("required");
        if in_clear && !is_loopback(&host) {
            return Err(format!(
                "Passwords and links would cross the network in clear. Use smtps://, or ?tls=required; in clear it is only for \
                 this machine. {like}"
            ));
        }
        let from = from.parse::<Mailbox>().map_err(|_| {
            "The sender’s address can't be read. It looks like restante@example.com or Restante <restante@example.com>.".to_owned()
        })?;
        let mut builder = AsyncSmtpTransport::<Tokio1Executor>::from_url(url.expose())
            .map_err(|_| format!("This URL of a mail server can't be used. {like}"))?
            .timeout(Some(ANSWER_MAX));
        if parsed.path().len() <= 1 {
            // Servers look at it; the domain of the sender is a better name than an address.
            builder = builder.hello_name(ClientId::Domain(from.email.domain().to_owned()));
        }
        Ok(Self { transport: builder.build(), from })
    }

    async fn send(&self, letter: &Letter, now: std::time::SystemTime) -> Result<(), Failure> {
        let message = letter.message(self.from.clone(), now).ok_or(Failure::Unwritable)?;
        match tokio::time::timeout(SEND_MAX, self.transport.send(message)).await {
            Ok(Ok(_)) => Ok(()),
            Err(_) => Err(Failure::Away),
            Ok(Err(error)) if error.is_tls() => Err(Failure::Tls),
            Ok(Err(error)) => Err(error.status().map_or(Failure::Away, |code| Failure::Refused(code.into()))),
        }
    }
}

fn is_loopback(host: &Host<&str>) -> bool {
    match host {
        // A scheme that the standard of URLs does not know leaves addresses as names.
        Host::Domain(name) => {
            *name == "localhost"
                || name.ends_with(".localhost")
                || name.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
        }
        Host::Ipv4(ip) => ip.is_loopback(),
        Host::Ipv6(ip) => ip.is_loopback(),
    }
}

impl App {
    /// Hands a letter over to the mail server, if there is one.
    pub async fn mail(&self, letter: &Letter) -> Mailed {
        let Some(mailer) = self.mailer.get() else { return Mailed::NotConfigured };
        let micros = u64::try_from(self.clock.now().micros()).unwrap_or(0);
        let now = std::time::UNIX_EPOCH + Duration::from_micros(micros);
        match mailer.send(letter, now).await {
            Ok(()) => {
                tracing::info!(letter = letter.kind(), "a letter was handed over to the mail server");
                Mailed::Sent
            }
            Err(failure) => {
                tracing::warn!(
                    letter = letter.kind(),
                    ?failure,
                    "a letter could not be handed over to the mail server"
                );
                Mailed::Failed(failure)
            }
        }
    }
}
