//! From a verdict to the record that is committed: ids, keys, sealed bytes, digests.

use restante_core::id::{PayloadId, ReceiptId};
use restante_core::limits;
use restante_core::request::{HeaderList, Request};
use restante_core::seal::{BodyMac, Place, event_binding};
use restante_core::verify::{Accepted, EventKey, Item, Slice, Weak};
use restante_store::{Delivery, NewReceipt, SealedPayload};
use sha2::{Digest as _, Sha256};

use super::{Incoming, Road, Target};
use crate::random::Random;
use crate::request_mark::marked;

/// What stands in place of a header that is itself the credential.
pub(super) const REMOVED: &[u8] = b"[removed]";

/// Everything that will be stored of an authentic request.
pub(super) fn delivery(
    random: &dyn Random,
    road: Road,
    target: &Target,
    incoming: &Incoming,
    accepted: &Accepted,
) -> Delivery {
    let request = &incoming.request;
    let content_type = request
        .headers
        .first("content-type")
        .map(|value| clean(&String::from_utf8_lossy(value), limits::EVENT_TEXT_BYTES_MAX));
    let weak: Vec<&str> = accepted.weak.iter().map(|word| word.as_str()).collect();
    let weak = weak.join(" ");
    let request_of = RequestOf { random, road, target, incoming, accepted, content_type, weak };
    let receipts: Vec<NewReceipt> =
        accepted.items.iter().enumerate().map(|(place, item)| request_of.receipt(place, item)).collect();
    // The payload of a single event has the receipt's own id; a batch has one of its own.
    let payload_id = match receipts.as_slice() {
        [only] => PayloadId(only.id.0),
        _ => PayloadId::new(incoming.received_at, random.bytes()),
    };
    Delivery {
        tenant: target.tenant,
        endpoint: target.endpoint,
        seen: Some(target.seen),
        provider: target.provider.to_owned(),
        received_at: incoming.received_at,
        origin: road.origin(),
        compares_bodies: road.compares_bodies(),
        request_id: Some(incoming.request_id.clone()),
        secret: accepted.key_index.and_then(|index| target.secrets.get(index).copied()),
        payload: payload(random, target, request, accepted, payload_id),
        receipts,
    }
}

fn payload(
    random: &dyn Random,
    target: &Target,
    request: &Request,
    accepted: &Accepted,
    id: PayloadId,
) -> SealedPayload {
    let keys = &target.sealing;
    let headers = without_credentials(&request.headers, target.scheme.credential_headers());
    SealedPayload {
        id,
        headers_sealed: keys.seal(&Place::payload_headers(id), &headers.encode(), random.bytes()),
        body_sealed: keys.seal(&Place::payload_body(id), &request.body, random.bytes()),
        decoded_sealed: accepted
            .decoded
            .as_ref()
            .map(|decoded| keys.seal(&Place::payload_decoded(id), decoded, random.bytes())),
    }
}

/// The headers as they are kept: in order, but without the values that are credentials themselves.
pub(super) fn without_credentials(headers: &HeaderList, credentials: &[String]) -> HeaderList {
    let mut kept = headers.clone();
    for (name, value) in &mut kept.0 {
        if credentials.iter().any(|credential| credential.eq_ignore_ascii_case(name)) {
            *value = bytes::Bytes::from_static(REMOVED);
        }
    }
    kept
}

/// What the receipts of one request have in common.
struct RequestOf<'a> {
    random: &'a dyn Random,
    road: Road,
    target: &'a Target,
    incoming: &'a Incoming,
    accepted: &'a Accepted,
    content_type: Option<String>,
    weak: String,
}

impl RequestOf<'_> {
    fn receipt(&self, place: usize, item: &Item) -> NewReceipt {
        let Self { random, target, incoming, accepted, .. } = *self;
        let id = ReceiptId::new(incoming.received_at, marked(random, &incoming.request_id));
        let (decoded, range, source) = match &item.slice {
            Slice::Body(range) => (false, range, Some(&incoming.request.body[..])),
            Slice::Decoded(range) => (true, range, accepted.decoded.as_deref()),
        };
        let event = source.and_then(|bytes| bytes.get(range.clone())).unwrap_or_default();
        let digest = Sha256::digest(event);
        let event_key = match &item.event_key {
            EventKey::Known(key) => key.clone(),
            EventKey::Fresh => self.road.fresh_key(id, place),
            EventKey::Envelope => format!("envelope-sha256-{}", hex::encode(digest)),
        };
        let scope = scope(&item.scope);
        let binding = event_binding(target.tenant, target.provider, &scope, &event_key);
        let sha256_sealed = target.sealing.seal(&Place::receipt_sha256(id, binding), &digest, random.bytes());
        let text =
            |text: &Option<String>| text.as_deref().map(|text| clean(text, limits::EVENT_TEXT_BYTES_MAX));
        NewReceipt {
            id,
            scope,
            event_key,
            event_id: item.event_id.as_deref().map(|text| clean(text, limits::EVENT_ID_BYTES_MAX)),
            event_type: text(&item.event_type),
            account: text(&item.account),
            api_version: text(&item.api_version),
            livemode: item.livemode,
            occurred_at: item.occurred_at,
            decoder: target.decoder.clone(),
            slice_decoded: decoded,
            slice_offset: u32::try_from(range.start).unwrap_or(u32::MAX),
            slice_length: u32::try_from(event.len()).unwrap_or(u32::MAX),
            content_type: self.content_type.clone(),
            body_mac: mac_bytes(&target.sealing.body_mac(event)),
            sha256_sealed,
            ambiguous: item.ambiguous,
            // Where the sender has no ids, equal bytes are honest; there is no id that could be swapped.
            id_unsigned: accepted.weak.contains(&Weak::Id) && matches!(item.event_key, EventKey::Known(_)),
            weak: self.weak.clone(),
            reason: matches!(item.event_key, EventKey::Envelope).then_some("envelope"),
        }
    }
}

/// A keyed digest as it is stored: the version of its key, then the digest.
pub(super) fn mac_bytes(mac: &BodyMac) -> Vec<u8> {
    let mut bytes = mac.key_version.to_be_bytes().to_vec();
    bytes.extend_from_slice(&mac.mac);
    bytes
}

/// A scope fits an index: what is longer, or holds a NUL, is replaced by its digest.
pub(crate) fn scope(text: &str) -> String {
    if text.len() <= limits::EVENT_KEY_BYTES_MAX && !text.contains('\0') {
        return text.to_owned();
    }
    format!("sha256-{}", hex::encode(Sha256::digest(text)))
}

/// A text of the sender as it can be stored and shown: bounded, without the NUL that PostgreSQL refuses.
fn clean(text: &str, bytes_max: usize) -> String {
    let mut end = text.len().min(bytes_max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].replace('\0', "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_characters_and_loses_its_nul() {
        assert_eq!(clean("a\0b", 10), "a\u{fffd}b");
        assert_eq!(clean("aé", 2), "a");
        assert_eq!(clean("", 0), "");
    }

    #[test]
    fn a_long_scope_becomes_its_digest_and_two_never_read_alike() {
        let long = "x".repeat(limits::EVENT_KEY_BYTES_MAX + 1);
        assert!(scope(&long).starts_with("sha256-"));
        assert_ne!(scope(&long), scope(&format!("{long}x")));
        assert_ne!(scope("a\0"), scope("a"));
        assert_eq!(scope("shop:topic"), "shop:topic");
    }

    #[test]
    fn a_credential_is_not_kept_and_everything_else_stays_in_order() {
        let header =
            |name: &str, value: &'static str| (name.to_owned(), bytes::Bytes::from_static(value.as_bytes()));
        let list =
            HeaderList(vec![header("b", "1"), header("authorization", "Basic c2VjcmV0"), header("a", "2")]);
        let kept = without_credentials(&list, &["Authorization".to_owned()]);
        let expected =
            HeaderList(vec![header("b", "1"), header("authorization", "[removed]"), header("a", "2")]);
        assert_eq!(kept, expected);
    }
}
