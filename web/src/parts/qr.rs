//! A QR code as one path of an SVG, drawn by the server: the text in it is a secret, so no script and no
//! service has to see it.

use std::fmt::{self, Write as _};

use askama::filters::HtmlSafe;
use qrcodegen::{QrCode, QrCodeEcc};

/// Light modules around the code, which readers look for (ISO/IEC 18004).
const QUIET: i32 = 4;

/// A picture of a text.
#[derive(Clone)]
pub(crate) struct Qr {
    size: i32,
    path: String,
}

impl Qr {
    /// Draws a text; `None` when it is too long for a code.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let code = QrCode::encode_text(text, QrCodeEcc::Medium).ok()?;
        let mut path = String::new();
        for y in 0..code.size() {
            let mut x = 0;
            while x < code.size() {
                let run = (x..code.size()).take_while(|&x| code.get_module(x, y)).count();
                let width = i32::try_from(run).unwrap_or_default();
                if width > 0 {
                    let _ = write!(path, "M{} {}h{width}v1h-{width}z", x + QUIET, y + QUIET);
                }
                x += width.max(1);
            }
        }
        Some(Self { size: code.size() + 2 * QUIET, path })
    }
}

impl fmt::Display for Qr {
    /// Dark on light in every theme, since many readers take nothing else.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { size, path } = self;
        write!(
            f,
            "<svg class=\"qr\" viewBox=\"0 0 {size} {size}\" width=\"200\" height=\"200\" shape-rendering=\"crispEdges\" role=\"img\" \
             aria-label=\"The secret as a picture for an app\"><path fill=\"#fff\" d=\"M0 0h{size}v{size}H0z\"/>\
             <path fill=\"#000\" d=\"{path}\"/></svg>"
        )
    }
}

impl HtmlSafe for Qr {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads the path back into modules.
    fn modules(qr: &Qr) -> Vec<(i32, i32)> {
        let mut found = Vec::new();
        for run in qr.path.split('M').skip(1) {
            let (place, rest) = run.split_once('h').unwrap();
            let (x, y) = place.split_once(' ').unwrap();
            let width: i32 = rest.split_once('v').unwrap().0.parse().unwrap();
            let (x, y): (i32, i32) = (x.parse().unwrap(), y.parse().unwrap());
            found.extend((x..x + width).map(|x| (x, y)));
        }
        found
    }

    #[test]
    fn the_picture_has_the_modules_of_the_code_within_its_quiet_zone() {
        let text =
            "otpauth://totp/Restante:a%40b%2Ec?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Restante";
        let (qr, code) = (Qr::of(text).unwrap(), QrCode::encode_text(text, QrCodeEcc::Medium).unwrap());
        let mut dark = Vec::new();
        for y in 0..code.size() {
            dark.extend((0..code.size()).filter(|&x| code.get_module(x, y)).map(|x| (x + QUIET, y + QUIET)));
        }
        assert_eq!(modules(&qr), dark);
        assert!(!qr.to_string().contains("GEZD"));
    }

    #[test]
    fn a_text_that_is_too_long_has_none() {
        assert!(Qr::of(&"x".repeat(5_000)).is_none());
    }
}
