//! A request as a command for a shell: the headers as they came, without those that belong to the
//! connection, and the exact bytes. It goes to an address on the reader's own machine.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use restante_core::request::HeaderList;

/// Where the command sends it, until the person writes another address.
const TARGET: &str = "http://127.0.0.1:3000/webhook";
/// A body that is larger is left to the download.
const BODY_BYTES_MAX: usize = 64 * 1024;
/// Headers that the command's own connection makes.
const LEFT_OUT: [&str; 12] = [
    "host",
    "content-length",
    "transfer-encoding",
    "connection",
    "keep-alive",
    "accept-encoding",
    "te",
    "trailer",
    "upgrade",
    "expect",
    "forwarded",
    "via",
];

/// The command; `None` when the body is too large for one.
pub(crate) fn curl(headers: &HeaderList, body: &[u8]) -> Option<String> {
    if body.len() > BODY_BYTES_MAX {
        return None;
    }
    let mut command = format!("curl -sS {TARGET}");
    for (name, value) in &headers.0 {
        let lower = name.to_ascii_lowercase();
        let Ok(value) = std::str::from_utf8(value) else { continue };
        if LEFT_OUT.contains(&lower.as_str())
            || lower.starts_with("x-forwarded-")
            || value.contains(['\n', '\r', '\0'])
        {
            continue;
        }
        command.push_str(&format!(" \\\n  -H {}", quoted(&format!("{name}: {value}"))));
    }
    match std::str::from_utf8(body) {
        // A value that begins with @ would be read from a file.
        Ok(text) if is_plain(text) && !text.starts_with('@') => {
            command.push_str(&format!(" \\\n  --data-binary {}", quoted(text)));
            Some(command)
        }
        _ => {
            let encoded = STANDARD.encode(body);
            Some(format!("printf %s {encoded} | base64 -d | {command} \\\n  --data-binary @-"))
        }
    }
}

fn is_plain(text: &str) -> bool {
    !text.chars().any(|c| c.is_control() && c != '\n' && c != '\t')
}

/// A text as one word of a POSIX shell: nothing in single quotes means anything but a single quote.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(all: &[(&str, &'static str)]) -> HeaderList {
        let header = |(name, value): &(&str, &'static str)| {
            ((*name).to_owned(), axum::body::Bytes::from_static(value.as_bytes()))
        };
        HeaderList(all.iter().map(header).collect())
    }

    #[test]
    fn the_command_has_the_headers_that_matter_and_the_bytes() {
        let all = [
            ("content-type", "application/json"),
            ("Host", "x"),
            ("X-Forwarded-For", "1"),
            ("x-sig", "it's"),
        ];
        let command = curl(&headers(&all), b"{\"a\":\"it's $HOME\"}").unwrap();
        assert_eq!(
            command,
            "curl -sS http://127.0.0.1:3000/webhook \\\n  -H 'content-type: application/json' \\\n  -H 'x-sig: it'\\''s' \\\n  --data-binary '{\"a\":\"it'\\''s $HOME\"}'"
        );
    }

    #[test]
    fn what_no_shell_carries_is_encoded_and_what_is_large_is_left_to_the_download() {
        for body in [&b"\xff\x00"[..], b"@/etc/passwd", b"a\x1bb"] {
            let command = curl(&headers(&[]), body).unwrap();
            assert!(command.starts_with("printf %s ") && command.contains("base64 -d"), "{command}");
        }
        assert!(curl(&headers(&[]), &vec![b'a'; BODY_BYTES_MAX + 1]).is_none());
    }

    /// A shell gives back what was quoted.
    #[test]
    fn a_shell_reads_back_what_was_quoted() {
        let text = "a'b\"c$d`e\\f\ng;h|i&j<k>l*m?n!o#p ~";
        let output =
            std::process::Command::new("sh").arg("-c").arg(format!("printf %s {}", quoted(text))).output();
        assert_eq!(String::from_utf8(output.unwrap().stdout).unwrap(), text);
    }
}
