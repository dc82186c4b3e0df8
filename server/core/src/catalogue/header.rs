//! Header names as the catalogue and people write them.

/// A header name in lower case.
///
/// # Errors
/// A sentence, when the text can't be a header name (RFC 9110 token, at most 128 bytes).
pub(crate) fn header_name(text: &str) -> Result<String, String> {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if text.is_empty() || text.len() > 128 || !text.bytes().all(token) {
        return Err(format!(
            "“{text}” can't be the name of a header: one has letters, digits and - or _ and no spaces, such as X-Signature."
        ));
    }
    Ok(text.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::header_name;

    #[test]
    fn a_header_name_is_a_token_in_lower_case() {
        assert_eq!(header_name("X-Hub-Signature-256").as_deref(), Ok("x-hub-signature-256"));
        for wrong in ["", "X Sig", "X-Sig:", "é", "a\nb", &"a".repeat(129)] {
            assert!(header_name(wrong).is_err(), "{wrong}");
        }
    }
}
