//! Passwords as they are kept and compared. Argon2id with the parameters that OWASP asks for
//! (19 MiB, two passes), which stand in the hash, so that they can rise later. A hash takes a tenth of a
//! second of a processor; two at once are the most, so that a flood of sign-ins can't stop receiving.

use std::sync::Arc;
use std::time::Duration;

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use restante_core::limits::{PASSWORD_CHARS_MAX, PASSWORD_CHARS_MIN};
use restante_core::problem::{Code, FieldError, Problem};
use restante_core::secret::Secret;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Hashes that are computed at once.
const HASHES_AT_ONCE_MAX: usize = 2;
/// How long a hash waits for its turn.
const TURN_WAIT_MAX: Duration = Duration::from_secs(5);
/// How a hash of today begins. An older one is replaced when its password comes by.
const PARAMETERS: &str = "$argon2id$v=19$m=19456,t=2,p=1$";
/// What a password is compared with where there is none: no password has this hash, and the answer
/// takes as long as with one.
const NOBODYS_HASH: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// A password as it came from a file or pipe, which end it with one line break.
pub(crate) fn without_line_break(password: &str) -> &str {
    let password = password.strip_suffix('\n').unwrap_or(password);
    password.strip_suffix('\r').unwrap_or(password)
}

/// What is wrong with a text as the password of that address.
pub(crate) fn fault(password: &str, email: &str, pointer: &str) -> Option<FieldError> {
    restante_core::password::fault(password, email)
        .map(|detail| FieldError { pointer: pointer.to_owned(), detail })
}

fn has_good_length(password: &str) -> bool {
    (PASSWORD_CHARS_MIN..=PASSWORD_CHARS_MAX).contains(&password.chars().count())
}

/// What a comparison gave.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Compared {
    /// It is another password, or there is none to compare with.
    Wrong,
    /// It is the one.
    Right,
    /// It is the one; its hash was made with older parameters, and this is a new one.
    RightWithNewHash(String),
}

/// Who hashes, in turns.
#[derive(Debug, Clone)]
pub struct Passwords {
    turns: Arc<Semaphore>,
}

impl Default for Passwords {
    fn default() -> Self {
        Self { turns: Arc::new(Semaphore::new(HASHES_AT_ONCE_MAX)) }
    }
}

impl Passwords {
    /// The hash that is kept.
    pub(crate) async fn hash(&self, password: Secret<String>) -> Result<String, Problem> {
        let turn = self.turn().await?;
        away(turn, move || hash(&password)).await
    }

    /// Compares a password with what is kept, in the same time whether there is something or not.
    pub(crate) async fn compare(
        &self,
        password: Secret<String>,
        kept: Option<String>,
    ) -> Result<Compared, Problem> {
        if !has_good_length(password.expose()) {
            // No password is so, and what is endless is not hashed.
            return Ok(Compared::Wrong);
        }
        let turn = self.turn().await?;
        away(turn, move || compare(&password, kept.as_deref())).await
    }

    async fn turn(&self) -> Result<OwnedSemaphorePermit, Problem> {
        match tokio::time::timeout(TURN_WAIT_MAX, Arc::clone(&self.turns).acquire_owned()).await {
            Ok(Ok(turn)) => Ok(turn),
            Ok(Err(_)) | Err(_) => Err(Problem::new(
                Code::Unavailable,
                "Too many people sign in at this moment. Try again in a few seconds.",
            )),
        }
    }
}

/// Works away from the runtime's threads, and gives the turn back when the work has ended, even if
/// nobody waits for it any more.
async fn away<T: Send + 'static>(
    turn: OwnedSemaphorePermit,
    work: impl FnOnce() -> Option<T> + Send + 'static,
) -> Result<T, Problem> {
    let done = tokio::task::spawn_blocking(move || {
        let done = work();
        drop(turn);
        done
    })
    .await;
    done.ok().flatten().ok_or_else(|| {
        tracing::error!("a password could not be hashed, or its kept hash can't be read");
        Problem::new(Code::Internal, "The password could not be checked. The log of the server says more.")
    })
}

fn hash(password: &Secret<String>) -> Option<String> {
    Argon2::default().hash_password(password.expose().as_bytes()).ok().map(|hash| hash.to_string())
}

fn compare(password: &Secret<String>, kept: Option<&str>) -> Option<Compared> {
    let is_there = kept.is_some();
    let kept = kept.unwrap_or(NOBODYS_HASH);
    let parsed = PasswordHash::new(kept).ok()?;
    let matches = Argon2::default().verify_password(password.expose().as_bytes(), &parsed).is_ok();
    if !matches || !is_there {
        return Some(Compared::Wrong);
    }
    if kept.starts_with(PARAMETERS) {
        return Some(Compared::Right);
    }
    hash(password).map(Compared::RightWithNewHash)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(text: &str) -> Secret<String> {
        Secret::new(text.to_owned())
    }

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
    async fn a_hash_is_argon2id_with_a_salt_of_its_own_and_compares() {
        let passwords = Passwords::default();
        let password = secret("correct horse battery");
        let one = passwords.hash(password.clone()).await.unwrap();
        let two = passwords.hash(password.clone()).await.unwrap();
        assert!(one.starts_with(PARAMETERS), "{one}");
        assert_ne!(one, two);
        let wrong = secret("correct horse batterx");
        assert_eq!(passwords.compare(password.clone(), Some(one.clone())).await, Ok(Compared::Right));
        assert_eq!(passwords.compare(wrong, Some(one)).await, Ok(Compared::Wrong));
        assert_eq!(passwords.compare(password, None).await, Ok(Compared::Wrong));
    }

    #[test]
    fn nobodys_hash_costs_what_a_real_one_costs() {
        assert!(NOBODYS_HASH.starts_with(PARAMETERS));
        let parsed = PasswordHash::new(NOBODYS_HASH).unwrap();
        let real = hash(&secret("correct horse battery")).unwrap();
        assert_eq!(parsed.to_string().len(), real.len());
        // It is computed and compared, and not refused for its form.
        assert_eq!(compare(&secret("correct horse battery"), None), Some(Compared::Wrong));
    }

    #[test]
    fn a_hash_with_other_parameters_is_made_anew_when_its_password_comes() {
        let cheap = argon2::Params::new(8 * 1024, 1, 1, None).unwrap();
        let old = Argon2::from(cheap).hash_password(b"correct horse battery").unwrap().to_string();
        match compare(&secret("correct horse battery"), Some(&old)).unwrap() {
            Compared::RightWithNewHash(new) => assert!(new.starts_with(PARAMETERS), "{new}"),
            other => panic!("{other:?}"),
        }
        assert_eq!(compare(&secret("correct horse batterx"), Some(&old)), Some(Compared::Wrong));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn two_hashes_at_once_are_the_most() {
        let passwords = Passwords::default();
        let (first, second) = (passwords.turn().await.unwrap(), passwords.turn().await.unwrap());
        let waiting = tokio::spawn({
            let passwords = passwords.clone();
            async move { passwords.compare(secret("correct horse battery"), None).await }
        });
        tokio::task::yield_now().await;
        assert_eq!(passwords.turns.available_permits(), 0);
        assert!(!waiting.is_finished());
        drop((first, second));
        assert_eq!(waiting.await.unwrap(), Ok(Compared::Wrong));
    }
}
