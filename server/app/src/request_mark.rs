//! How the id of a request leads to what it brought, without a row or an index for it. Forty bits of the
//! digest of the request's id stand at the end of each receipt's id; the id of a request that we made
//! ourselves also tells when it came. So a search looks at the receipts of that moment alone.
//!
//! A sender may choose the id of its request (`X-Request-Id`). It decides nothing: the rest of a
//! receipt's id is time and chance.

use restante_core::id::{ReceiptId, uuid_v7_time};
use restante_core::time::Timestamp;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::random::Random;

/// Bytes of the mark.
const BYTES: usize = 5;
/// What our own ids of requests begin with.
const OWN: &str = "req_";

/// The mark of a request.
fn mark(request_id: &str) -> [u8; BYTES] {
    let digest = Sha256::digest(request_id);
    let mut mark = [0; BYTES];
    mark.copy_from_slice(&digest[..BYTES]);
    mark
}

/// The part of a receipt's id that is not its time: chance, and at its end the mark of its request.
pub(crate) fn marked(random: &dyn Random, request_id: &str) -> [u8; 10] {
    let mut bytes: [u8; 10] = random.bytes();
    bytes[10 - BYTES..].copy_from_slice(&mark(request_id));
    bytes
}

/// Whether a receipt came by a request.
pub(crate) fn came_by(receipt: ReceiptId, request_id: &str) -> bool {
    receipt.0.as_bytes()[16 - BYTES..] == mark(request_id)
}

/// When a request came, if its id is one of ours.
pub(crate) fn moment(request_id: &str) -> Option<Timestamp> {
    let hex = request_id.strip_prefix(OWN).filter(|hex| hex.len() == 32)?;
    let id = Uuid::from_u128(u128::from_str_radix(hex, 16).ok()?);
    (id.get_version_num() == 7).then(|| uuid_v7_time(id))
}

#[cfg(test)]
mod tests {
    use restante_core::id::uuid_v7;

    use super::*;
    use crate::random::SystemRandom;

    #[test]
    fn a_receipt_knows_its_request_and_no_other() {
        let at = Timestamp::from_millis(1_796_040_000_123);
        let receipt = ReceiptId::new(at, marked(&SystemRandom, "req_1"));
        assert!(came_by(receipt, "req_1") && !came_by(receipt, "req_2"));
        assert_eq!(uuid_v7_time(receipt.0), at);
        assert_ne!(receipt, ReceiptId::new(at, marked(&SystemRandom, "req_1")));
    }

    #[test]
    fn our_own_ids_tell_their_moment_and_others_do_not() {
        let at = Timestamp::from_millis(1_796_040_000_123);
        let own = format!("req_{:032x}", uuid_v7(at, [7; 10]).as_u128());
        assert_eq!(moment(&own), Some(at));
        for other in ["", "req_", "req_1", "abc", &"0".repeat(36), &format!("req_{}", "0".repeat(32))] {
            assert_eq!(moment(other), None, "{other}");
        }
    }
}
