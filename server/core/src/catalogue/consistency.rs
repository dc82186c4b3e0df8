//! The catalogue as a whole: nothing left out, nothing dangling, every stated strength worked out again.

use super::entry::{OptionKind, Possible, Stated};
use super::event_rule::{EventRule, ItemRule, ScopeRule};
use super::pointer::{Pointer, Step};
use super::provider::Provider;
use super::source::Source;
use super::strength;
use super::verify_rule::TimestampPlace;
use super::{Catalogue, DedupScope};

/// What is wrong with an entry.
fn faults(provider: &Provider) -> Vec<String> {
    let entry = &provider.entry;
    let mut faults = Vec::new();
    let mut check = |right: bool, what: &str| {
        if !right {
            faults.push(format!("{}: {what}", provider.slug));
        }
    };
    let option = |name: &str| entry.options.iter().any(|rule| rule.name == name);
    let slug = |text: &str| {
        text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    };
    check(slug(&provider.slug), "the folder's name has small letters, digits and hyphens");
    check(!entry.title.is_empty() && entry.revision > 0, "title and revision");
    check(provider.setup.len() > 200, "setup.md says what to click and what to paste");
    check(!provider.setup.contains('\r'), "setup.md has LF line ends");
    check(!entry.methods.is_empty(), "methods");
    check(
        !entry.secret.forms.is_empty() && !entry.secret.example.is_empty(),
        "the secret's forms and example",
    );
    check(
        !entry.windows.source.is_empty() && !entry.rotation.how.is_empty(),
        "windows.source and rotation.how",
    );
    check(!entry.reconciliation.how.is_empty(), "reconciliation.how");
    let has_recipe = entry.reconciliation.recipe.is_some();
    check(has_recipe == (entry.reconciliation.possible == Possible::Yes), "reconciliation.recipe");
    if let Some(recipe) = &entry.reconciliation.recipe {
        check(recipe.faults().is_empty(), &format!("reconciliation.recipe: {:?}", recipe.faults()));
        let pasted = recipe.credentials.iter().chain(&recipe.options);
        check(pasted.clone().all(|field| !field.title.is_empty()), "the titles of what a person gives");
    }
    check((200..300).contains(&entry.reply.status), "a success is a 2xx");
    for status in [entry.reply.signature_status, entry.reply.timestamp_status] {
        check((400..500).contains(&status), "a refusal is a 4xx");
    }
    for form in &entry.secret.forms {
        check(!form.prefix_required || !form.prefixes.is_empty(), "a required prefix is named");
        let lengths: Vec<usize> = form.prefixes.iter().map(String::len).collect();
        check(lengths.is_sorted_by(|a, b| a >= b), "the longest prefix of a secret comes first");
    }
    if let Some(name) = &entry.described_by {
        let sender = entry.options.iter().any(|rule| rule.name == *name && rule.kind == OptionKind::Sender);
        check(sender, "described_by names an option of kind sender");
        check(
            entry.verify.is_empty() && entry.events.is_empty(),
            "a described sender has no rules of its own",
        );
        return faults;
    }
    check(!entry.verify.is_empty() && !entry.events.is_empty(), "rules of verification and events");
    check(entry.verify.iter().any(|rule| rule.when.is_empty()), "a rule of verification without conditions");
    check(
        entry.events.last().is_some_and(|rule| rule.when.is_empty()),
        "the last event rule has no conditions",
    );
    for rule in &entry.verify {
        let plain = |source: &Source| matches!(source, Source::Header(_) | Source::Query(_));
        check(
            rule.when.iter().all(|condition| plain(&condition.source)),
            "verify.when looks at headers and the query alone",
        );
        check(!rule.signatures.is_empty(), "a rule of verification has a signature");
        if let Some(TimestampPlace::Entry(_)) = rule.timestamp.0.as_ref().map(|time| &time.place) {
            check(rule.separator.is_some(), "a time in an entry needs a separator");
        }
        let named = rule.signatures.iter().filter(|one| one.named.is_some()).count();
        check(
            named == if rule.algorithm_named_by.is_some() { rule.signatures.len() } else { 0 },
            "named signatures",
        );
        if let Some(by) = &rule.algorithm_named_by {
            check(option(&by.allowed_option), "allowed_option is an option");
            check(
                rule.signatures.iter().any(|one| one.named.as_ref() == Some(&by.default)),
                "the default algorithm is known",
            );
        }
        for signature in &rule.signatures {
            let kind = signature.algorithm.key_kind();
            check(
                entry.secret.forms.iter().any(|form| form.key == kind),
                "each algorithm has a form of the secret",
            );
        }
        let events =
            entry.events.iter().filter(|event| event.family.is_none() || event.family == rule.family);
        let weak = strength::weak(rule, events.flat_map(|event| &event.items));
        check(rule.weak == weak, &format!("weak is {:?}, and follows as {weak:?}", rule.weak));
    }
    for handshake in &entry.handshakes {
        check(!handshake.when.is_empty(), "a handshake has conditions");
        check(
            handshake.token.as_ref().is_none_or(|token| option(&token.option)),
            "a handshake's token is an option",
        );
        check(handshake.signed || handshake.token.is_some(), "an unsigned handshake has a token");
        check((200..300).contains(&handshake.reply.status), "a handshake is answered 2xx");
    }
    for rule in &entry.events {
        event_faults(rule, &mut check);
    }
    check(!entry.samples.is_empty(), "a sample");
    for sample in &entry.samples {
        check(
            provider.samples.iter().any(|(name, _)| *name == sample.body),
            &format!("the sample {} is a file", sample.body),
        );
    }
    for (name, _) in provider.samples {
        check(
            entry.samples.iter().any(|sample| sample.body == *name),
            &format!("the file samples/{name} is a sample"),
        );
    }
    faults
}

fn event_faults(rule: &EventRule, check: &mut impl FnMut(bool, &str)) {
    let single = rule.items.len() == 1 && rule.items.iter().all(|item| item.each.is_none());
    check(
        single || !rule.items.is_empty() && rule.items.iter().all(|item| item.each.is_some()),
        "one item, or batch elements alone",
    );
    for condition in &rule.when {
        check(!matches!(condition.source, Source::Whole(_)), "conditions look from the document's root");
    }
    for item in &rule.items {
        for source in item.sources() {
            source.walk(&mut |source| {
                if let Source::Whole(pointer) = source {
                    check(reaches(item, pointer), "the stars of “whole” lie on the way of “each”");
                }
            });
        }
        let identity = item.id.0.iter().chain(match &item.scope {
            ScopeRule::Values(values) => values.as_slice(),
            ScopeRule::Usual(_) => &[],
        });
        for source in identity {
            let glued = source.any(|source| matches!(source, Source::Join { with: Some(_), .. }));
            check(!glued, "“with” is for display: in an id or scope two lists could read alike");
        }
        check(item.unique_by.0.as_ref().is_none_or(|parts| !parts.is_empty()), "unique_by names something");
        check(
            item.scope != ScopeRule::Usual(DedupScope::Account) || item.account.0.is_some(),
            "a scope of the account has one",
        );
    }
}

/// Whether a `whole` place lies beside the way to the elements of an item.
fn reaches(item: &ItemRule, pointer: &Pointer) -> bool {
    let last = pointer.0.iter().rposition(|step| *step == Step::Any).map_or(0, |at| at + 1);
    let each = item.each.as_ref().map_or(&[][..], |each| &each.0);
    pointer.0.get(..last).is_some_and(|way| each.starts_with(way))
}

#[test]
fn the_catalogue_is_complete_and_consistent() {
    let catalogue = Catalogue::builtin();
    assert_eq!(catalogue.faults(), &[] as &[String]);
    let found: Vec<String> = catalogue.all().flat_map(faults).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
    let slugs: Vec<&str> = catalogue.all().map(|provider| provider.slug.as_str()).collect();
    assert!(slugs.is_sorted() && slugs.len() >= 10, "{slugs:?}");
}

#[test]
fn an_unknown_word_a_gap_and_a_wrong_value_are_refused() {
    use super::provider::Files;
    let files = |text: &str| Files {
        slug: "x",
        provider: Box::leak(text.to_owned().into_boxed_str()),
        setup: "",
        samples: &[],
    };
    let good = include_str!("../../providers/stripe/provider.toml");
    assert!(Provider::load(&files(good)).is_ok());
    for (from, to, told) in [
        ("certainty = \"proved\"", "certainty = \"sure\"", "sure"),
        ("separator = \",\"", "separater = \",\"", "separater"),
        ("scope = \"provider\"", "scope = \"world\"", "world"),
        ("scope = \"provider\"", "", "scope"),
        ("[windows]", "[window]", "window"),
        ("livemode = { at", "livemode = { in", "in"),
        ("{ json = \"/type\" }", "{ json = \"type\" }", "JSON pointer"),
        ("{ json = \"/type\" }", "{ xml = \"/type\" }", "xml"),
        ("signed = \"{timestamp}.{body}\"", "signed = \"{stamp}.{body}\"", "stamp"),
        ("unique_by = [\"id\"]", "unique_by = [\"ids\"]", "ids"),
        ("unit = \"s\", tol", "unit = \"h\", tol", "h"),
        ("body_bytes_max = \"unknown\"", "body_bytes_max = \"much\"", "much"),
        ("algorithm = \"hmac-sha256\"", "algorithm = \"hmac-md5\"", "hmac-md5"),
    ] {
        assert!(good.contains(from), "{from}");
        let error = Provider::load(&files(&good.replacen(from, to, 1))).err().unwrap_or_default();
        assert!(error.contains(told), "{to}: {error}");
    }
}

#[test]
fn what_nobody_says_is_told_apart_from_what_there_is_not() {
    let read = |text: &str| -> Stated<u64> {
        let table: toml::Table = format!("x = {text}").parse().unwrap();
        serde::Deserialize::deserialize(table["x"].clone()).unwrap()
    };
    assert_eq!(read("5"), Stated::Is(5));
    assert_eq!(read("\"none\""), Stated::No);
    assert_eq!(read("\"unknown\""), Stated::Unknown);
}

#[test]
fn the_page_for_contributors_knows_every_word_and_its_example_is_an_entry() {
    use super::provider::Files;
    let page = include_str!("../../../../docs/providers.md");
    let written_as = |field: &str| {
        match field {
            "forms" => "form",
            "options" => "option",
            "handshakes" => "handshake",
            "events" => "event",
            "samples" => "sample",
            "signatures" => "signature",
            "items" => "item",
            "event_type" => "type",
            other => other,
        }
        .to_owned()
    };
    let sources = [
        include_str!("entry.rs"),
        include_str!("secret_rule.rs"),
        include_str!("verify_rule.rs"),
        include_str!("event_rule.rs"),
    ];
    let fields = sources.iter().flat_map(|source| source.lines()).filter_map(|line| {
        let (name, _) = line.strip_prefix("    pub(crate) ")?.split_once(':')?;
        // Not words: the family is worked out, and a place is spelt as one of its own words.
        (!["family", "place"].contains(&name) && !name.contains(' ')).then(|| written_as(name))
    });
    let known =
        |word: &str| page.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).any(|part| part == word);
    let missing: Vec<String> = fields.filter(|word| !known(word)).collect();
    assert!(missing.is_empty(), "docs/providers.md says nothing of {missing:?}");
    let example = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let setup = "x".repeat(201);
    let files = Files {
        slug: "acme",
        provider: Box::leak(example.to_owned().into_boxed_str()),
        setup: Box::leak(setup.into_boxed_str()),
        samples: &[("order.paid.json", b"{}")],
    };
    let provider = Provider::load(&files).unwrap();
    assert_eq!(faults(&provider), [] as [&str; 0]);
}
