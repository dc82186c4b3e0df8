//! Words for people: results on standard output, all else on standard error. A reader who has gone
//! away (`restante config | head`) is no failure.

use std::io::Write as _;

/// A line of a result.
pub(crate) fn result(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}

/// A line beside the result.
pub(crate) fn note(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}
