//! Our sessions as tower-sessions asks for them. It brings the cookie and the ids; what a session holds,
//! how long it lives and that saving never makes one is ours. The id itself is hashed before anything
//! else sees it.

use async_trait::async_trait;
use restante_app::App;
use restante_app::people::{Session, TOTAL_SECONDS_MAX};
use restante_core::token::TokenHash;
use restante_store::StoreError;
use time::{Duration, OffsetDateTime};
use tower_sessions::session::{Id, Record};
use tower_sessions::session_store::{self, Error, SessionStore};

/// The one entry of a record.
pub(super) const ENTRY: &str = "session";
/// Ids that are drawn before it is given up; two alike would be a fault of the generator.
const DRAWS_MAX: u32 = 3;

/// The store behind the layer.
#[derive(Clone)]
pub(crate) struct Sessions(pub(crate) App);

impl std::fmt::Debug for Sessions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sessions")
    }
}

/// What the database knows an id by.
pub(super) fn hash(id: &Id) -> TokenHash {
    TokenHash::of(&id.0.to_le_bytes())
}

fn kept(record: &Record) -> Result<Session, Error> {
    let entry = record.data.get(ENTRY).ok_or_else(|| Error::Encode("an empty session".to_owned()))?;
    serde_json::from_value(entry.clone()).map_err(|error| Error::Encode(error.to_string()))
}

fn failed(error: StoreError) -> Error {
    Error::Backend(error.to_string())
}

#[async_trait]
impl SessionStore for Sessions {
    async fn create(&self, record: &mut Record) -> session_store::Result<()> {
        let session = kept(record)?;
        for _ in 0..DRAWS_MAX {
            match self.0.insert_session(hash(&record.id), session.clone()).await {
                Err(StoreError::Taken { .. }) => record.id = Id::default(),
                other => return other.map_err(failed),
            }
        }
        Err(Error::Backend("every id that was drawn is taken".to_owned()))
    }

    async fn save(&self, record: &Record) -> session_store::Result<()> {
        // One that has ended meanwhile stays so, and that is no failure of this request.
        self.0.save_session(hash(&record.id), &kept(record)?).await.map(|_| ()).map_err(failed)
    }

    async fn load(&self, id: &Id) -> session_store::Result<Option<Record>> {
        let Some(session) = self.0.load_session(hash(id)).await.map_err(failed)? else { return Ok(None) };
        let entry = serde_json::to_value(&session).map_err(|error| Error::Decode(error.to_string()))?;
        Ok(Some(Record {
            id: *id,
            data: [(ENTRY.to_owned(), entry)].into(),
            // Nobody reads it: the look-up above has decided by the clock of the app.
            expiry_date: OffsetDateTime::now_utc() + Duration::seconds(TOTAL_SECONDS_MAX),
        }))
    }

    async fn delete(&self, id: &Id) -> session_store::Result<()> {
        self.0.end_session(hash(id)).await.map_err(failed)
    }
}
