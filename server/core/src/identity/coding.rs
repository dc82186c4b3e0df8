//! The body under a `Content-Encoding`, decoded within a limit. What was received stays what is kept.

use std::io::Read;

/// A body after decoding.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Decoded {
    /// There is no coding: the received bytes are the body.
    AsReceived,
    /// The decoded bytes.
    Bytes(Vec<u8>),
    /// The coding is none that is known, or the bytes are not in it.
    Undecodable,
    /// Larger than the limit.
    TooLarge,
}

/// Decodes `gzip` and `deflate`. `coding` is the header's value, `bytes_max` the limit for the result.
pub(crate) fn decode(coding: Option<&[u8]>, body: &[u8], bytes_max: u64) -> Decoded {
    let coding = coding.map(<[u8]>::trim_ascii).unwrap_or_default();
    if coding.is_empty() || coding.eq_ignore_ascii_case(b"identity") {
        Decoded::AsReceived
    } else if coding.eq_ignore_ascii_case(b"gzip") || coding.eq_ignore_ascii_case(b"x-gzip") {
        read(flate2::read::MultiGzDecoder::new(body), bytes_max)
    } else if coding.eq_ignore_ascii_case(b"deflate") {
        match read(flate2::read::ZlibDecoder::new(body), bytes_max) {
            // Some senders leave the zlib wrapper off.
            Decoded::Undecodable => read(flate2::read::DeflateDecoder::new(body), bytes_max),
            other => other,
        }
    } else {
        Decoded::Undecodable
    }
}

fn read(decoder: impl Read, bytes_max: u64) -> Decoded {
    let mut out = Vec::new();
    match decoder.take(bytes_max.saturating_add(1)).read_to_end(&mut out) {
        Err(_) => Decoded::Undecodable,
        Ok(_) if out.len() as u64 > bytes_max => Decoded::TooLarge,
        Ok(_) => Decoded::Bytes(out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn gzip(body: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(body).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_body_is_decoded_within_the_limit() {
        let packed = gzip(&[b'a'; 100_000]);
        assert_eq!(decode(Some(b" GZip "), &packed, 100_000), Decoded::Bytes(vec![b'a'; 100_000]));
        assert_eq!(decode(Some(b"gzip"), &packed, 99_999), Decoded::TooLarge);
        assert_eq!(decode(Some(b"gzip"), &packed[..packed.len() - 1], 100_000), Decoded::Undecodable);
        assert_eq!(decode(Some(b"gzip"), b"{}", 10), Decoded::Undecodable);
    }

    #[test]
    fn other_codings_are_told_apart() {
        assert_eq!(decode(None, b"x", 10), Decoded::AsReceived);
        assert_eq!(decode(Some(b"identity"), b"x", 10), Decoded::AsReceived);
        assert_eq!(decode(Some(b"br"), b"x", 10), Decoded::Undecodable);
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        zlib.write_all(b"hello").unwrap();
        assert_eq!(decode(Some(b"deflate"), &zlib.finish().unwrap(), 10), Decoded::Bytes(b"hello".to_vec()));
        let mut bare = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
        bare.write_all(b"hello").unwrap();
        assert_eq!(decode(Some(b"deflate"), &bare.finish().unwrap(), 10), Decoded::Bytes(b"hello".to_vec()));
    }
}
