//! Base 62, the alphabet of API keys: no sign that a shell, a URL or a double click would cut.
//! Numbers only, in a fixed number of digits; it is no general encoding of bytes.

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Writes a number, given as big-endian bytes, in exactly `N` digits. Digits beyond `N` are lost.
pub(super) fn write<const N: usize>(number: &[u8]) -> [u8; N] {
    let mut digits = [0_u8; N];
    for &byte in number {
        let mut carry = u32::from(byte);
        for digit in digits.iter_mut().rev() {
            let value = u32::from(*digit) << 8 | carry;
            *digit = (value % 62) as u8;
            carry = value / 62;
        }
    }
    digits.map(|digit| ALPHABET[usize::from(digit)])
}

/// Whether a text has only digits of this alphabet.
pub(super) fn is_base62(text: &[u8]) -> bool {
    text.iter().all(u8::is_ascii_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_with_leading_zeros() {
        assert_eq!(&write::<3>(&[]), b"000");
        assert_eq!(&write::<3>(&[61]), b"00z");
        assert_eq!(&write::<3>(&[62]), b"010");
        assert_eq!(&write::<6>(&u32::MAX.to_be_bytes()), b"4gfFC3");
    }

    #[test]
    fn two_hundred_and_fifty_six_bits_fit_43_digits() {
        // 2^256 - 1 in 44 digits begins with a zero, so nothing is lost in 43.
        let wide = write::<44>(&[255; 32]);
        assert_eq!(wide[0], b'0');
        assert_eq!(wide[1..], write::<43>(&[255; 32]));
    }
}
