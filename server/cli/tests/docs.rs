//! Holds the documents against the program where a fact stands in both: settings, figures, kinds of
//! errors, names of tests, and the files that pages link to. What the sentences say is for people to read.
#![expect(clippy::expect_used, reason = "a test ends at what it did not expect")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use restante_core::problem::Code;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    fs::read_to_string(repository().join(path)).expect(path)
}

/// Every file below a folder whose name ends so.
fn files(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        if entry.is_dir() {
            files(&entry, ending, found);
        } else if entry.to_string_lossy().ends_with(ending) {
            found.push(entry);
        }
    }
}

/// The rows of the tables whose first heading is this one, each as its cells.
fn rows(page: &str, first_heading: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        let Some(row) = line.strip_prefix('|') else {
            inside = false;
            continue;
        };
        let cells: Vec<String> =
            row.trim_end_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
        if cells[0] == first_heading {
            inside = true;
        } else if inside && !cells[0].starts_with("---") {
            found.push(cells);
        }
    }
    assert!(!found.is_empty(), "there is no table that begins with {first_heading}");
    found
}

/// What stands between backticks.
fn quoted(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn the_table_of_settings_is_that_of_the_program() {
    let said = Command::new(env!("CARGO_BIN_EXE_restante"))
        .args(["config", "--json"])
        .env_clear()
        .current_dir(std::env::temp_dir())
        .output()
        .expect("the program starts");
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let known: serde_json::Value = serde_json::from_slice(&said.stdout).expect("JSON");
    let known = known.as_object().expect("an object");
    let mut documented = BTreeSet::new();
    for row in rows(&read("docs/operating.md"), "setting") {
        let [name, variable, default] = [0, 1, 2].map(|cell| quoted(&row[cell]));
        let name = name.first().expect("a name").clone();
        assert_eq!(variable, [format!("RESTANTE_{}", name.to_uppercase())]);
        // A default that depends on the machine is put in words.
        let words = ["public_url", "data_dir", "database_url", "master_key_file"];
        if !words.contains(&name.as_str()) {
            let value = &known.get(&name).expect(&name)["value"];
            let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let said = default.first().map_or("none", String::as_str);
            assert!(said == shown || (said == "none" && ["null", "[]"].contains(&shown.as_str())), "{name}");
        }
        documented.insert(name);
    }
    assert_eq!(documented, known.keys().cloned().collect());
}

#[test]
fn the_table_of_figures_is_that_of_the_program() {
    let recorded: BTreeSet<String> = read("server/app/src/figures/mod.rs")
        .split('"')
        .filter(|text| text.starts_with("restante_") && !text.contains(' '))
        .map(str::to_owned)
        .collect();
    let documented: BTreeSet<String> =
        rows(&read("docs/operating.md"), "figure").iter().flat_map(|row| quoted(&row[0])).collect();
    assert_eq!(documented, recorded);
}

#[test]
fn the_fields_of_a_delivery_in_the_log_are_those_that_are_written() {
    let source = read("server/app/src/receive/log.rs");
    // The record is the one call of the macro; before `=` stands a field's name, bare or quoted.
    let record = source.split_once("tracing::info!(").expect("the record").1;
    let record = record.split_once("\"delivery\"").expect("the record's end").0;
    let written: BTreeSet<String> = record
        .lines()
        .filter_map(|line| line.trim().trim_end_matches(',').split(" = ").next())
        .filter(|name| !name.starts_with(['{', '}']) && !name.starts_with("target:") && !name.is_empty())
        .map(|name| name.trim_matches('"').to_owned())
        .collect();
    let documented: BTreeSet<String> =
        rows(&read("docs/operating.md"), "field").iter().flat_map(|row| quoted(&row[0])).collect();
    assert_eq!(documented, written);
}

#[test]
fn the_table_of_errors_is_that_of_the_program() {
    let documented: Vec<(String, String)> = rows(&read("docs/guide/errors.md"), "type")
        .iter()
        .map(|row| (quoted(&row[0]).concat(), row[1].clone()))
        .collect();
    let known: Vec<(String, String)> =
        Code::ALL.iter().map(|code| (code.slug().to_owned(), code.status().to_string())).collect();
    assert_eq!(documented, known);
}

#[test]
fn every_page_that_a_page_links_to_exists() {
    let mut pages = vec![repository().join("README.md")];
    files(&repository().join("docs"), ".md", &mut pages);
    let mut broken = Vec::new();
    for page in pages {
        let text = fs::read_to_string(&page).expect("a page");
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.contains("://") || link.starts_with('<') {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { page.clone() } else { page.with_file_name(file) };
            let there = target.exists() && (anchor.is_empty() || headings(&target).contains(anchor));
            if !there {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

/// The anchors that a page's headings make.
fn headings(page: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(page).expect("a page");
    let anchor = |title: &str| {
        let kept = title.trim().to_lowercase().replace(' ', "-");
        kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
    };
    text.lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| anchor(line.trim_start_matches('#')))
        .collect()
}
