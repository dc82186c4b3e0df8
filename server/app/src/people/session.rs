//! Sessions: begun at sign-in, found by the hash of the id in the cookie, ended by signing out, by being
//! idle, or at the latest after half a day. How the cookie looks is the business of `web`.

use restante_core::id::{SessionId, TenantId, UserId};
use restante_core::time::Timestamp;
use restante_core::token::TokenHash;
use restante_store::StoreError;
use restante_store::control::sessions::{self, Alive, SessionRow};
use serde::{Deserialize, Serialize};

use crate::App;

/// How long a session lives without being used.
pub const IDLE_SECONDS_MAX: i64 = 30 * 60;
/// How long it lives at most.
pub const TOTAL_SECONDS_MAX: i64 = 12 * 60 * 60;
/// How long it waits for the code of the second factor.
const CODE_SECONDS_MAX: i64 = 10 * 60;
/// Use is noted to the minute: a write a minute and session.
const SEEN_GRAIN_SECONDS: i64 = 60;
/// How long the last proof that it is the person counts for acts that ask for one.
pub const CONFIRMED_SECONDS_MAX: i64 = 15 * 60;
/// The longest name of a browser and system.
const DEVICE_CHARS_MAX: usize = 60;

/// What a session holds, and nothing more.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// What lists show.
    pub id: SessionId,
    /// Whose it is.
    pub user: UserId,
    /// The tenant in which the person works.
    pub current_tenant: Option<TenantId>,
    /// Whether the code of the second factor is still to come.
    pub awaits_code: bool,
    /// What every form of this session carries.
    pub csrf: [u8; 32],
    /// The browser and system.
    pub device: String,
    /// When the person signed in.
    pub signed_in_at: Timestamp,
    /// When the person last proved that it is them.
    pub confirmed_at: Timestamp,
    /// When it was last used, to the minute.
    pub seen_at: Timestamp,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The secret of its forms is nobody's business.
        write!(f, "Session({} of {})", self.id, self.user)
    }
}

impl Session {
    /// Whether the person has proved lately enough that it is them.
    pub fn is_confirmed(&self, now: Timestamp) -> bool {
        !self.awaits_code && now < self.confirmed_at.plus_seconds(CONFIRMED_SECONDS_MAX)
    }
}

impl App {
    /// A new session of somebody who has just shown that it is them; with `awaits_code`, half of it.
    pub fn new_session(&self, user: UserId, awaits_code: bool, device: &str) -> Session {
        let now = self.clock.now();
        Session {
            id: SessionId::new(now, self.random.bytes()),
            user,
            current_tenant: None,
            awaits_code,
            csrf: self.random.bytes(),
            device: device.chars().take(DEVICE_CHARS_MAX).collect(),
            signed_in_at: now,
            confirmed_at: now,
            seen_at: now,
        }
    }

    /// Keeps a new session.
    ///
    /// # Errors
    /// What the database ran into; [`StoreError::Taken`] when there is one of this id.
    pub async fn insert_session(&self, id: TokenHash, session: Session) -> Result<(), StoreError> {
        let row = SessionRow::from(session);
        self.store.write(move |conn| Box::pin(async move { sessions::insert(conn, &id, row).await })).await
    }

    /// Keeps what has changed in a session, unless it has ended meanwhile.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn save_session(&self, id: TokenHash, session: &Session) -> Result<bool, StoreError> {
        let (tenant, confirmed_at) = (session.current_tenant, session.confirmed_at);
        self.store
            .write(move |conn| Box::pin(async move { sessions::save(conn, &id, tenant, confirmed_at).await }))
            .await
    }

    /// The session of an id, unless it has ended or run out, or its person was disabled.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn load_session(&self, id: TokenHash) -> Result<Option<Session>, StoreError> {
        let now = self.clock.now();
        let found = self
            .store
            .read(move |conn| Box::pin(async move { sessions::load(conn, &id, alive(now)).await }))
            .await?;
        let found = found.map(Session::from);
        Ok(found
            .filter(|found| !found.awaits_code || now < found.signed_in_at.plus_seconds(CODE_SECONDS_MAX)))
    }

    /// Notes that a session is in use, a minute after the last note at the earliest.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn session_seen(&self, id: TokenHash, session: &Session) -> Result<(), StoreError> {
        let now = self.clock.now();
        if now < session.seen_at.plus_seconds(SEEN_GRAIN_SECONDS) {
            return Ok(());
        }
        self.store.write(move |conn| Box::pin(async move { sessions::seen(conn, &id, now).await })).await
    }

    /// Ends a session.
    ///
    /// # Errors
    /// What the database ran into.
    pub async fn end_session(&self, id: TokenHash) -> Result<(), StoreError> {
        self.store.write(move |conn| Box::pin(async move { sessions::delete(conn, &id).await })).await
    }
}

/// What a session that lives has to be, seen from now.
pub(super) const fn alive(now: Timestamp) -> Alive {
    Alive {
        seen_after: now.plus_seconds(-IDLE_SECONDS_MAX),
        signed_in_after: now.plus_seconds(-TOTAL_SECONDS_MAX),
    }
}

impl From<SessionRow> for Session {
    fn from(row: SessionRow) -> Self {
        let SessionRow {
            id,
            user,
            current_tenant,
            awaits_code,
            csrf,
            device,
            signed_in_at,
            confirmed_at,
            seen_at,
        } = row;
        Self { id, user, current_tenant, awaits_code, csrf, device, signed_in_at, confirmed_at, seen_at }
    }
}

impl From<Session> for SessionRow {
    fn from(session: Session) -> Self {
        let Session {
            id,
            user,
            current_tenant,
            awaits_code,
            csrf,
            device,
            signed_in_at,
            confirmed_at,
            seen_at,
        } = session;
        Self { id, user, current_tenant, awaits_code, csrf, device, signed_in_at, confirmed_at, seen_at }
    }
}
