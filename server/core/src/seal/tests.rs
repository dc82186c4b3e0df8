//! Sealing as a whole: the published vector to the byte, and what must not open.

use proptest::prelude::*;
use uuid::Uuid;

use super::field::{self, Binding, Field};
use super::*;
use crate::id::{PayloadId, ReceiptId, RefusalId, SecretId, TenantId};
use crate::secret::Secret;

const TENANT: TenantId = TenantId(Uuid::from_bytes([0x11; 16]));
const ROW: Uuid = Uuid::from_bytes([0x22; 16]);
const NONCE: [u8; NONCE_BYTES] = *b"ABCDEFGHIJKLMNOPQRSTUVWX";

fn counting(from: u8) -> Secret<[u8; KEY_BYTES]> {
    Secret::new(std::array::from_fn(|place| from + place as u8))
}

fn ring() -> KeyRing {
    KeyRing::new(&[counting(0)]).unwrap()
}

fn new_keys() -> [NewKey; 3] {
    [1, 2, 3].map(|byte| NewKey { key: Secret::new([byte; KEY_BYTES]), nonce: [byte; NONCE_BYTES] })
}

fn keyset() -> TenantKeyset {
    TenantKeyset::create(&ring(), TENANT, &new_keys()).0
}

fn body() -> Place {
    Place::payload_body(PayloadId(ROW))
}

/// The vector of the design, which an independent program agrees with. It seals under table 1,
/// column 1 together with an event, which no real column does, so the binding is made by hand.
#[test]
fn the_vector_of_the_design_passes_to_the_byte() {
    let ring = ring();
    assert_eq!(ring.active_id().to_string(), "e85a02a3e12707cb");
    let wrapped = ring.wrap(TENANT, KeyClass::Payload, 7, &counting(0x20), NONCE);
    assert_eq!(
        hex::encode(wrapped.as_bytes()),
        "57010101e85a02a3e12707cb4142434445464748494a4b4c4d4e4f505152535455565758a9068efe2eeb1bcae30dfa4f96c8\
         d98894f081fda5b65e92ed1bc30e9fcee012b954ecc5021f9b36ee63e3a8d65c7f5f"
    );
    let key = ring.unwrap(TENANT, 7, &wrapped).unwrap();
    let event = event_binding(TENANT, "stripe", "acct_1", "evt_1");
    assert_eq!(
        hex::encode(event.as_bytes()),
        "aac784e548aa0f25ef13514513fd0601ba66e04e3d41de8f5873cbdff445f3d0"
    );
    let plain = br#"{"id":"evt_1"}"#;
    assert_eq!(
        hex::encode(key.body_mac(plain).mac),
        "59fc879229bf408c7665db5518387e20ac1032b2d8524338b36ccc942c4fe7e4"
    );
    let binding = Binding { tenant: TENANT, column: (1, 1), row: ROW, event: &event };
    let mut sealed = Vec::new();
    field::seal_into(key.cipher(), 7, &binding, plain, &NONCE, &mut sealed);
    assert_eq!(
        hex::encode(&sealed),
        "45010100000000074142434445464748494a4b4c4d4e4f5051525354555657589885834a167bb063ed21d8b5a52c6e77d4cd\
         34294f059e685583674457ba"
    );
    let opened = Field::parse(&sealed).unwrap().open(key.cipher(), &binding).unwrap();
    assert_eq!(opened, plain);
}

#[test]
fn the_derived_keys_are_those_of_the_design() {
    let derive = tenant_key::derive;
    let expand = |derived: &tenant_key::Derived, purpose: &[u8]| hex::encode(derived.expand::<32>(purpose));
    let master = derive(b"inbox-kek-v1", counting(0).expose());
    assert_eq!(expand(&master, b"wrap"), "6e3f2d2fd3799d4485f42cb0b38860b8b9ae509c3d54f068a50d6ee0217e74de");
    let tenant = derive(TENANT.0.as_bytes(), counting(0x20).expose());
    assert_eq!(expand(&tenant, b"enc"), "642db23ecb6be1c5c34f046cc2d3189c7379aeddad460d0ffe96a69dc7856ef0");
    assert_eq!(expand(&tenant, b"dig"), "d4d2cbc00c9e7789d8f9f17a5aeaf9ee0561a95564293f2f567a41779f50abde");
}

#[test]
fn a_sealed_field_opens_in_its_place_only() {
    let keys = keyset();
    let here = Place::receipt_sha256(ReceiptId(ROW), event_binding(TENANT, "stripe", "", "evt_1"));
    let sealed = keys.seal(&here, b"digest", NONCE);
    assert_eq!(sealed.len(), 6 + FIELD_OVERHEAD_BYTES);
    assert_eq!(keys.open(&here, &sealed).unwrap(), b"digest");
    let elsewhere = [
        Place::receipt_sha256(ReceiptId(Uuid::nil()), event_binding(TENANT, "stripe", "", "evt_1")),
        Place::receipt_sha256(ReceiptId(ROW), event_binding(TENANT, "stripe", "", "evt_2")),
        Place::receipt_sha256(ReceiptId(ROW), EventBinding::NONE),
        Place::payload_body(PayloadId(ROW)),
        Place::refusal_request(RefusalId(ROW)),
    ];
    for place in elsewhere {
        assert_eq!(keys.open(&place, &sealed), Err(SealError::NotAuthentic), "{place:?}");
    }
}

/// Two tenants with the same key bytes (which never happens) still can't read each other.
#[test]
fn another_tenant_never_opens_it() {
    let other = TenantKeyset::create(&ring(), TenantId(Uuid::nil()), &new_keys()).0;
    let sealed = keyset().seal(&body(), b"body", NONCE);
    assert_eq!(other.open(&body(), &sealed), Err(SealError::NotAuthentic));
    assert!(!other.body_mac(b"body").equals(&keyset().body_mac(b"body")));
}

#[test]
fn any_changed_or_missing_byte_is_refused() {
    let keys = keyset();
    let sealed = keys.seal(&body(), b"body", NONCE);
    for place in 0..sealed.len() {
        let mut wrong = sealed.clone();
        wrong[place] ^= 1;
        let expected = match place {
            0..4 => SealError::Corrupt,
            4..8 => SealError::UnknownVersion {
                class: KeyClass::Payload,
                version: u32::from_be_bytes(wrong[4..8].try_into().unwrap()),
            },
            _ => SealError::NotAuthentic,
        };
        assert_eq!(keys.open(&body(), &wrong), Err(expected), "byte {place}");
        let cut = keys.open(&body(), &sealed[..place]).unwrap_err();
        let short = place < FIELD_OVERHEAD_BYTES;
        assert_eq!(cut, if short { SealError::Corrupt } else { SealError::NotAuthentic }, "cut at {place}");
    }
}

#[test]
fn sealing_appends_and_the_empty_field_is_sealed_too() {
    let keys = keyset();
    let mut out = b"before".to_vec();
    keys.seal_into(&body(), b"", NONCE, &mut out);
    assert_eq!(out.len(), 6 + FIELD_OVERHEAD_BYTES);
    assert_eq!(keys.open(&body(), &out[6..]).unwrap(), b"");
    assert_eq!(out[..6], *b"before");
}

#[test]
fn the_class_of_the_column_picks_the_key() {
    let keys = keyset();
    let place = Place::endpoint_secret(SecretId(ROW));
    let sealed = keys.seal(&place, b"whsec_1", NONCE);
    assert_eq!(keys.active(KeyClass::Secrets).open(&place, &sealed).unwrap(), b"whsec_1");
    assert_eq!(keys.open_secret(&place, &sealed).unwrap().expose(), b"whsec_1");
    assert_eq!(keys.active(KeyClass::Payload).open(&place, &sealed), Err(SealError::NotAuthentic));
}

/// The rows of a tenant after its payload key was replaced once.
fn rotated(old: KeyState) -> [TenantKeyRow; 4] {
    let (_, [payload, digest, secrets]) = TenantKeyset::create(&ring(), TENANT, &new_keys());
    let new = NewKey { key: counting(0x40), nonce: NONCE };
    let next = TenantKeyset::new_row(&ring(), TENANT, KeyClass::Payload, 2, &new);
    let wrapped = if old == KeyState::Destroyed { Vec::new() } else { payload.wrapped };
    [TenantKeyRow { state: old, wrapped, ..payload }, digest, secrets, TenantKeyRow { settled: true, ..next }]
}

#[test]
fn a_new_key_opens_before_it_seals_so_that_every_node_has_it_by_then() {
    let mut rows = rotated(KeyState::DecryptOnly);
    rows[3].settled = false;
    let young = TenantKeyset::unwrap(&ring(), TENANT, &rows).unwrap();
    let sealed = young.seal(&body(), b"before", NONCE);
    assert_eq!(sealed_version(&sealed), Ok(1));
    rows[3].settled = true;
    let settled = TenantKeyset::unwrap(&ring(), TENANT, &rows).unwrap();
    let new = settled.seal(&body(), b"new", NONCE);
    assert_eq!(sealed_version(&new), Ok(2));
    assert_eq!(young.open(&body(), &new).unwrap(), b"new", "one that does not seal with it yet has it");
    // A destroyed one never seals, however old the next one is.
    let mut rows = rotated(KeyState::Destroyed);
    rows[3].settled = false;
    let only = TenantKeyset::unwrap(&ring(), TENANT, &rows).unwrap();
    assert_eq!(sealed_version(&only.seal(&body(), b"new", NONCE)), Ok(2));
}

#[test]
fn an_older_version_opens_and_the_active_one_seals() {
    let keys = TenantKeyset::unwrap(&ring(), TENANT, &rotated(KeyState::DecryptOnly)).unwrap();
    let old = keyset().seal(&body(), b"old", NONCE);
    assert_eq!(keys.open(&body(), &old).unwrap(), b"old");
    let new = keys.seal(&body(), b"new", NONCE);
    assert_eq!((sealed_version(&old), sealed_version(&new)), (Ok(1), Ok(2)));
    assert_eq!(keys.open(&body(), &new).unwrap(), b"new");
}

#[test]
fn what_a_destroyed_key_sealed_is_erased_and_not_damaged() {
    let keys = TenantKeyset::unwrap(&ring(), TENANT, &rotated(KeyState::Destroyed)).unwrap();
    let erased = keys.open(&body(), &keyset().seal(&body(), b"old", NONCE));
    assert_eq!(erased, Err(SealError::KeyDestroyed { class: KeyClass::Payload, version: 1 }));
}

#[test]
fn a_class_has_exactly_one_active_key() {
    let two_active = rotated(KeyState::Active);
    let error = |rows: &[TenantKeyRow]| TenantKeyset::unwrap(&ring(), TENANT, rows).err();
    assert_eq!(error(&two_active), Some(SealError::KeysInconsistent { class: KeyClass::Payload }));
    assert_eq!(error(&two_active[..2]), Some(SealError::KeysInconsistent { class: KeyClass::Secrets }));
    assert_eq!(error(&[]), Some(SealError::KeysInconsistent { class: KeyClass::Payload }));
}

#[test]
fn a_wrapped_key_is_of_one_tenant_class_and_version() {
    let (_, rows) = TenantKeyset::create(&ring(), TENANT, &new_keys());
    let wrapped = WrappedKey::parse(&rows[0].wrapped).unwrap();
    assert!(ring().unwrap(TENANT, 1, &wrapped).is_ok());
    assert_eq!(ring().unwrap(TENANT, 2, &wrapped).err(), Some(SealError::NotAuthentic));
    assert_eq!(ring().unwrap(TenantId(Uuid::nil()), 1, &wrapped).err(), Some(SealError::NotAuthentic));
    // A payload key that someone moved to the class of secrets.
    let [payload, digest, _] = rows.clone();
    let moved = TenantKeyRow { class: KeyClass::Secrets, ..payload.clone() };
    let error = TenantKeyset::unwrap(&ring(), TENANT, &[payload, digest, moved]).err();
    assert_eq!(error, Some(SealError::NotAuthentic));
    for place in 0..WRAPPED_BYTES {
        let mut wrong = rows[0].wrapped.clone();
        wrong[place] ^= 1;
        let opened = WrappedKey::parse(&wrong).and_then(|wrong| ring().unwrap(TENANT, 1, &wrong));
        assert!(opened.is_err(), "byte {place}");
    }
}

#[test]
fn a_master_key_is_replaced_without_a_pause() {
    let (_, rows) = TenantKeyset::create(&ring(), TENANT, &new_keys());
    let old = WrappedKey::parse(&rows[0].wrapped).unwrap();
    let both = KeyRing::new(&[counting(0x60), counting(0)]).unwrap();
    let new = both.rewrap(TENANT, 1, &old, NONCE).unwrap();
    assert_eq!(new.kek_id(), both.active_id());
    let only_new = KeyRing::new(&[counting(0x60)]).unwrap();
    let sealed = keyset().seal(&body(), b"kept", NONCE);
    assert_eq!(only_new.unwrap(TENANT, 1, &new).unwrap().open(&body(), &sealed).unwrap(), b"kept");
    let missing = only_new.unwrap(TENANT, 1, &old).err();
    assert_eq!(missing, Some(SealError::UnknownMasterKey(ring().active_id())));
}

#[test]
fn a_ring_needs_a_key_and_none_twice() {
    assert_eq!(KeyRing::new(&[]).err(), Some(RingError::Empty));
    let twice = KeyRing::new(&[counting(0), counting(1), counting(0)]).err();
    assert_eq!(twice, Some(RingError::Twice(ring().active_id())));
}

#[test]
fn a_body_is_compared_under_the_version_that_digested_it() {
    let keys = keyset();
    let stored = keys.body_mac(b"one");
    assert_eq!(keys.is_same_body(&stored, b"one"), Ok(true));
    assert_eq!(keys.is_same_body(&stored, b"two"), Ok(false));
    let unknown = BodyMac { key_version: 9, ..stored };
    assert_eq!(
        keys.is_same_body(&unknown, b"one"),
        Err(SealError::UnknownVersion { class: KeyClass::Digest, version: 9 })
    );
}

#[test]
fn a_stored_digest_reads_back_and_another_length_is_damaged() {
    let made = keyset().body_mac(b"one");
    let stored = made.to_bytes();
    assert_eq!(stored[..4], [0, 0, 0, 1]);
    assert!(BodyMac::from_bytes(&stored).unwrap().equals(&made));
    for length in (0..36).chain([37]) {
        assert_eq!(BodyMac::from_bytes(&vec![0; length]).err(), Some(SealError::Corrupt));
    }
}

/// The crates wipe what they hold only with their feature `zeroize`; this doesn't compile without.
/// HMAC has no mark of its own: it consists of hashes, which have.
#[test]
fn key_schedules_are_wiped_when_dropped() {
    const fn wiped<T: zeroize::ZeroizeOnDrop>() {}
    wiped::<aes::Aes256>();
    wiped::<aes_gcm::Aes256Gcm>();
    wiped::<sha2::Sha256>();
}

#[test]
fn stored_numbers_read_back() {
    assert_eq!(KeyClass::ALL.map(KeyClass::code), [1, 2, 3]);
    assert_eq!(KeyState::ALL.map(KeyState::code), [1, 2, 3]);
    assert_eq!((KeyClass::from_code(3), KeyClass::from_code(4)), (Some(KeyClass::Secrets), None));
    assert_eq!((KeyState::from_code(2), KeyState::from_code(0)), (Some(KeyState::DecryptOnly), None));
}

proptest! {
    #[test]
    fn any_bytes_are_refused_and_nothing_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let keys = keyset();
        prop_assert!(keys.open(&body(), &bytes).is_err());
        prop_assert!(WrappedKey::parse(&bytes).and_then(|wrapped| ring().unwrap(TENANT, 1, &wrapped)).is_err());
        let mut framed = b"E\x01\x01\0\0\0\0\x01".to_vec();
        framed.extend(&bytes);
        prop_assert!(keys.open(&body(), &framed).is_err());
    }

    #[test]
    fn any_plain_text_comes_back(plain in proptest::collection::vec(any::<u8>(), 0..300), nonce: [u8; 24]) {
        let keys = keyset();
        prop_assert_eq!(keys.open(&body(), &keys.seal(&body(), &plain, nonce)), Ok(plain));
    }
}
