//! What handlers take their arguments with. Each refuses in a problem that names the field at
//! fault, where axum's own would answer plain text.

mod caller;
mod creating;
mod explain;
mod idempotency;
mod json;
mod objects;
mod path;
mod query;

pub use caller::Caller;
pub(crate) use caller::token;
pub use creating::{Creating, CreatingOrEmpty};
pub use idempotency::IdempotencyKey;
pub use json::{Json, JsonOrEmpty};
pub use path::{Path, PathPart};
pub use query::Query;
