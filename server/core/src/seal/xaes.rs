//! XAES-256-GCM as C2SP specifies it (<https://c2sp.org/XAES-256-GCM>): AES-256-GCM under a key
//! derived from the first half of a 24-byte nonce. That makes random nonces safe for 2^80 messages
//! a key, where plain GCM stops at 2^32. This file knows the cipher, not what is sealed with it.

use aes::Aes256;
use aes::cipher::{BlockCipherEncrypt, KeyInit};
use aes_gcm::Aes256Gcm;
use aes_gcm::aead::{AeadInOut, array::Array};
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::{KEY_BYTES, NONCE_BYTES};

/// Bytes of the authentication tag.
pub(super) const TAG_BYTES: usize = 16;

/// A key with what can be computed of it once: the AES key schedule and the CMAC subkey K1.
pub(super) struct Xaes256Gcm {
    // The crate wipes its key schedule when dropped (its `zeroize` feature).
    aes: Aes256,
    k1: [u8; 16],
}

impl Drop for Xaes256Gcm {
    fn drop(&mut self) {
        self.k1.zeroize();
    }
}

impl ZeroizeOnDrop for Xaes256Gcm {}

/// The tag did not match: nothing was decrypted.
pub(super) struct Refused;

impl Xaes256Gcm {
    pub(super) fn new(key: &[u8; KEY_BYTES]) -> Self {
        let aes = Aes256::new(key.into());
        let mut block = Array([0_u8; 16]);
        aes.encrypt_block(&mut block);
        // K1 is L doubled in GF(2^128). The branch of the specification becomes a mask, since L is secret.
        let l = u128::from_be_bytes(block.0);
        let k1 = (l << 1) ^ (0x87 & (l >> 127).wrapping_neg());
        block.0.zeroize();
        Self { aes, k1: k1.to_be_bytes() }
    }

    /// The key and the 12-byte nonce of one message.
    fn message_cipher(&self, nonce: &[u8; NONCE_BYTES]) -> (Aes256Gcm, [u8; 12]) {
        let (for_key, for_gcm) = halves(nonce);
        let mut blocks = [aes::Block::default(); 2];
        for (counter, block) in (1_u8..).zip(&mut blocks) {
            block.0[..4].copy_from_slice(&[0, counter, b'X', 0]);
            block.0[4..].copy_from_slice(&for_key);
            block.0.iter_mut().zip(&self.k1).for_each(|(byte, mask)| *byte ^= mask);
        }
        self.aes.encrypt_blocks(&mut blocks);
        let mut key = [0_u8; KEY_BYTES];
        key[..16].copy_from_slice(&blocks[0].0);
        key[16..].copy_from_slice(&blocks[1].0);
        let cipher = Aes256Gcm::new(&key.into());
        key.zeroize();
        blocks.iter_mut().for_each(|block| block.0.zeroize());
        (cipher, for_gcm)
    }

    /// Encrypts in place and gives the tag.
    ///
    /// # Panics
    /// Beyond 64 GiB, which GCM can't encrypt and no limit of ours lets in.
    pub(super) fn encrypt(
        &self,
        nonce: &[u8; NONCE_BYTES],
        associated: &[u8],
        buffer: &mut [u8],
    ) -> [u8; TAG_BYTES] {
        let (cipher, nonce) = self.message_cipher(nonce);
        match cipher.encrypt_inout_detached(&nonce.into(), associated, buffer.into()) {
            Ok(tag) => tag.0,
            Err(_) => unreachable!("every input has a limit far below 64 GiB"),
        }
    }

    /// Decrypts in place, or leaves the buffer as it was: the tag is checked before a byte is decrypted.
    pub(super) fn decrypt(
        &self,
        nonce: &[u8; NONCE_BYTES],
        associated: &[u8],
        buffer: &mut [u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Refused> {
        let (cipher, nonce) = self.message_cipher(nonce);
        cipher
            .decrypt_inout_detached(&nonce.into(), associated, buffer.into(), tag.into())
            .map_err(|_| Refused)
    }
}

fn halves(nonce: &[u8; NONCE_BYTES]) -> ([u8; 12], [u8; 12]) {
    let (mut first, mut second) = ([0; 12], [0; 12]);
    first.copy_from_slice(&nonce[..12]);
    second.copy_from_slice(&nonce[12..]);
    (first, second)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONCE: &[u8; NONCE_BYTES] = b"ABCDEFGHIJKLMNOPQRSTUVWX";

    fn check(key: u8, associated: &[u8], k1: &str, expected: &str) {
        let cipher = Xaes256Gcm::new(&[key; KEY_BYTES]);
        assert_eq!(hex::encode(cipher.k1), k1);
        let mut buffer = b"XAES-256-GCM".to_vec();
        let tag = cipher.encrypt(NONCE, associated, &mut buffer);
        assert_eq!(hex::encode(&buffer) + &hex::encode(tag), expected);
        assert!(cipher.decrypt(NONCE, associated, &mut buffer, &tag).is_ok());
        assert_eq!(buffer, b"XAES-256-GCM");
    }

    /// The two vectors of the specification: the top bit of L is clear in one and set in the other.
    #[test]
    fn the_published_vectors_pass() {
        let k1 = "e531954aca063d5b8d9c47a47d4cc6f0";
        check(1, b"", k1, "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271");
        let k1 = "23810ec50edb99f374409466ed1f4b7b";
        let aad = b"c2sp.org/XAES-256-GCM";
        check(3, aad, k1, "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d");
    }

    #[test]
    fn a_refused_message_is_left_encrypted() {
        let cipher = Xaes256Gcm::new(&[9; KEY_BYTES]);
        let mut buffer = *b"not for everyone";
        let mut tag = cipher.encrypt(NONCE, b"here", &mut buffer);
        let encrypted = buffer;
        assert!(cipher.decrypt(NONCE, b"there", &mut buffer, &tag).is_err());
        tag[15] ^= 1;
        assert!(cipher.decrypt(NONCE, b"here", &mut buffer, &tag).is_err());
        assert_eq!(buffer, encrypted);
    }
}
