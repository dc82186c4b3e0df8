//! The 32 bytes that stand for an event's identity in associated data. They are never stored and
//! never looked up: the readable columns and their unique key decide what is one event.

use sha2::{Digest, Sha256};

use crate::id::TenantId;

/// An event's identity as associated data, so that a sealed field opens only beside the key it was
/// sealed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventBinding([u8; 32]);

impl EventBinding {
    /// What is bound where a row is of no single event.
    pub(super) const NONE: Self = Self([0; 32]);

    /// The 32 bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Binds to an event by the columns of its unique key:
///
/// ```text
/// SHA-256( "inbox-event-key1" (16 bytes) ‖ tenant id (16)
///        ‖ u8 length of provider ‖ provider ‖ u16 BE length of scope ‖ scope
///        ‖ 0x01 ‖ u32 BE length of event_key ‖ event_key )      texts as UTF-8
/// ```
///
/// Every part is as stored, so that opening needs the row and nothing else. A length that its field
/// can't hold is written as the largest; the limits of the columns lie far below.
pub fn event_binding(tenant: TenantId, provider: &str, scope: &str, event_key: &str) -> EventBinding {
    let hash = Sha256::new()
        .chain_update(b"inbox-event-key1")
        .chain_update(tenant.0.as_bytes())
        .chain_update([u8::try_from(provider.len()).unwrap_or(u8::MAX)])
        .chain_update(provider)
        .chain_update(u16::try_from(scope.len()).unwrap_or(u16::MAX).to_be_bytes())
        .chain_update(scope)
        .chain_update([1])
        .chain_update(u32::try_from(event_key.len()).unwrap_or(u32::MAX).to_be_bytes())
        .chain_update(event_key)
        .finalize();
    EventBinding(hash.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn parts_never_run_into_each_other() {
        let tenant = TenantId(Uuid::from_bytes([0x11; 16]));
        let bindings = [
            event_binding(tenant, "a", "b", "c"),
            event_binding(tenant, "ab", "", "c"),
            event_binding(tenant, "a", "bc", ""),
            event_binding(tenant, "a", "", "bc"),
            event_binding(TenantId(Uuid::nil()), "a", "b", "c"),
        ];
        for (place, one) in bindings.iter().enumerate() {
            assert!(bindings[place + 1..].iter().all(|other| other != one));
        }
    }
}
