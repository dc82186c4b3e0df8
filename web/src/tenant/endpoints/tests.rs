//! The pages of endpoints as a browser opens them: from the provider to the first event, and on.

use restante_app::consumers::NewConsumer;
use restante_core::access::Role;
use restante_store::both_engines;

use crate::parts::samples::check;
use crate::testing::Site;

const SECRET: &str = "whsec_canary0secret0of0the0pages";

/// What stands between two texts.
fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    text.split_once(before).unwrap_or_else(|| panic!("{before} in {text}")).1.split_once(after).unwrap().0
}

both_engines!(a_person_adds_an_endpoint_and_sees_its_first_event, |t| async {
    let site = Site::new(t);
    site.a.tenant("acme").await;
    site.a.t.execute("DELETE FROM consumers").await;
    let mut browser = site.owner("acme").await;
    assert!(browser.get("/t/acme/endpoints").await.text.contains("No endpoint yet"));
    let found = browser.get("/t/acme/endpoints/new?q=stri").await.text;
    assert!(found.contains("/t/acme/endpoints/new/stripe") && !found.contains("/new/github"));
    let form = browser.get("/t/acme/endpoints/new/stripe").await.text;
    assert!(form.contains("Workbench") && form.contains("name=\"with_consumer\""), "{form}");
    assert_eq!(browser.get("/t/acme/endpoints/new/nobody").await.status, 404);

    // What is wrong stands at its field, and what was typed stays, but not the secret.
    let wrong = [("name", ""), ("secret", SECRET), ("max_body_bytes", "many"), ("action", "create")];
    let got = browser.post("/t/acme/endpoints/new/stripe", &wrong).await;
    assert_eq!(got.status, 422);
    assert!(got.text.contains("value=\"many\"") && !got.text.contains("canary0secret"), "{}", got.text);
    assert_eq!(site.a.t.count("endpoints").await, 0);

    let fields = [
        ("name", "Payments"),
        ("secret", SECRET),
        ("with_consumer", "1"),
        ("consumer", "billing"),
        ("action", "create"),
    ];
    let made = browser.post("/t/acme/endpoints/new/stripe", &fields).await;
    assert_eq!(made.status, 303, "{}", made.text);
    assert!(made.location().ends_with("/first"));
    assert_eq!(site.a.t.count("consumers WHERE name = 'billing'").await, 1);
    let first = made.location().to_owned();
    let page = browser.get(&first).await.text;
    assert!(page.contains("Waiting for the first event") && page.contains("RESTANTE_PUBLIC_URL"), "{page}");
    assert!(page.contains("/consumers/billing"));
    let endpoint = first.trim_end_matches("/first").to_owned();
    let state = browser.live(&format!("{first}/state")).await;
    assert!(state.text.contains("hx-trigger=\"every 2s\""), "{}", state.text);
    site.a.t.clock.advance_seconds(1);
    let sent = browser.post(&format!("{endpoint}/test"), &[("back", "first")]).await;
    assert!(sent.location().ends_with("said=test-sent"), "{}", sent.text);
    let state = browser.live(&format!("{first}/state")).await.text;
    assert!(state.contains("The first event is here") && !state.contains("hx-trigger"), "{state}");
    let event = between(&state, "href=\"/t/acme/events/", "\"");
    assert!(browser.get(&format!("/t/acme/events/{event}")).await.text.contains("invoice.paid"));
});

both_engines!(a_secret_that_comes_after_the_url_enables_the_endpoint, |t| async {
    let site = Site::new(t);
    site.a.tenant("acme").await;
    let mut browser = site.owner("acme").await;
    let fields = [("name", "Payments"), ("secret", " "), ("action", "create")];
    let made = browser.post("/t/acme/endpoints/new/stripe", &fields).await;
    let first = made.location().to_owned();
    let endpoint = first.trim_end_matches("/first").to_owned();
    let page = browser.get(&first).await.text;
    assert!(page.contains("Paste the signing secret") && page.contains("disabled for now"), "{page}");
    let early = browser.post(&format!("{endpoint}/enable"), &[]).await;
    assert!(early.status == 422 && early.text.contains("has no secret yet"), "{}", early.text);
    let wrong = browser.post(&format!("{first}/secret"), &[("secret", "")]).await;
    assert!(wrong.status == 422 && wrong.text.contains("id=\"secret-fault\""), "{}", wrong.text);
    let saved = browser.post(&format!("{first}/secret"), &[("secret", SECRET)]).await;
    assert!(saved.location().ends_with("said=secret-added"), "{}", saved.text);
    let page = browser.get(saved.location()).await.text;
    assert!(page.contains("Waiting for the first event") && !page.contains("canary0secret"), "{page}");
});

both_engines!(an_endpoint_is_changed_stopped_and_deleted_by_its_name, |t| async {
    let site = Site::new(t);
    let tenant = site.a.tenant("acme").await;
    let id = site.a.endpoint(&tenant.by, "Payments").await;
    let endpoint = format!("/t/acme/endpoints/{id}");
    let mut browser = site.owner("acme").await;
    let page = browser.get(&endpoint).await.text;
    assert!(page.contains("no event yet") && page.contains("/in/"), "{page}");
    assert!(browser.get("/t/acme/endpoints").await.text.contains(&endpoint));
    for window in ["1h", "24h", "7d", "rubbish"] {
        assert_eq!(browser.get(&format!("{endpoint}?window={window}")).await.status, 200);
    }
    let edit = format!("{endpoint}/edit");
    let fields = [
        ("name", "Money"),
        ("max_body_bytes", "2048"),
        ("option.tolerance_seconds", "60"),
        ("action", "save"),
    ];
    let saved = browser.post(&edit, &fields).await;
    assert_eq!(saved.location(), format!("{endpoint}?said=endpoint-saved"), "{}", saved.text);
    let form = browser.get(&edit).await.text;
    assert!(
        form.contains("value=\"Money\"") && form.contains("value=\"2048\"") && form.contains("value=\"60\"")
    );
    let wrong = browser.post(&edit, &[("name", "Money"), ("option.tolerance_seconds", "-1")]).await;
    assert!(wrong.status == 422 && wrong.text.contains("value=\"-1\""), "{}", wrong.text);

    let added = browser.post(&format!("{endpoint}/secrets"), &[("secret", SECRET), ("retire", "3600")]).await;
    assert!(added.location().ends_with("said=secret-added"), "{}", added.text);
    let page = browser.get(&endpoint).await.text;
    assert!(page.contains("…ages") && page.contains("in 1 h") && !page.contains("canary0"), "{page}");
    let secret = between(&page, &format!("action=\"{endpoint}/secrets/"), "/delete\"");
    let gone = browser.post(&format!("{endpoint}/secrets/{secret}/delete"), &[]).await;
    assert!(gone.location().ends_with("said=secret-deleted"), "{}", gone.text);

    let stopped = browser.post(&format!("{endpoint}/disable"), &[]).await;
    assert!(browser.get(stopped.location()).await.text.contains("503"));
    let test = browser.post(&format!("{endpoint}/test"), &[]).await;
    assert!(test.status == 422 && test.text.contains("disabled"), "{}", test.text);
    browser.post(&format!("{endpoint}/enable"), &[]).await;
    let kept = browser.post(&format!("{endpoint}/delete"), &[("typed_name", "Payments")]).await;
    assert_eq!(kept.status, 422);
    let deleted = browser.post(&format!("{endpoint}/delete"), &[("typed_name", "Money")]).await;
    assert_eq!(deleted.location(), "/t/acme/endpoints?said=endpoint-deleted");
    assert_eq!(browser.get(&endpoint).await.status, 404);
});

both_engines!(a_description_is_tried_out_before_it_is_saved, |t| async {
    let site = Site::new(t);
    site.a.tenant("acme").await;
    let mut browser = site.owner("acme").await;
    // printf '{"id":"evt_1"}' | openssl dgst -sha256 -hmac key
    let signature = "X-Sig: sha256=6640d8dfe1219986fd807426997fb4d6b7a71e70d4b4a4bf37a145b32f4f1a87";
    let described = [("name", "Ours"), ("secret", "key"), ("v_header", "X-Sig"), ("v_prefix", "sha256=")];
    let with = |more: &[(&'static str, &'static str)]| [&described[..], more].concat();
    let post = "/t/acme/endpoints/new/custom";
    let body = "{\"id\":\"evt_1\"}";
    let good = with(&[("try_headers", signature), ("try_body", body), ("action", "try")]);
    let got = browser.post(post, &good).await;
    assert!(got.status == 200 && got.text.contains("Authentic: one event"), "{}", got.text);
    let bad = with(&[("try_headers", signature), ("try_body", "{}"), ("action", "try")]);
    let got = browser.post(post, &bad).await;
    assert!(got.text.contains("Refused: Signature does not match") && got.text.contains("value=\"X-Sig\""));
    let got = browser
        .post(post, &[("name", "Ours"), ("secret", "key"), ("v_signed", "{nothing}"), ("action", "try")])
        .await;
    assert!(got.status == 422 && got.text.contains("href=\"#v_signed\""), "{}", got.text);
    assert_eq!(site.a.t.count("endpoints").await, 0);
    let made = browser.post(post, &with(&[("action", "create")])).await;
    assert!(made.location().ends_with("/first"), "{}", made.text);
    assert!(browser.get(made.location()).await.text.contains("--options"));
});

both_engines!(a_description_is_changed_in_its_form_and_tried_with_the_secrets_that_are_there, |t| async {
    let site = Site::new(t);
    site.a.tenant("acme").await;
    let mut browser = site.owner("acme").await;
    let described = [
        ("name", "Ours"),
        ("secret", "key"),
        ("v_header", "X-Sig"),
        ("v_separator", ","),
        ("v_prefix", "v1="),
        ("v_signed", "{timestamp}.{body}"),
        ("v_time_in", "entry"),
        ("v_time", "t="),
    ];
    let made = browser.post("/t/acme/endpoints/new/custom", &described).await;
    let edit = made.location().replace("/first", "/edit");
    let form = browser.get(&edit).await.text;
    assert!(
        form.contains("value=\"t=\"") && form.contains("Another secret, for the try-out alone"),
        "{form}"
    );

    // printf '1796000000.{"id":"evt_1"}' | openssl dgst -sha256 -hmac key
    let signature = "X-Sig: t=1796000000,v1=09b0f69c965c4533250bf1121214536980c0f81d67e14051adb096cc8229fc40";
    let body = "{\"id\":\"evt_1\"}";
    let with = |more: &[(&'static str, &'static str)]| {
        let kept = described
            .iter()
            .filter(|(name, _)| *name != "secret" && !more.iter().any(|(one, _)| one == name));
        [&kept.copied().collect::<Vec<_>>(), more].concat()
    };
    let tried = [("try_headers", signature), ("try_body", body), ("action", "try")];
    let late = browser.post(&edit, &with(&tried)).await;
    assert!(late.text.contains("Refused: "), "{}", late.text);
    let then = with(&[&tried[..], &[("try_at", "2026-11-30T00:53:20Z")]].concat());
    let got = browser.post(&edit, &then).await;
    assert!(got.status == 200 && got.text.contains("Authentic: one event"), "{}", got.text);
    let wrong = with(&[&tried[..], &[("try_at", "yesterday")]].concat());
    let got = browser.post(&edit, &wrong).await;
    assert!(got.status == 422 && got.text.contains("href=\"#try_at\""), "{}", got.text);

    // What is taken out of the form is taken out of the description.
    let plain = [
        ("v_separator", ""),
        ("v_time_in", ""),
        ("v_signed", "{body}"),
        ("v_id_in", "header"),
        ("v_id", "X-Id"),
    ];
    let saved = browser.post(&edit, &with(&plain)).await;
    assert!(saved.location().ends_with("said=endpoint-saved"), "{}", saved.text);
    let form = browser.get(&edit).await.text;
    assert!(!form.contains("value=\"t=\"") && form.contains("value=\"X-Id\""), "{form}");
    assert!(form.contains("rows=\"8\" spellcheck=\"false\"></textarea>"), "nothing is left to JSON: {form}");
    assert_eq!(site.a.t.count("receipts").await + site.a.t.count("refusals").await, 0);
});

both_engines!(refusals_are_explained_and_their_requests_are_for_whoever_sees_payloads, |t| async {
    let site = Site::new(t);
    let tenant = site.a.tenant("acme").await;
    site.a.tenant("beta").await;
    let id = site.a.endpoint(&tenant.by, "Payments").await;
    site.a.refuse(&tenant.by, id, b"{\"x\":\"<b>\"}").await;
    let mut browser = site.owner("acme").await;
    let list = browser.get("/t/acme/refusals").await.text;
    check(&list.replacen("<script src=", "", 1));
    let path = format!("/t/acme/refusals/{}", between(&list, "href=\"/t/acme/refusals/", "\""));
    assert!(browser.get(&format!("/t/acme/endpoints/{id}")).await.text.contains(&path));
    assert!(
        browser.get(&format!("/t/acme/endpoints/{id}/first")).await.text.contains("A request was refused")
    );
    let page = browser.get(&path).await.text;
    assert!(page.contains("&quot;&lt;b&gt;&quot;") && page.contains("audit log"), "{page}");
    assert_eq!(site.a.t.count("audit_log WHERE action = 'refusal.view'").await, 1);
    let mut stranger = site.owner("beta").await;
    assert_eq!(stranger.get(&path).await.status, 404);
    assert_eq!(stranger.get(&path.replace("/t/acme", "/t/beta")).await.status, 404);
    site.a.t.execute(&format!("UPDATE members SET role = '{}'", Role::Viewer)).await;
    assert_eq!(browser.get(&path).await.status, 403);
    assert!(!browser.get("/t/acme/refusals").await.text.contains(&path));
});

both_engines!(endpoints_are_changed_by_developers_and_seen_by_members_alone, |t| async {
    let site = Site::new(t);
    let tenant = site.a.tenant("acme").await;
    site.a.tenant("beta").await;
    let id = site.a.endpoint(&tenant.by, "Payments").await;
    let consumer = NewConsumer { name: "x".to_owned(), ..NewConsumer::default() };
    site.a.app.create_consumer(&tenant.by, consumer, None).await.unwrap();
    let one = format!("/endpoints/{id}");
    let reads = ["/endpoints".to_owned(), one.clone(), "/refusals".to_owned()];
    let writes = [
        "/endpoints/new".to_owned(),
        "/endpoints/new/stripe".to_owned(),
        format!("{one}/edit"),
        format!("{one}/first"),
    ];
    let posts: Vec<String> =
        ["test", "edit", "enable", "disable", "delete", "secrets", "first/secret", "secrets/sec_x/delete"]
            .iter()
            .map(|action| format!("{one}/{action}"))
            .chain(["/endpoints/new/stripe".to_owned()])
            .collect();
    let mut stranger = site.owner("beta").await;
    for path in reads.iter().chain(&writes) {
        assert_eq!(stranger.get(&format!("/t/acme{path}")).await.status, 404, "{path}");
    }
    assert_eq!(stranger.get(&format!("/t/beta{one}")).await.status, 404);
    for path in posts.iter().filter(|path| path.contains("ep_")) {
        let got =
            stranger.post(&format!("/t/beta{path}"), &[("typed_name", "Payments"), ("secret", SECRET)]).await;
        assert_eq!(got.status, 404, "{path}");
    }
    let mut operator = site.owner("acme").await;
    site.a.t.execute(&format!("UPDATE members SET role = '{}'", Role::Operator)).await;
    for path in &reads {
        assert_eq!(operator.get(&format!("/t/acme{path}")).await.status, 200, "{path}");
    }
    for path in &writes {
        assert_eq!(operator.get(&format!("/t/acme{path}")).await.status, 403, "{path}");
    }
    for path in &posts {
        assert_eq!(operator.post(&format!("/t/acme{path}"), &[]).await.status, 403, "{path}");
    }
    assert_eq!(site.a.t.count("endpoints WHERE deleted_at IS NULL").await, 1);
});
