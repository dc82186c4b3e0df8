//! The second factor: a secret shared with an app, whose code is asked for after the password; and
//! recovery codes for the day on which the app is gone. The secret is sealed under a key of the person.

use restante_core::id::{TenantId, UserId};
use restante_core::problem::{Code, Problem};
use restante_core::seal::{KeyClass, Place, TenantKey, WrappedKey};
use restante_core::secret::Secret;
use restante_core::token::RecoveryCode;
use restante_core::totp::TotpSecret;
use restante_store::StoreError;
use restante_store::control::second_factors::{self, SecondFactorRow};
use restante_store::control::{instance_audit, sessions};
use serde_json::json;

use super::actor::Actor;
use super::throttle::Counted;
use crate::App;
use crate::tenant_keys::unreadable;

/// Recovery codes that a person gets at once.
pub const RECOVERY_CODES: usize = 10;
/// The version of a person's key; there is one.
pub(crate) const KEY_VERSION: u32 = 1;

/// How a code was right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeAccepted {
    /// It came from the app.
    App,
    /// It was a recovery code; so many are left.
    Recovery {
        /// Codes that can still be used.
        left: u64,
    },
}

/// What a person's page shows of their second factor.
#[derive(Debug, Clone)]
pub enum SecondFactor {
    /// There is none.
    Off,
    /// A secret waits for its first code.
    Pending(TotpSecret),
    /// It is in use.
    On {
        /// Recovery codes that can still be used.
        codes_left: u64,
    },
}

impl App {
    /// What there is of a person's second factor.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn second_factor(&self, user: UserId) -> Result<SecondFactor, StoreError> {
        let (row, codes_left) = self
            .store
            .read(move |conn| {
                Box::pin(async move {
                    let row = second_factors::find(conn, user).await?;
                    Ok((row, second_factors::recovery_codes_left(conn, user).await?))
                })
            })
            .await?;
        match row {
            None => Ok(SecondFactor::Off),
            Some(row) if row.enabled_at.is_none() => self.open_secret(&row).map(SecondFactor::Pending),
            Some(_) => Ok(SecondFactor::On { codes_left }),
        }
    }

    /// Draws a new secret for an app. It asks for nothing until its first right code.
    ///
    /// # Errors
    /// `conflict` when a second factor is in use.
    pub async fn begin_second_factor(&self, user: UserId) -> Result<TotpSecret, StoreError> {
        let now = self.clock.now();
        let secret = TotpSecret::new(self.random.bytes());
        let key = Secret::new(self.random.bytes());
        let wrapped =
            self.keys.ring().wrap(owner(user), KeyClass::Secrets, KEY_VERSION, &key, self.random.bytes());
        let sealed = self.person_key(user, &wrapped)?.seal(
            &Place::second_factor(user),
            secret.expose(),
            self.random.bytes(),
        );
        let begun = self
            .store
            .write(move |conn| {
                Box::pin(
                    async move { second_factors::begin(conn, user, wrapped.as_bytes(), &sealed, now).await },
                )
            })
            .await?;
        if begun { Ok(secret) } else { Err(in_use()) }
    }

    /// Takes the secret into use after its first right code, and gives the recovery codes, this once.
    ///
    /// # Errors
    /// A fault of the field `/code`; `conflict` when no secret waits.
    pub async fn enable_second_factor(
        &self,
        actor: &Actor,
        code: &str,
    ) -> Result<Vec<RecoveryCode>, StoreError> {
        let user = actor.user().ok_or_else(nothing_waits)?;
        let now = self.clock.now();
        self.throttle.begin(&[Counted::Codes(user)], now)?;
        let row = self.read_factor(user).await?.ok_or_else(nothing_waits)?;
        if row.enabled_at.is_some() {
            return Err(in_use());
        }
        let step = self.open_secret(&row)?.matching_step(code, now, row.last_step).ok_or_else(wrong_code)?;
        self.throttle.succeed(&[Counted::Codes(user)]);
        let (codes, hashes) = self.draw_codes();
        let line = actor.line(&*self.random, now, "second_factor.enable", user.to_string(), &json!({}));
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    if !second_factors::enable(conn, user, &row.secret_sealed, step, now).await? {
                        return Err(nothing_waits());
                    }
                    second_factors::replace_recovery_codes(conn, user, &hashes).await?;
                    instance_audit::insert(conn, line).await
                })
            })
            .await?;
        Ok(codes)
    }

    /// Takes the second factor away. The person's other sessions end.
    ///
    /// # Errors
    /// `conflict` when there is none.
    pub async fn disable_second_factor(
        &self,
        actor: &Actor,
        session: restante_core::id::SessionId,
    ) -> Result<(), StoreError> {
        let user = actor.user().ok_or_else(none)?;
        let now = self.clock.now();
        let line = actor.line(&*self.random, now, "second_factor.disable", user.to_string(), &json!({}));
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    if !second_factors::delete(conn, user).await? {
                        return Err(none());
                    }
                    sessions::revoke_all(conn, user, Some(session)).await?;
                    instance_audit::insert(conn, line).await
                })
            })
            .await
    }

    /// Gives new recovery codes, this once; the old ones count no more.
    ///
    /// # Errors
    /// `conflict` when there is no second factor.
    pub async fn new_recovery_codes(&self, actor: &Actor) -> Result<Vec<RecoveryCode>, StoreError> {
        let user = actor.user().ok_or_else(none)?;
        let now = self.clock.now();
        let (codes, hashes) = self.draw_codes();
        let line = actor.line(&*self.random, now, "recovery_codes.new", user.to_string(), &json!({}));
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    let factor = second_factors::find(conn, user).await?;
                    if factor.is_none_or(|factor| factor.enabled_at.is_none()) {
                        return Err(none());
                    }
                    second_factors::replace_recovery_codes(conn, user, &hashes).await?;
                    instance_audit::insert(conn, line).await
                })
            })
            .await?;
        Ok(codes)
    }

    /// Checks a code of the app, or a recovery code. Each counts once.
    ///
    /// # Errors
    /// A fault of the field `/code`; `rate-limited` after too many attempts.
    pub async fn check_code(&self, user: UserId, typed: &str) -> Result<CodeAccepted, StoreError> {
        let now = self.clock.now();
        self.throttle.begin(&[Counted::Codes(user)], now)?;
        let refused = || {
            tracing::warn!(user.id = %user, "a code of a second factor was refused");
            wrong_code()
        };
        let row = self.read_factor(user).await?.filter(|row| row.enabled_at.is_some());
        let row = row.ok_or_else(refused)?;
        let accepted = if let Some(step) = self.open_secret(&row)?.matching_step(typed, now, row.last_step) {
            let taken = self
                .store
                .write(move |conn| Box::pin(async move { second_factors::take_step(conn, user, step).await }))
                .await?;
            taken.then_some(CodeAccepted::App)
        } else if let Some(code) = RecoveryCode::parse(typed) {
            let hash = code.hash();
            self.store
                .write(move |conn| {
                    Box::pin(async move {
                        if !second_factors::take_recovery_code(conn, user, &hash, now).await? {
                            return Ok(None);
                        }
                        let left = second_factors::recovery_codes_left(conn, user).await?;
                        Ok(Some(CodeAccepted::Recovery { left }))
                    })
                })
                .await?
        } else {
            None
        };
        let accepted = accepted.ok_or_else(refused)?;
        self.throttle.succeed(&[Counted::Codes(user)]);
        Ok(accepted)
    }

    async fn read_factor(&self, user: UserId) -> Result<Option<SecondFactorRow>, StoreError> {
        self.store.read(move |conn| Box::pin(async move { second_factors::find(conn, user).await })).await
    }

    fn open_secret(&self, row: &SecondFactorRow) -> Result<TotpSecret, StoreError> {
        let place = Place::second_factor(row.user);
        let wrapped = WrappedKey::parse(&row.key_wrapped).map_err(|error| unreadable(&place, &error))?;
        let opened = self
            .person_key(row.user, &wrapped)?
            .open(&place, &row.secret_sealed)
            .map(Secret::new)
            .map_err(|error| unreadable(&place, &error))?;
        TotpSecret::from_kept(opened.expose()).ok_or_else(|| unreadable(&place, &"it has another length"))
    }

    fn person_key(&self, user: UserId, wrapped: &WrappedKey) -> Result<TenantKey, StoreError> {
        let place = Place::second_factor(user);
        self.keys.ring().unwrap(owner(user), KEY_VERSION, wrapped).map_err(|error| unreadable(&place, &error))
    }

    fn draw_codes(&self) -> (Vec<RecoveryCode>, Vec<restante_core::token::TokenHash>) {
        let codes: Vec<RecoveryCode> =
            (0..RECOVERY_CODES).map(|_| RecoveryCode::new(self.random.bytes())).collect();
        let hashes = codes.iter().map(RecoveryCode::hash).collect();
        (codes, hashes)
    }
}

/// Keys are bound to whom they belong to. A person belongs to no tenant and stands in its place.
pub(crate) const fn owner(user: UserId) -> TenantId {
    TenantId(user.0)
}

fn wrong_code() -> StoreError {
    let detail = "This code is not right, or it was used already. Take the one that the app shows now.";
    Problem::field("/code", detail).into()
}

fn in_use() -> StoreError {
    Problem::new(Code::Conflict, "A second factor is in use. Take it away before you set up another one.")
        .into()
}

fn nothing_waits() -> StoreError {
    Problem::new(Code::Conflict, "No second factor is being set up. Begin anew.").into()
}

fn none() -> StoreError {
    Problem::new(Code::Conflict, "There is no second factor.").into()
}
