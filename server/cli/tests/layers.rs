//! Compares the import arrows that the design draws with what the manifests say, and the top
//! level of the repository with the list of what may stand there. It looks at names only: what
//! a crate does with what it may use is for its own tests.
#![expect(clippy::expect_used, clippy::print_stderr, reason = "a test ends at what it did not expect")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Our crates from left to right, each with those of ours that it may use:
/// `core ← store ← app ← { api, web } ← cli`. The benchmark stands beside and nothing uses it.
const ARROWS: [(&str, &[&str]); 7] = [
    ("restante-core", &[]),
    ("restante-store", &["restante-core"]),
    ("restante-app", &["restante-core", "restante-store"]),
    ("restante-api", &["restante-core", "restante-store", "restante-app"]),
    ("restante-web", &["restante-core", "restante-store", "restante-app"]),
    ("restante", &["restante-core", "restante-store", "restante-app", "restante-api", "restante-web"]),
    ("restante-bench", &["restante-core", "restante-store", "restante-app", "restante-api", "restante-web"]),
];

/// Crates from outside that belong to one place only, so that what they stand for stays there.
const PLACES: [(&str, &[&str]); 4] = [
    ("sqlx", &["restante-store"]),
    ("askama", &["restante-web"]),
    ("clap", &["restante", "restante-bench"]),
    ("axum", &["restante-api", "restante-web", "restante", "restante-bench"]),
];

/// Crates that do I/O or wait: never in `core`, whose rules are functions of their arguments.
const NOT_IN_CORE: [&str; 7] = ["axum", "futures-util", "hyper", "hyper-util", "reqwest", "sqlx", "tokio"];

/// What may stand at the top level beside tool files whose names begin with a dot.
const TOP_LEVEL: [&str; 12] = [
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE",
    "README.md",
    "bench",
    "clients",
    "docker",
    "docs",
    "migrations",
    "server",
    "templates",
    "web",
];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Each crate of the workspace with the names of all that it depends on, tests and builds included.
fn manifests() -> BTreeMap<String, BTreeSet<String>> {
    let said = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline", "--manifest-path"])
        .arg(repository().join("Cargo.toml"))
        .output()
        .expect("cargo starts");
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let read: serde_json::Value = serde_json::from_slice(&said.stdout).expect("JSON");
    let name_of = |v: &serde_json::Value| v["name"].as_str().expect("a name").to_owned();
    read["packages"]
        .as_array()
        .expect("packages")
        .iter()
        .map(|p| {
            let used = p["dependencies"].as_array().expect("dependencies");
            (name_of(p), used.iter().map(name_of).collect())
        })
        .collect()
}

#[test]
fn a_crate_uses_only_what_stands_to_its_left() {
    let manifests = manifests();
    let ours: BTreeSet<&str> = ARROWS.iter().map(|(name, _)| *name).collect();
    let found: BTreeSet<&str> = manifests.keys().map(String::as_str).collect();
    assert_eq!(found, ours, "a crate came or went: say here what it may use");
    for (name, allowed) in ARROWS {
        for used in &manifests[name] {
            let is_ours = ours.contains(used.as_str());
            assert!(!is_ours || allowed.contains(&used.as_str()), "{name} must not use {used}");
        }
    }
}

#[test]
fn what_belongs_to_one_crate_is_used_by_no_other() {
    for (name, used) in manifests() {
        for (outside, places) in PLACES {
            let allowed = places.contains(&name.as_str());
            assert!(allowed || !used.contains(outside), "{name} must not use {outside}; {places:?} may");
        }
    }
}

#[test]
fn core_neither_waits_nor_speaks_to_anything() {
    let core = &manifests()["restante-core"];
    for outside in NOT_IN_CORE {
        assert!(!core.contains(outside), "restante-core must not use {outside}");
    }
}

#[test]
fn the_top_level_holds_nothing_new() {
    // Not --others: what lies about in a checkout (`target`, `data`) is no part of the repository.
    let said = Command::new("git").arg("-C").arg(repository()).args(["ls-files", "-z"]).output();
    let Some(said) = said.ok().filter(|s| s.status.success()) else {
        eprintln!("not a git checkout: the top level was not compared");
        return;
    };
    let listed = String::from_utf8(said.stdout).expect("UTF-8 names");
    let top: BTreeSet<&str> =
        listed.split('\0').filter_map(|p| p.split('/').next()).filter(|p| !p.is_empty()).collect();
    assert!(top.contains("Cargo.toml"), "git listed nothing of use");
    let odd: Vec<&str> = top.into_iter().filter(|p| !p.starts_with('.') && !TOP_LEVEL.contains(p)).collect();
    assert!(odd.is_empty(), "these do not belong at the top level: {odd:?}");
}
