//! What usually happens to a request or a secret on its way: the shapes that are tried when a signature
//! does not fit. Pure text work, bounded by the size of what comes in.

use crate::catalogue::base64;

/// The largest body that is tried in other shapes.
pub(super) const BODY_BYTES_MAX: usize = 256 * 1024;

/// Every CR LF as LF.
pub(super) fn unix_lines(body: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len());
    for (at, &byte) in body.iter().enumerate() {
        if byte != b'\r' || body.get(at + 1) != Some(&b'\n') {
            out.push(byte);
        }
    }
    out
}

/// The same JSON with the white space of the usual libraries: none, spaces after commas and colons, two or four spaces of indent.
pub(super) fn serialisations(body: &[u8]) -> Vec<Vec<u8>> {
    if !matches!(body.trim_ascii_start().first(), Some(b'{' | b'[')) {
        return Vec::new();
    }
    vec![spaced(body, ",", ":"), spaced(body, ", ", ": "), indented(body, 2), indented(body, 4)]
}

/// Hands out each byte outside strings that is not white space, and each string whole.
fn pieces(body: &[u8], mut take: impl FnMut(&[u8])) {
    let mut at = 0;
    while let Some(&byte) = body.get(at) {
        let start = at;
        at += 1;
        if byte == b'"' {
            while let Some(&inner) = body.get(at) {
                at += if inner == b'\\' { 2 } else { 1 };
                if inner == b'"' {
                    break;
                }
            }
        } else if byte.is_ascii_whitespace() {
            continue;
        }
        take(body.get(start..at.min(body.len())).unwrap_or_default());
    }
}

fn spaced(body: &[u8], comma: &str, colon: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len());
    pieces(body, |piece| {
        out.extend_from_slice(match piece {
            b"," => comma.as_bytes(),
            b":" => colon.as_bytes(),
            other => other,
        });
    });
    out
}

fn indented(body: &[u8], by: usize) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::with_capacity(body.len() * 2);
    let mut level = 0_usize;
    let line = |out: &mut Vec<u8>, level: usize| {
        out.push(b'\n');
        // Deep nesting would make the text many times as long as what came.
        out.resize(out.len() + (level.min(64) * by), b' ');
    };
    let mut opened = false;
    pieces(body, |piece| {
        let closes = matches!(piece, b"}" | b"]");
        if opened && !closes {
            line(&mut out, level);
        }
        match piece {
            b"{" | b"[" => level += 1,
            b"}" | b"]" => {
                level = level.saturating_sub(1);
                if !opened {
                    line(&mut out, level);
                }
            }
            _ => {}
        }
        opened = matches!(piece, b"{" | b"[");
        out.extend_from_slice(piece);
        match piece {
            b"," => line(&mut out, level),
            b":" => out.push(b' '),
            _ => {}
        }
    });
    out
}

/// The URL as it is often registered instead, with what would be so.
pub(super) fn urls(url: &str) -> Vec<(String, &'static str)> {
    let mut shapes = Vec::new();
    if let Some(rest) = url.strip_prefix("https://") {
        shapes.push((format!("http://{rest}"), "It fits the URL with http for https."));
    } else if let Some(rest) = url.strip_prefix("http://") {
        shapes.push((format!("https://{rest}"), "It fits the URL with https for http."));
    }
    let (base, query) = url.split_once('?').map_or((url, None), |(base, query)| (base, Some(query)));
    let with = |base: &str| query.map_or_else(|| base.to_owned(), |query| format!("{base}?{query}"));
    match base.strip_suffix('/') {
        Some(bare) => shapes.push((with(bare), "It fits the URL without the slash at the end.")),
        None => shapes.push((with(&format!("{base}/")), "It fits the URL with a slash at the end.")),
    }
    if let Some(query) = query {
        let mut parts: Vec<&str> = query.split('&').collect();
        parts.sort_unstable();
        let sorted = parts.join("&");
        parts.reverse();
        let reversed = parts.join("&");
        let cause = "URL mismatch: the parameters of the query were signed in another order. Sort the query in the URL you registered.";
        for other in [sorted, reversed] {
            if other != query {
                shapes.push((format!("{base}?{other}"), cause));
            }
        }
        shapes.push((base.to_owned(), "It fits the URL without its query."));
    }
    if let Some(other) = super::signed::other_port(url) {
        shapes.push((other, "It fits the URL with the port written otherwise."));
    }
    shapes
}

/// The keys that other schemes would make of a secret, with what it would be.
pub(super) fn secrets(text: &str) -> Vec<(Vec<u8>, &'static str)> {
    let mut shapes = vec![(text.as_bytes().to_vec(), "used whole, as text")];
    let rest = text.strip_prefix("v1,").unwrap_or(text);
    let rest = rest.strip_prefix("whsec_").unwrap_or(rest);
    if rest != text {
        shapes.push((rest.as_bytes().to_vec(), "used as text without its prefix"));
    }
    if let Some(bytes) = base64(rest.as_bytes()) {
        shapes.push((bytes, "decoded from base64"));
    }
    if let Ok(bytes) = hex::decode(rest) {
        shapes.push((bytes, "decoded from hex"));
    }
    shapes.push((format!("{text}\n").into_bytes(), "followed by a line break"));
    shapes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_json_is_written_in_the_usual_ways() {
        let body = b"{\"a\" : [1,{}, \"x, \\\"y: \"],\n\"b\":[]}";
        let shapes: Vec<String> =
            serialisations(body).into_iter().map(|shape| String::from_utf8(shape).unwrap()).collect();
        assert_eq!(shapes[0], r#"{"a":[1,{},"x, \"y: "],"b":[]}"#);
        assert_eq!(shapes[1], r#"{"a": [1, {}, "x, \"y: "], "b": []}"#);
        assert_eq!(shapes[2], "{\n  \"a\": [\n    1,\n    {},\n    \"x, \\\"y: \"\n  ],\n  \"b\": []\n}");
        assert!(serialisations(b"a=1").is_empty());
        for odd in [&b"{\"a"[..], b"[\"\\", b"}}}}", b"["] {
            serialisations(odd);
        }
    }

    #[test]
    fn an_url_is_tried_in_its_usual_shapes() {
        let shapes: Vec<String> =
            urls("https://a.example/x?b=1&a=2").into_iter().map(|(url, _)| url).collect();
        assert!(shapes.contains(&"http://a.example/x?b=1&a=2".into()));
        assert!(shapes.contains(&"https://a.example/x/?b=1&a=2".into()));
        assert!(shapes.contains(&"https://a.example/x?a=2&b=1".into()));
        assert!(shapes.contains(&"https://a.example/x".into()));
        assert!(shapes.contains(&"https://a.example:443/x?b=1&a=2".into()));
    }
}
