//! Codes of a second factor: time-based one-time passwords (RFC 6238) as authenticator apps know them,
//! six digits over HMAC-SHA-1 in steps of thirty seconds. The time and the randomness are arguments.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha1::Sha1;
use subtle::ConstantTimeEq as _;

use crate::secret::Secret;
use crate::time::Timestamp;

/// Bytes of a secret, as RFC 4226 asks for.
pub const SECRET_BYTES: usize = 20;
/// Seconds of a step.
const STEP_SECONDS: i64 = 30;
/// Steps before and after the present one whose code counts, for clocks that differ.
const STEPS_AROUND: i64 = 1;
/// Digits of a code.
const DIGITS: usize = 6;
/// RFC 4648, section 6.
const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// The secret that the server and an app share.
#[derive(Debug, Clone)]
pub struct TotpSecret(Secret<[u8; SECRET_BYTES]>);

impl TotpSecret {
    /// Makes a secret.
    pub const fn new(random: [u8; SECRET_BYTES]) -> Self {
        Self(Secret::new(random))
    }

    /// Reads what was kept.
    pub fn from_kept(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(|bytes| Self(Secret::new(bytes)))
    }

    /// The bytes, to be sealed.
    pub const fn expose(&self) -> &[u8; SECRET_BYTES] {
        self.0.expose()
    }

    /// As a person types it into an app: base 32 in groups of four.
    pub fn text(&self) -> String {
        let text = base32(self.expose());
        let groups: Vec<&str> =
            text.as_bytes().chunks(4).filter_map(|group| std::str::from_utf8(group).ok()).collect();
        groups.join(" ")
    }

    /// As an app reads it from a picture. The account is a name for the person alone.
    pub fn uri(&self, issuer: &str, account: &str) -> String {
        let escaped = |text: &str| {
            percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
        };
        let (issuer, account) = (escaped(issuer), escaped(account));
        format!(
            "otpauth://totp/{issuer}:{account}?secret={}&issuer={issuer}&algorithm=SHA1&digits={DIGITS}&period={STEP_SECONDS}",
            base32(self.expose())
        )
    }

    /// The step whose code this is, if it is one of those around now and later than `last_step`, whose
    /// code was taken before. Spaces within the code don't count.
    pub fn matching_step(&self, typed: &str, now: Timestamp, last_step: i64) -> Option<i64> {
        let typed: Vec<u8> = typed.bytes().filter(|byte| *byte != b' ').take(DIGITS + 1).collect();
        if typed.len() != DIGITS {
            return None;
        }
        let present = now.seconds().div_euclid(STEP_SECONDS);
        // All of them are compared, whichever it is.
        let mut found = None;
        for step in present - STEPS_AROUND..=present + STEPS_AROUND {
            let is = bool::from(self.code(step).as_bytes().ct_eq(&typed));
            if is && step > last_step {
                found = Some(step);
            }
        }
        found
    }

    /// The code of now, for tests that act as an app.
    pub fn code_at(&self, now: Timestamp) -> String {
        self.code(now.seconds().div_euclid(STEP_SECONDS))
    }

    fn code(&self, step: i64) -> String {
        let mut hmac = match Hmac::<Sha1>::new_from_slice(self.expose()) {
            Ok(hmac) => hmac,
            Err(_) => unreachable!("HMAC takes a key of any length"),
        };
        hmac.update(&step.to_be_bytes());
        let digest = hmac.finalize().into_bytes();
        let place = usize::from(digest[19] & 15);
        let bits = digest.iter().skip(place).take(4).fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte));
        format!("{:06}", (bits & 0x7fff_ffff) % 1_000_000)
    }
}

fn base32(bytes: &[u8; SECRET_BYTES]) -> String {
    let mut text = String::with_capacity(SECRET_BYTES * 8 / 5);
    for five_bytes in bytes.chunks(5) {
        let bits = five_bytes.iter().fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
        for place in (0..8).rev() {
            text.push(char::from(BASE32[(bits >> (5 * place) & 31) as usize]));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rfc() -> TotpSecret {
        TotpSecret::new(*b"12345678901234567890")
    }

    #[test]
    fn the_codes_are_those_of_rfc_6238() {
        // Appendix B, the last six of its eight digits.
        for (seconds, code) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] {
            assert_eq!(rfc().code_at(Timestamp::from_seconds(seconds)), code);
        }
    }

    #[test]
    fn a_code_counts_a_step_before_and_after_and_once() {
        let now = Timestamp::from_seconds(1_111_111_109);
        let step = now.seconds() / 30;
        let code = rfc().code_at(now);
        for (seconds, counts) in [(-60, false), (-30, true), (0, true), (30, true), (60, false)] {
            let then = now.plus_seconds(seconds);
            assert_eq!(rfc().matching_step(&code, then, 0), counts.then_some(step), "{seconds}");
        }
        assert_eq!(rfc().matching_step(&code, now, step - 1), Some(step));
        assert_eq!(rfc().matching_step(&code, now, step), None);
        assert_eq!(rfc().matching_step("081 804", now, 0), Some(step));
    }

    #[test]
    fn anything_else_is_no_code() {
        let now = Timestamp::from_seconds(1_111_111_109);
        for wrong in
            ["", "08180", "0818040", "081805", "-81804", "０８１８０４", "081804 0", &"0".repeat(10_000)]
        {
            assert_eq!(rfc().matching_step(wrong, now, 0), None, "{wrong}");
        }
        let other = TotpSecret::new([7; SECRET_BYTES]);
        assert_eq!(other.matching_step("081804", now, 0), None);
    }

    #[test]
    fn an_app_reads_what_rfc_4648_writes_and_names_can_t_break_out() {
        assert_eq!(rfc().text(), "GEZD GNBV GY3T QOJQ GEZD GNBV GY3T QOJQ");
        let uri = rfc().uri("Restante", "a&b?c=d@x.example");
        assert_eq!(
            uri,
            "otpauth://totp/Restante:a%26b%3Fc%3Dd%40x%2Eexample?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ\
             &issuer=Restante&algorithm=SHA1&digits=6&period=30"
        );
        assert!(!format!("{:?}", rfc()).contains("GEZD"));
    }
}
