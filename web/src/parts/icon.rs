//! The icons: drawn by us on a grid of 16, as the `d` of one path. They only repeat what a word beside
//! them says, so that readers of the screen don't hear them.

use std::fmt;

use askama::filters::HtmlSafe;

/// An icon as it stands in a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Icon(&'static str);

/// A circle around the middle.
macro_rules! round {
    ($inside:literal) => {
        concat!("M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12z", $inside)
    };
}

/// Every icon by its name.
const ICONS: [(&str, &str); 42] = [
    (
        "audit",
        "M4 2.5h8A1.5 1.5 0 0 1 13.5 4v8a1.5 1.5 0 0 1-1.5 1.5H4A1.5 1.5 0 0 1 2.5 12V4A1.5 1.5 0 0 1 4 2.5zM5.5 5.5h5M5.5 8h5M5.5 10.5h3",
    ),
    ("book", "M8 4C6.5 3 4.5 2.8 2.5 3v9.5c2-.2 4 0 5.5 1 1.5-1 3.5-1.2 5.5-1V3c-2-.2-4 0-5.5 1zM8 4v9.5"),
    ("check", round!("M5.5 8.2l1.8 1.8 3.2-3.8")),
    ("clock", round!("M8 5v3l2 1.5")),
    ("close", "M4 4l8 8M12 4l-8 8"),
    ("consumers", "M8 2l6 3-6 3-6-3zM2 8l6 3 6-3M2 11l6 3 6-3"),
    ("copy", "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3"),
    ("cross", round!("M6 6l4 4M10 6l-4 4")),
    ("down", "M4 6l4 4 4-4"),
    ("download", "M8 2.5V10M5 7l3 3 3-3M3 13.5h10"),
    ("endpoints", "M2 8h8M7 5l3 3-3 3M9 2.5h3A1.5 1.5 0 0 1 13.5 4v8a1.5 1.5 0 0 1-1.5 1.5H9"),
    ("events", "M2.5 4h11M2.5 8h11M2.5 12h7"),
    ("eye", "M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4z"),
    ("failures", "M8 2.2 14.2 13H1.8zM8 6.5v3M8 11.2v.1"),
    ("filter", "M2 3.5h12l-4.5 5.5v4l-3 1V9z"),
    ("flask", "M6.5 2.5v4L3 12.5a1 1 0 0 0 .9 1.5h8.2a1 1 0 0 0 .9-1.5L9.5 6.5v-4M5.5 2.5h5"),
    ("info", round!("M8 7.5V11M8 5v.1")),
    ("key", "M10.5 8.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM8.4 7.6l-5.9 5.9M4.5 11.5 6 13"),
    ("left", "M10 4 6 8l4 4"),
    ("lock", "M4 7.5h8v6H4zM5.5 7.5v-2a2.5 2.5 0 0 1 5 0v2"),
    ("mail", "M2.5 3.5h11v9h-11zM2.5 4.5 8 8.5l5.5-4"),
    (
        "members",
        "M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM1.5 13.5c0-2.5 2-4 4.5-4s4.5 1.5 4.5 4M10.5 2.8a2.5 2.5 0 0 1 0 4.4M12 9.8c1.6.5 2.5 1.8 2.5 3.7",
    ),
    ("menu", "M2.5 4.5h11M2.5 8h11M2.5 11.5h11"),
    ("out", "M6 8h7.5M10.5 5l3 3-3 3M9 2.5H4A1.5 1.5 0 0 0 2.5 4v8A1.5 1.5 0 0 0 4 13.5h5"),
    ("overview", "M2.5 2.5H7v5H2.5zM9 2.5h4.5v3H9zM9 7.5h4.5v6H9zM2.5 9.5H7v4H2.5z"),
    ("pause", "M5.5 3v10M10.5 3v10"),
    ("person", "M8 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2.5 14c0-2.8 2.4-4.5 5.5-4.5s5.5 1.7 5.5 4.5"),
    ("play", "M4.5 3l8 5-8 5z"),
    ("plus", "M8 3v10M3 8h10"),
    ("question", "M8 1.5 14.5 8 8 14.5 1.5 8zM6.8 6.6A1.3 1.3 0 1 1 8 8.3v.5M8 10.8v.1"),
    ("replay", "M2.5 8a5.5 5.5 0 1 0 1.8-4.1M2.5 2.5v3h3"),
    ("right", "M6 4l4 4-4 4"),
    ("search", "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.6 10.6 14 14"),
    ("send", "M14 2 2 7l5 2 2 5zM7 9l7-7"),
    ("settings", "M2.5 4.5h6M11.5 4.5h2M2.5 11.5h2M7.5 11.5h6M10 3v3M6 10v3"),
    ("shield", "M8 1.8l5 1.8v4.2c0 3-2 5.2-5 6.4-3-1.2-5-3.4-5-6.4V3.6z"),
    ("silent", round!("M5.5 8h5")),
    ("slash", round!("M3.8 12.2l8.4-8.4")),
    ("split", "M8 14V9L3.5 4.5M8 9l4.5-4.5M3.5 8V4.5H7M12.5 8V4.5H9"),
    ("trash", "M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.5 9h6l.5-9"),
    ("updown", "M5 6l3-3 3 3M5 10l3 3 3-3"),
    (
        "wrench",
        "M13.5 5a3.5 3.5 0 0 1-4.6 3.3L4.2 13a1.6 1.6 0 0 1-2.3-2.3l4.7-4.7A3.5 3.5 0 0 1 11 2.5L9 4.5v2.5h2.5z",
    ),
];

impl Icon {
    /// The icon of a name. A name that isn't there is an empty drawing, and a fault that a test finds.
    pub(crate) fn named(name: &str) -> Self {
        Self(ICONS.iter().find(|(known, _)| *known == name).map_or("", |(_, path)| path))
    }
}

impl fmt::Display for Icon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "<svg class=\"icon\" viewBox=\"0 0 16 16\" aria-hidden=\"true\"><path d=\"{}\"/></svg>",
            self.0
        )
    }
}

impl HtmlSafe for Icon {}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    fn names_in(folder: &Path, names: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                names_in(&path, names);
            } else {
                let text = fs::read_to_string(&path).unwrap();
                let used = text.split("icon(\"").skip(1).filter_map(|rest| rest.split('"').next());
                names.extend(used.map(str::to_owned));
            }
        }
    }

    #[test]
    fn every_icon_that_a_template_names_is_there() {
        let mut names = Vec::new();
        names_in(Path::new("../templates"), &mut names);
        assert!(names.len() > 10);
        for name in names {
            assert_ne!(Icon::named(&name), Icon(""), "{name}");
        }
    }

    #[test]
    fn names_stand_once_and_drawings_hold_nothing_but_a_path() {
        for (place, (name, path)) in ICONS.iter().enumerate() {
            assert!(ICONS[..place].iter().all(|(other, _)| other < name), "{name}");
            assert!(path.bytes().all(|b| b.is_ascii_alphanumeric() || b" .-".contains(&b)), "{name}");
        }
    }
}
