//! Bytes in hex, as `hexdump -C` writes them.

/// The lines.
pub(super) fn lines(bytes: &[u8]) -> Vec<String> {
    bytes.chunks(16).enumerate().map(|(place, chunk)| line(place * 16, chunk)).collect()
}

fn line(offset: usize, chunk: &[u8]) -> String {
    let mut text = format!("{offset:08x}  ");
    for place in 0..16 {
        match chunk.get(place) {
            Some(byte) => text.push_str(&format!("{byte:02x} ")),
            None => text.push_str("   "),
        }
        if place == 7 {
            text.push(' ');
        }
    }
    text.push('|');
    text.extend(chunk.iter().map(|byte| if (0x20..0x7f).contains(byte) { char::from(*byte) } else { '.' }));
    text.push('|');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_stand_sixteen_to_a_line_with_their_offset_and_letters() {
        let told = lines(b"0123456789abcdef\x00\xff<");
        assert_eq!(told[0], "00000000  30 31 32 33 34 35 36 37  38 39 61 62 63 64 65 66 |0123456789abcdef|");
        assert_eq!(told[1], format!("00000010  00 ff 3c {}|..<|", " ".repeat(3 * 13 + 1)));
        assert!(lines(b"").is_empty());
    }
}
