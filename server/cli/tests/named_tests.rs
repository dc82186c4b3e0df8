//! Holds what names tests against the source: the index of the negative cases beside this file, and
//! the promises and the failure matrix in docs/guarantees.md. That a test shows what it is named for
//! is for people to judge; that it is there is judged here.
#![expect(clippy::expect_used, reason = "a test ends at what it did not expect")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// What defines tests beside functions: a macro with the test's name as its first word.
const MACROS: [&str; 3] = ["both_engines!(", "both_databases!(", "postgres_alone!("];

/// Where a row names no test, it says why in one of these ways.
const REASONS: [&str; 3] = ["not tested yet", "not covered", "your code"];

/// The parts that cases speak of and that are not there yet.
const LATER: [&str; 6] = ["export", "pages", "people", "push", "reading the audit log", "row level security"];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    fs::read_to_string(repository().join(path)).expect(path)
}

/// Every source file below a folder, by its path from the top.
fn sources(folder: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(repository().join(folder)).expect("a folder") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        let path = format!("{folder}/{name}");
        if repository().join(&path).is_dir() {
            sources(&path, found);
        } else if name.ends_with(".rs") {
            found.push(path);
        }
    }
}

/// The word at the beginning of a text.
fn word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// The tests that a source defines.
fn tests_in(source: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    // Between the name of a macro's test and its parenthesis may stand attributes, each in a line.
    for definition in MACROS.iter().flat_map(|name| source.split(name).skip(1)) {
        let mut lines =
            definition.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("#["));
        found.extend(lines.next().map(|line| word(line).to_owned()));
    }
    let mut is_test = false;
    for line in source.lines().map(str::trim) {
        if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
            is_test = true;
        } else if let Some((_, rest)) = line.split_once("fn ").filter(|_| is_test) {
            found.insert(word(rest).to_owned());
            is_test = false;
        } else if !line.starts_with("#[") && !line.starts_with("//") {
            is_test = false;
        }
    }
    // What proptest runs stands in its macro, each with an attribute of its own or without.
    if source.contains("proptest!") {
        let properties =
            source.lines().map(str::trim).filter(|line| line.starts_with("fn ") && line.contains(" in "));
        found.extend(properties.map(|line| word(&line[3..]).to_owned()));
    }
    found
}

/// Every test of the project, by the path of its file.
fn tests() -> BTreeMap<String, BTreeSet<String>> {
    let mut paths = Vec::new();
    for folder in ["server", "web"] {
        sources(folder, &mut paths);
    }
    paths.into_iter().map(|path| (path.clone(), tests_in(&read(&path)))).collect()
}

#[test]
fn every_negative_case_has_a_test_that_is_there_or_a_part_that_comes_later() {
    let cases: serde_json::Value =
        serde_json::from_str(&read("server/cli/tests/negative/cases.json")).expect("JSON");
    let cases = cases.as_array().expect("a list");
    assert!(cases.len() >= 200, "{}", cases.len());
    let ids: BTreeSet<&str> = cases.iter().map(|case| case["id"].as_str().expect("an id")).collect();
    assert_eq!(ids.len(), cases.len(), "an id stands twice");
    let index: toml::Table = read("server/cli/tests/negative_cases.toml").parse().expect("TOML");
    assert_eq!(index.keys().map(String::as_str).collect::<BTreeSet<_>>(), ids);
    let tests = tests();
    let mut faults = Vec::new();
    for (id, shown_by) in &index {
        if let Some(later) = shown_by.as_str() {
            if !LATER.contains(&later) {
                faults.push(format!("{id}: {later} is no part that comes later"));
            }
            continue;
        }
        let names = shown_by.as_array().expect("a list of tests");
        assert!(!names.is_empty(), "{id} names no test");
        for name in names {
            let (path, test) = name.as_str().and_then(|name| name.split_once("::")).expect("path::name");
            if !tests.get(path).is_some_and(|tests| tests.contains(test)) {
                faults.push(format!("{id}: there is no test {test} in {path}"));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn every_promise_and_every_failure_names_a_test_that_is_there_or_says_why_none() {
    let page = read("docs/guarantees.md");
    let all: BTreeSet<String> = tests().into_values().flatten().collect();
    let (mut rows, mut faults) = (0, Vec::new());
    let mut inside = false;
    for line in page.lines() {
        let Some(row) = line.strip_prefix('|') else {
            inside = false;
            continue;
        };
        let shown_by = row.trim_end_matches('|').rsplit('|').next().unwrap_or_default().trim();
        if shown_by == "Shown by" {
            inside = true;
        } else if inside && !shown_by.starts_with("---") {
            rows += 1;
            let names: Vec<&str> = shown_by.split('`').skip(1).step_by(2).collect();
            faults.extend(
                names.iter().filter(|name| !all.contains(**name)).map(|name| format!("no test {name}")),
            );
            if names.is_empty() && !REASONS.iter().any(|reason| shown_by.contains(reason)) {
                faults.push(format!("no test and no reason: {row}"));
            }
        }
    }
    assert!(rows > 50, "{rows}");
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn a_test_is_found_however_it_is_defined() {
    let source = r#"
        #[test]
        fn plain() {}
        #[tokio::test(flavor = "multi_thread")]
        #[cfg(unix)]
        async fn waiting() {}
        fn helper() {}
        both_engines!(on_both, |t| async {});
        postgres_alone!(
            #[cfg_attr(not(feature = "x"), ignore = "y")]
            behind_an_attribute,
            |place| async {}
        );
    "#;
    let found: Vec<String> = tests_in(source).into_iter().collect();
    assert_eq!(found, ["behind_an_attribute", "on_both", "plain", "waiting"]);
}
