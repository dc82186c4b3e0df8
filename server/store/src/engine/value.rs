//! Values on their way into a statement, in the few types that both engines share.

use uuid::Uuid;

/// One bound value. The optional ones know their type, which PostgreSQL asks for even of a NULL.
#[derive(Debug, Clone)]
pub enum Value {
    /// A whole number.
    Int(Option<i64>),
    /// A text.
    Text(Option<String>),
    /// Bytes.
    Blob(Option<Vec<u8>>),
    /// An id.
    Uuid(Option<Uuid>),
    /// Yes or no.
    Bool(Option<bool>),
    /// A list of ids: an array on PostgreSQL, a JSON array of hex texts on SQLite.
    Uuids(Vec<Uuid>),
    /// A list of texts: an array on PostgreSQL, a JSON array on SQLite.
    Texts(Vec<String>),
}

/// PostgreSQL takes no NUL in a text. Nothing that is stored holds one, so a look-up with one finds
/// nothing, and a note that has one is kept with a mark in its place; on both engines alike.
pub(super) fn storable(text: String) -> String {
    if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text }
}

macro_rules! from {
    ($($from:ty => $variant:ident ($value:ident) $make:expr;)*) => {$(
        impl From<$from> for Value {
            fn from($value: $from) -> Self {
                Self::$variant($make)
            }
        }
    )*};
}

from! {
    i64 => Int(v) Some(v);
    Option<i64> => Int(v) v;
    i32 => Int(v) Some(i64::from(v));
    u32 => Int(v) Some(i64::from(v));
    Option<u32> => Int(v) v.map(i64::from);
    &str => Text(v) Some(storable(v.to_owned()));
    String => Text(v) Some(storable(v));
    Option<String> => Text(v) v.map(storable);
    Option<&str> => Text(v) v.map(|text| storable(text.to_owned()));
    Vec<u8> => Blob(v) Some(v);
    &[u8] => Blob(v) Some(v.to_vec());
    [u8; 32] => Blob(v) Some(v.to_vec());
    Option<Vec<u8>> => Blob(v) v;
    Uuid => Uuid(v) Some(v);
    Option<Uuid> => Uuid(v) v;
    bool => Bool(v) Some(v);
    Option<bool> => Bool(v) v;
    Vec<Uuid> => Uuids(v) v;
    Vec<String> => Texts(v) v.into_iter().map(storable).collect();
    restante_core::time::Timestamp => Int(v) Some(v.micros());
    Option<restante_core::time::Timestamp> => Int(v) v.map(restante_core::time::Timestamp::micros);
}

macro_rules! from_ids {
    ($($id:ident)*) => {$(
        impl From<restante_core::id::$id> for Value {
            fn from(v: restante_core::id::$id) -> Self {
                Self::Uuid(Some(v.0))
            }
        }
        impl From<Option<restante_core::id::$id>> for Value {
            fn from(v: Option<restante_core::id::$id>) -> Self {
                Self::Uuid(v.map(|id| id.0))
            }
        }
    )*};
}

from_ids! { TenantId UserId EndpointId SecretId KeyId ConsumerId ReceiptId PayloadId DeliveryId RefusalId ReplayId SessionId InviteId LinkId GrantId JobRunId ReconciliationRunId }

/// Binds values in the order of their placeholders: `values![tenant, id, name]`.
macro_rules! values {
    ($($value:expr),* $(,)?) => {
        vec![$($crate::engine::Value::from($value)),*]
    };
}
pub(crate) use values;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nul_never_reaches_the_database() {
        for value in [Value::from("a\0b"), Value::from("a\0b".to_owned()), Value::from(Some("a\0b"))] {
            assert!(matches!(value, Value::Text(Some(text)) if text == "a\u{fffd}b"));
        }
    }
}
