//! Passwords: what one may be, and how it is kept. Argon2id with the parameters that OWASP asks for
//! (19 MiB, two passes), which stand in the hash, so that they can rise later.

use argon2::Argon2;
use argon2::password_hash::PasswordHasher;
use restante_core::limits::{PASSWORD_CHARS_MAX, PASSWORD_CHARS_MIN};
use restante_core::problem::{Code, Problem};
use restante_core::secret::Secret;

/// A password as it came from a file or pipe, which end it with one line break.
pub(super) fn without_line_break(password: &str) -> &str {
    let password = password.strip_suffix('\n').unwrap_or(password);
    password.strip_suffix('\r').unwrap_or(password)
}

/// Whether a text may be a password.
pub(super) fn check(password: &str) -> Result<(), Problem> {
    let chars = password.chars().count();
    if (PASSWORD_CHARS_MIN..=PASSWORD_CHARS_MAX).contains(&chars) {
        return Ok(());
    }
    Err(Problem::field(
        "/password",
        format!(
            "A password has {PASSWORD_CHARS_MIN} to {PASSWORD_CHARS_MAX} characters; this one has {chars}."
        ),
    ))
}

/// The hash that is kept. It takes a tenth of a second, so it is done away from the runtime's threads.
pub(super) async fn hash(password: Secret<String>) -> Result<String, Problem> {
    let hashed = tokio::task::spawn_blocking(move || {
        Argon2::default().hash_password(password.expose().as_bytes()).map(|hash| hash.to_string())
    })
    .await;
    match hashed {
        Ok(Ok(hash)) => Ok(hash),
        Ok(Err(_)) | Err(_) => {
            tracing::error!("a password could not be hashed");
            Err(Problem::new(Code::Internal, "The password could not be hashed."))
        }
    }
}

#[cfg(test)]
mod tests {
    use argon2::password_hash::PasswordVerifier;
    use argon2::password_hash::phc::PasswordHash;

    use super::*;

    #[test]
    fn one_line_break_at_the_end_is_no_part_of_a_password() {
        for (sent, meant) in [
            ("secret\n", "secret"),
            ("secret\r\n", "secret"),
            ("secret\n\n", "secret\n"),
            ("secret", "secret"),
            (" s ", " s "),
        ] {
            assert_eq!(without_line_break(sent), meant);
        }
    }

    #[tokio::test]
    async fn a_hash_is_argon2id_with_a_salt_of_its_own_and_verifies() {
        let password = Secret::new("correct horse battery".to_owned());
        let (one, two) = (hash(password.clone()).await.unwrap(), hash(password).await.unwrap());
        assert!(one.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{one}");
        assert_ne!(one, two);
        let parsed = PasswordHash::new(&one).unwrap();
        assert!(Argon2::default().verify_password(b"correct horse battery", &parsed).is_ok());
        assert!(Argon2::default().verify_password(b"correct horse batterx", &parsed).is_err());
    }

    #[test]
    fn a_password_has_twelve_to_256_characters() {
        assert!(check("äöüäöüäöüäöü").is_ok() && check(&"a".repeat(256)).is_ok());
        assert!(check("elevenchars").is_err() && check(&"a".repeat(257)).is_err() && check("").is_err());
    }
}
