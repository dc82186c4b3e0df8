//! Signing in with address and password. Whoever asks learns only whether both are right: an unknown
//! address, a wrong password and a disabled account are answered alike and in the same time.

use std::net::IpAddr;

use restante_core::id::UserId;
use restante_core::limits::EMAIL_BYTES_MAX;
use restante_core::problem::{Code, Problem};
use restante_core::secret::Secret;
use restante_core::token::{DeviceToken, TokenHash};
use restante_store::StoreError;
use restante_store::control::users::UserRow;
use restante_store::control::{devices, users};

use super::password::Compared;
use super::throttle::Counted;
use crate::App;

/// How long a browser is remembered without being used.
pub const DEVICE_SECONDS_MAX: i64 = 90 * 24 * 60 * 60;

/// What somebody gives to sign in.
#[derive(Debug, Clone)]
pub struct SignIn {
    /// Their e-mail address as typed.
    pub email: String,
    /// Their password.
    pub password: Secret<String>,
    /// Where they come from.
    pub address: IpAddr,
    /// The mark of their browser, if it has one.
    pub device: Option<DeviceToken>,
}

/// Whose password it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PasswordAccepted {
    /// Who it is.
    pub user: UserId,
    /// Whether a code has to follow.
    pub awaits_code: bool,
}

impl App {
    /// Checks an address and its password. What follows is a session: a whole one after
    /// [`App::signed_in`], or half a one until the code.
    ///
    /// # Errors
    /// `unauthorized` when it is not right, whatever the reason; `rate-limited` after too many attempts;
    /// `unavailable` when it can't be checked now.
    pub async fn check_password(&self, asked: SignIn) -> Result<PasswordAccepted, StoreError> {
        let now = self.clock.now();
        let SignIn { email, password, address, device } = asked;
        let email = email.trim().to_lowercase();
        if email.len() > EMAIL_BYTES_MAX {
            return Err(refused());
        }
        let mark = device.map(|device| device.hash());
        let account = email.clone();
        let (found, is_known_device) = self
            .store
            .read(move |conn| {
                Box::pin(async move {
                    let found = users::by_email(conn, &account).await?;
                    let mut is_known = false;
                    if let (Some((user, _)), Some(mark)) = (&found, &mark) {
                        let seen_after = now.plus_seconds(-DEVICE_SECONDS_MAX);
                        is_known = devices::is_known(conn, user.id, mark, seen_after).await?;
                    }
                    Ok((found, is_known))
                })
            })
            .await?;
        let counted = match mark.filter(|_| is_known_device) {
            Some(mark) => vec![Counted::Device(mark)],
            None => {
                vec![Counted::address(address), Counted::Account(TokenHash::of(email.as_bytes()))]
            }
        };
        self.throttle.begin(&counted, now)?;

        let may_sign_in = |user: &UserRow| user.disabled_at.is_none();
        let (user, kept) = match found {
            Some((user, kept)) if may_sign_in(&user) => (Some(user), kept),
            other => (other.map(|(user, _)| user), None),
        };
        let compared = self.passwords.compare(password, kept.clone()).await?;
        let user = match (compared, user) {
            (Compared::Wrong, user) => {
                let user = user.map_or_else(|| "unknown".to_owned(), |user| user.id.to_string());
                tracing::warn!(user.id = user, "a sign-in was refused");
                return Err(refused());
            }
            (Compared::Right, Some(user)) => user,
            (Compared::RightWithNewHash(hash), Some(user)) => {
                self.replace_hash(user.id, kept.unwrap_or_default(), hash).await?;
                user
            }
            // Without a person there is no hash that could be right.
            (_, None) => return Err(refused()),
        };
        self.throttle.succeed(&counted);
        Ok(PasswordAccepted { user: user.id, awaits_code: user.has_second_factor })
    }

    /// Notes that somebody has signed in wholly, and gives the mark for their browser.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn signed_in(
        &self,
        user: UserId,
        device: Option<DeviceToken>,
    ) -> Result<DeviceToken, StoreError> {
        let now = self.clock.now();
        let fresh = DeviceToken::new(self.random.bytes());
        let (old, new) = (device.as_ref().map(DeviceToken::hash), fresh.hash());
        let is_old_theirs = self
            .store
            .write(move |conn| {
                Box::pin(async move {
                    users::signed_in(conn, user, now).await?;
                    let seen_after = now.plus_seconds(-DEVICE_SECONDS_MAX);
                    let is_old_theirs = match &old {
                        Some(old) => devices::is_known(conn, user, old, seen_after).await?,
                        None => false,
                    };
                    let mark = old.filter(|_| is_old_theirs).unwrap_or(new);
                    devices::seen(conn, user, &mark, now).await?;
                    Ok(is_old_theirs)
                })
            })
            .await?;
        tracing::info!(user.id = %user, "signed in");
        Ok(device.filter(|_| is_old_theirs).unwrap_or(fresh))
    }

    async fn replace_hash(&self, user: UserId, old: String, new: String) -> Result<(), StoreError> {
        self.store
            .write(move |conn| Box::pin(async move { users::rehash(conn, user, &old, &new).await }))
            .await
    }
}

fn refused() -> StoreError {
    Problem::new(Code::Unauthorized, "The address and the password don't belong together.").into()
}
