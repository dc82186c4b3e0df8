//! Identifiers as people and programs see them: a prefix that names the kind, then 26 characters.
//!
//! Inside, each is a UUID. Those that are made in order (receipts, payloads) are UUIDv7, so that
//! sorting by id is sorting by time of receipt. The kind is part of the type, so that an endpoint
//! can't be passed where a receipt is meant.

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

use crate::time::Timestamp;

/// Crockford's base 32 in lower case: no `i`, `l`, `o`, `u`.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// Characters that 128 bits take at five bits a character.
const TEXT_LENGTH: usize = 26;

/// The text was not an identifier of the wanted kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an id that starts with \"{prefix}\"")]
pub struct NotAnId {
    /// What an id of this kind starts with.
    pub prefix: &'static str,
}

fn encode(uuid: Uuid) -> String {
    let mut bits = uuid.as_u128();
    let mut text = [b'0'; TEXT_LENGTH];
    for place in text.iter_mut().rev() {
        *place = ALPHABET[(bits & 31) as usize];
        bits >>= 5;
    }
    text.iter().map(|&byte| char::from(byte)).collect()
}

fn decode(text: &str) -> Option<Uuid> {
    if text.len() != TEXT_LENGTH {
        return None;
    }
    let mut bits: u128 = 0;
    for byte in text.bytes() {
        let digit = ALPHABET.iter().position(|&known| known == byte)? as u128;
        if bits >> 123 != 0 {
            return None;
        }
        bits = bits << 5 | digit;
    }
    Some(Uuid::from_u128(bits))
}

/// Makes a UUIDv7 (RFC 9562) from a time and ten random bytes.
///
/// Two ids of one millisecond sort by their random part, which says nothing about their order.
pub fn uuid_v7(at: Timestamp, random: [u8; 10]) -> Uuid {
    uuid::Builder::from_unix_timestamp_millis(at.millis().max(0) as u64, &random).into_uuid()
}

/// The smallest UUIDv7 of a moment: a bound for "received after".
pub fn uuid_v7_floor(at: Timestamp) -> Uuid {
    uuid_v7(at, [0; 10])
}

/// The time that a UUIDv7 carries, in whole milliseconds.
pub fn uuid_v7_time(id: Uuid) -> Timestamp {
    Timestamp::from_millis((id.as_u128() >> 80) as i64)
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub Uuid);

        impl $name {
            /// What the text form starts with.
            pub const PREFIX: &'static str = $prefix;

            /// Makes a new id that sorts by time.
            pub fn new(at: Timestamp, random: [u8; 10]) -> Self {
                Self(uuid_v7(at, random))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}{}", $prefix, encode(self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = NotAnId;

            fn from_str(text: &str) -> Result<Self, NotAnId> {
                text.strip_prefix($prefix)
                    .and_then(decode)
                    .map(Self)
                    .ok_or(NotAnId { prefix: $prefix })
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
}

ids! {
    /// The unit of isolation.
    TenantId = "ten_";
    /// A person.
    UserId = "usr_";
    /// A tenant's receiving URL for one provider.
    EndpointId = "ep_";
    /// One of an endpoint's secrets.
    SecretId = "sec_";
    /// An API key.
    KeyId = "key_";
    /// One downstream application of a tenant. People name consumers; this id never leaves the program.
    ConsumerId = "con_";
    /// The durable record that Restante holds an event.
    ReceiptId = "rcp_";
    /// One request as it was received, with its sealed bytes.
    PayloadId = "pay_";
    /// One attempt of a sender, as logged on the receipt it belongs to.
    DeliveryId = "dlv_";
    /// A refused request that is kept for the person who asks why.
    RefusalId = "rfs_";
    /// An invitation into a tenant. It opens nothing.
    InviteId = "inv_";
    /// A one-time link, as logs name it. It opens nothing.
    LinkId = "lnk_";
    /// What a tenant lets administrators of the instance see.
    GrantId = "grt_";
    /// A person's session, as lists show it. It opens nothing.
    SessionId = "ses_";
    /// One replay: who made a handoff pending again, when and why.
    ReplayId = "rpl_";
    /// A replay of all that a filter matches, which is worked off in steps.
    ReplayJobId = "rpj_";
    /// A hold: what retention leaves alone.
    HoldId = "hld_";
    /// A run of a scheduled job.
    RunId = "run_";
    /// One run of a job of the schedule.
    JobRunId = "jrn_";
    /// One run of an endpoint's reconciliation.
    ReconciliationRunId = "rcr_";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_back_and_sorts_by_time() {
        let early = ReceiptId::new(Timestamp::from_millis(1_000), [255; 10]);
        let late = ReceiptId::new(Timestamp::from_millis(1_001), [0; 10]);
        assert_eq!(early.to_string().parse(), Ok(early));
        assert!(early < late && early.to_string() < late.to_string());
        assert_eq!(uuid_v7_time(late.0), Timestamp::from_millis(1_001));
    }

    #[test]
    fn another_kind_or_rubbish_is_no_id() {
        let id = EndpointId::new(Timestamp::from_millis(5), [7; 10]).to_string();
        assert!(id.parse::<ReceiptId>().is_err());
        for rubbish in
            ["", "rcp_", "rcp_zz", "rcp_zzzzzzzzzzzzzzzzzzzzzzzzzz", "rcp_0000000000000000000000000é"]
        {
            assert!(rubbish.parse::<ReceiptId>().is_err(), "{rubbish}");
        }
    }
}
