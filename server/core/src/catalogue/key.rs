//! Keys: what a secret becomes, prepared once so that a request costs no more than its signature.

use std::fmt;

use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1, ED25519, ParsedPublicKey, VerificationAlgorithm};
use hmac::{Hmac, KeyInit, Mac as _};
use sha1::Sha1;
use sha2::{Sha256, Sha512};

use super::secret_rule::KeyKind;
use super::verify_rule::Algorithm;
use crate::secret::Secret;

/// A key made from a secret: prepared once, cached by the caller, wiped when dropped.
pub struct Key {
    pub(crate) kind: KeyKind,
    pub(crate) material: Material,
    /// The secret as it was kept, for finding out why a signature is wrong.
    pub(crate) text: Secret<String>,
}

pub(crate) enum Material {
    /// Bytes that both ends know, and the HMAC states begun with them.
    Shared { bytes: Secret<Vec<u8>>, macs: Vec<(Algorithm, Hmacs)> },
    /// A public key.
    Public(Box<ParsedPublicKey>),
}

impl Key {
    pub(crate) fn shared(kind: KeyKind, text: &str, bytes: Vec<u8>, algorithms: &[Algorithm]) -> Self {
        let macs = algorithms.iter().filter_map(|&one| Some((one, Hmacs::begin(one, &bytes)?))).collect();
        Self {
            kind,
            material: Material::Shared { bytes: Secret::new(bytes), macs },
            text: Secret::new(text.into()),
        }
    }

    /// `None` when the bytes are no such key.
    pub(crate) fn public(kind: KeyKind, text: &str, bytes: &[u8]) -> Option<Self> {
        let algorithm: &'static dyn VerificationAlgorithm = match kind {
            KeyKind::Ed25519 => &ED25519,
            KeyKind::EcdsaP256 => &ECDSA_P256_SHA256_ASN1,
            KeyKind::Shared | KeyKind::Basic => return None,
        };
        let parsed = ParsedPublicKey::new(algorithm, bytes).ok()?;
        Some(Self { kind, material: Material::Public(Box::new(parsed)), text: Secret::new(text.into()) })
    }

    /// The bytes of a shared key.
    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        match &self.material {
            Material::Shared { bytes, .. } => Some(bytes.expose()),
            Material::Public(_) => None,
        }
    }

    /// An HMAC that has taken in the key and nothing else.
    pub(crate) fn mac(&self, algorithm: Algorithm) -> Option<Hmacs> {
        match &self.material {
            Material::Shared { macs, .. } => {
                macs.iter().find(|(known, _)| *known == algorithm).map(|(_, mac)| mac.clone())
            }
            Material::Public(_) => None,
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[key]")
    }
}

/// A running HMAC of one of the algorithms.
#[derive(Clone)]
pub(crate) enum Hmacs {
    Sha1(Hmac<Sha1>),
    Sha256(Hmac<Sha256>),
    Sha512(Hmac<Sha512>),
}

impl Hmacs {
    /// `None` for what is no HMAC, and for an empty key, with which anyone could sign.
    pub(crate) fn begin(algorithm: Algorithm, key: &[u8]) -> Option<Self> {
        if key.is_empty() {
            return None;
        }
        match algorithm {
            Algorithm::HmacSha1 => Hmac::new_from_slice(key).ok().map(Self::Sha1),
            Algorithm::HmacSha256 => Hmac::new_from_slice(key).ok().map(Self::Sha256),
            Algorithm::HmacSha512 => Hmac::new_from_slice(key).ok().map(Self::Sha512),
            Algorithm::Ed25519 | Algorithm::EcdsaP256 | Algorithm::Token | Algorithm::Basic => None,
        }
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Sha1(mac) => mac.update(bytes),
            Self::Sha256(mac) => mac.update(bytes),
            Self::Sha512(mac) => mac.update(bytes),
        }
    }

    pub(crate) fn finish(self) -> Signature {
        match self {
            Self::Sha1(mac) => Signature::new(&mac.finalize().into_bytes()),
            Self::Sha256(mac) => Signature::new(&mac.finalize().into_bytes()),
            Self::Sha512(mac) => Signature::new(&mac.finalize().into_bytes()),
        }
    }
}

/// The bytes of a signature, without an allocation.
#[derive(Clone)]
pub(crate) struct Signature {
    bytes: [u8; Self::BYTES_MAX],
    length: usize,
}

impl Signature {
    /// The longest is a DER signature on P-256, at most 72 bytes.
    pub(crate) const BYTES_MAX: usize = 80;

    /// What is longer than any signature is cut, and so matches none.
    pub(crate) fn new(from: &[u8]) -> Self {
        let mut bytes = [0; Self::BYTES_MAX];
        let length = from.len().min(Self::BYTES_MAX);
        for (place, byte) in bytes.iter_mut().zip(from) {
            *place = *byte;
        }
        Self { bytes, length }
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}
