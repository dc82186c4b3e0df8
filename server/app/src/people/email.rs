//! E-mail addresses, by which people are known.

use restante_core::limits::EMAIL_BYTES_MAX;
use restante_core::problem::FieldError;

/// An address as it is kept: without the spaces around it, in lower case.
pub(crate) fn normal(typed: &str) -> String {
    typed.trim().to_lowercase()
}

/// What is wrong with an address.
pub(crate) fn fault(email: &str, pointer: &str) -> Option<FieldError> {
    (!is_email(email)).then(|| FieldError {
        pointer: pointer.to_owned(),
        detail: "This is no e-mail address; it looks like ada@example.com.".to_owned(),
    })
}

/// Whether a text can be an address. Whether it is one, only a letter to it would tell.
fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    text.len() <= EMAIL_BYTES_MAX
        && !local.is_empty()
        && !domain.is_empty()
        && !local.contains('@')
        && !text.chars().any(|c| c.is_whitespace() || c.is_control())
}
