//! What templates are tried with: text that tries to be markup, and more of everything than fits.

/// A text that would be markup, script, an attribute's end or another direction of writing if
/// anything let it.
pub(crate) const HOSTILE: &str =
    "\"'><script>alert(1)</script><img src=x onerror=alert(1)>{{7*7}}\u{202e}\u{0}&amp;";

/// A long word without a place to break it.
pub(crate) fn long() -> String {
    "unbreakable".repeat(40)
}

/// What has to hold of every page, whatever stands on it.
pub(crate) fn check(page: &str) {
    for never in ["<script>", "<img", "style=\"", "onerror=alert(1)>", "javascript:"] {
        let found = page.contains(never);
        assert!(!found, "{never} in {page}");
    }
    // An event handler would be an attribute of its own.
    for tag in page.split('<').skip(1).filter_map(|rest| rest.split('>').next()) {
        let mut quoted = false;
        let outside: String = tag
            .chars()
            .filter(|c| {
                quoted ^= *c == '"';
                !quoted && *c != '"'
            })
            .collect();
        let handler = outside.split_whitespace().skip(1).any(|attribute| attribute.starts_with("on"));
        assert!(!handler, "{tag}");
    }
}
