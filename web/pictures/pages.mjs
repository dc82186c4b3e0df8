// Every page, in every shape that it has. `who` names the person: nobody, the owner of the demo's tenant,
// or an owner at the second server, of the tenant in which nothing has happened (`fresh`) or of the one
// whose every text is hostile (`stress`). `prepare` does something on the page first.

const tryOut = async (page) => {
  await page.fill("#v_header", "X-Acme-Signature");
  await page.fill("#v_prefix", "sha256=");
  await page.fill("#secret", "a-secret");
  await page.fill("#try_headers", "X-Acme-Signature: sha256=00");
  await page.fill("#try_body", '{"id":"evt_1"}');
  await page.click("button[value=try]:visible");
  await page.waitForSelector("#tried .note");
};

/** Leaves out what is given, so that the form says what is wrong. */
const submitted = (fields) => async (page) => {
  for (const [name, value] of Object.entries(fields)) await page.fill(name, value);
  await page.evaluate(() => { for (const form of document.forms) form.noValidate = true; });
  await Promise.all([page.waitForNavigation(), page.click("main button.main >> visible=true")]);
};

const replayAll = async (page) => {
  await page.fill("#reason", "the deploys were lost");
  await Promise.all([page.waitForURL(/\/replays\/(?!new)/), page.click("main form button.main")]);
  await page.waitForSelector("#progress .note.good", { timeout: 20_000 });
};

const settleFirst = async (page) => {
  await Promise.all([page.waitForURL(/settle/), page.click("text=Settle…")]);
};

const verifyAgain = async (page) => {
  await Promise.all([page.waitForNavigation(), page.click("form.verify button")]);
};

// Limits of which one is near and one reached, as an administrator sets them.
const setLimits = async (page) => {
  await page.fill("#payload_bytes", "10 GiB");
  await page.fill("#deliveries_per_minute", "6000");
  await page.fill("#endpoints", "4");
  await page.fill("#members", "20");
  await page.click("#limits button.main");
  await page.waitForSelector(".note.good");
};

const wrongLimits = async (page) => {
  await page.fill("#payload_bytes", "ten");
  await page.click("#limits button.main");
  await page.waitForSelector("#faults");
};

// The field is folded away: most endpoints ask the provider's usual host.
const wrongHost = async (page) => {
  await page.click("#settings summary");
  await submitted({ "#base_url": "http://127.0.0.1:9" })(page);
};

const openAll = (page) => page.evaluate(() => document.querySelectorAll("details.fold").forEach((one) => { one.open = true; }));

const retentionDraft = (payloads, receipts) => async (page) => {
  await page.fill("#payload_days", payloads);
  await page.fill("#receipt_days", receipts);
  await Promise.all([page.waitForNavigation(), page.click("form[action$=preview] button.main")]);
};

const opened = (selector) => (page) => page.click(selector);

/** `ids` are those of the demo, `stress` those of the hostile tenant. */
export function pages(ids, stress) {
  const t = `/t/${ids.tenant}`;
  const owner = (name, path, prepare) => ({ name, path: `${t}${path}`, who: "owner", prepare });
  const fresh = (name, path, prepare) => ({ name: `fresh-${name}`, path: `/t/fresh${path}`, who: "fresh", prepare });
  const hostile = (name, path, prepare) => ({ name: `stress-${name}`, path: `/t/stress${path}`, who: "stress", prepare });
  return [
    { name: "front", path: "/" },
    { name: "docs-api", path: "/docs/api" },
    { name: "docs-errors", path: "/docs/errors" },
    { name: "docs-error", path: "/docs/errors/conflict" },
    { name: "sign-in", path: "/sign-in" },
    { name: "sign-in-wrong", path: "/sign-in", prepare: submitted({ "#email": "nobody@example.com", "#password": "guessed" }) },
    { name: "dead-link", path: "/links/nothing" },
    { name: "not-there", path: "/nowhere" },
    owner("overview", ""),
    owner("overview-week", "?window=7d"),
    owner("overview-hour", "?window=1h"),
    owner("events", "/events"),
    owner("events-filtered", "/events?state=failed&consumer=billing"),
    owner("events-wrong", "/events?state=lost"),
    owner("event-failed", `/events/${ids.failed}`),
    owner("event-settle", `/events/${ids.uncertain}`, opened(".under summary")),
    owner("event-diverged", `/events/${ids.diverged}`),
    owner("event-payload", `/events/${ids.diverged}/payload`),
    owner("event-hex", `/events/${ids.diverged}/payload?view=hex`),
    owner("event-unreadable", `/events/${ids.unreadable}`),
    owner("event-missing", "/events/rcp_nothing"),
    owner("replay", `/replays/new?event=${ids.failed}&event=${ids.uncertain}`),
    owner("replay-all", "/replays/new?all=1&type=invoice.*"),
    owner("replay-progress", "/replays/new?all=1&type=push&to=chat-ops", replayAll),
    owner("failures", "/failures"),
    owner("failures-settle", "/failures", settleFirst),
    owner("refusals", "/refusals"),
    { name: "refusal", path: ids.refusal, who: "owner" },
    { name: "refusal-again", path: ids.refusal, who: "owner", prepare: verifyAgain },
    owner("endpoints", "/endpoints"),
    owner("endpoint", `/endpoints/${ids.Payments}?window=7d`),
    owner("endpoint-silent", `/endpoints/${ids.Warehouse}?window=7d`),
    owner("endpoint-edit", `/endpoints/${ids.Warehouse}/edit`),
    owner("endpoint-arrived", `/endpoints/${ids.Payments}/first`),
    owner("endpoint-choose", "/endpoints/new"),
    owner("endpoint-new", "/endpoints/new/stripe"),
    owner("endpoint-custom", "/endpoints/new/custom", tryOut),
    owner("reconciliation", "/reconciliation"),
    owner("reconciliation-endpoint", `/endpoints/${ids.Payments}/reconciliation`),
    owner("reconciliation-wrong", `/endpoints/${ids.Payments}/reconciliation`, wrongHost),
    owner("consumers", "/consumers"),
    owner("consumer", "/consumers/search-index"),
    owner("consumer-rust", "/consumers/billing?worker=rust"),
    owner("consumer-new", "/consumers/new"),
    owner("consumer-edit", "/consumers/chat-ops/edit"),
    owner("keys", "/keys"),
    owner("key-new", "/keys/new"),
    owner("key-wrong", "/keys/new", submitted({ "#name": "" })),
    owner("search", `/search?q=${ids.failed}`),
    owner("search-nothing", "/search?q=evt_unknown"),
    owner("retention", "/retention"),
    owner("retention-preview", "/retention", retentionDraft("5", "60")),
    owner("retention-wrong", "/retention", retentionDraft("5", "30")),
    owner("retention-endpoint", `/endpoints/${ids.Payments}/retention`),
    owner("retention-endpoint-preview", `/endpoints/${ids.Payments}/retention`, retentionDraft("5", "60")),
    owner("settings", "/settings"),
    owner("members", "/members"),
    owner("audit", "/audit"),
    owner("menu", "", opened("details.pop > summary:visible")),
    { name: "account", path: "/account", who: "owner" },
    { name: "second-factor", path: "/account/second-factor", who: "owner" },
    { name: "admin", path: "/admin", who: "owner" },
    { name: "admin-tenant", path: ids.administered, who: "owner", prepare: setLimits },
    { name: "admin-tenant-wrong", path: ids.administered, who: "owner", prepare: wrongLimits },
    { name: "admin-tenant-stop", path: ids.administered, who: "owner", prepare: openAll },
    { name: "admin-tenants", path: "/admin/tenants", who: "owner" },
    { name: "admin-tenants-none", path: "/admin/tenants?begins=zz", who: "owner" },
    { name: "admin-tenant-new", path: "/admin/tenants/new", who: "owner" },
    { name: "admin-tenant-new-wrong", path: "/admin/tenants/new", who: "owner", prepare: submitted({ "#slug": "A B" }) },
    { name: "admin-health", path: "/admin/health", who: "owner" },
    owner("settings-limits", "/settings"),
    { name: "admin-people", path: "/admin/people", who: "owner" },
    { name: "admin-person", path: ids.person, who: "owner" },
    { name: "admin-keys", path: "/admin/keys", who: "owner" },
    { name: "admin-retention", path: "/admin/retention", who: "owner" },
    { name: "admin-audit", path: "/admin/audit", who: "owner" },
    { name: "admin-schedule", path: "/admin/schedule", who: "owner" },
    { name: "admin-job", path: "/admin/schedule/people", who: "owner" },
    fresh("overview", ""),
    fresh("events", "/events"),
    fresh("failures", "/failures"),
    fresh("refusals", "/refusals"),
    fresh("endpoints", "/endpoints"),
    fresh("endpoint-new", "/endpoints/new/whatsapp"),
    fresh("consumers", "/consumers"),
    fresh("keys", "/keys"),
    fresh("members", "/members"),
    fresh("audit", "/audit"),
    fresh("retention", "/retention"),
    hostile("overview", ""),
    hostile("events", "/events"),
    hostile("event", `/events/${stress.event}`),
    hostile("payload", `/events/${stress.event}/payload`),
    hostile("failures", "/failures"),
    hostile("refusals", "/refusals"),
    hostile("endpoints", "/endpoints"),
    hostile("reconciliation", "/reconciliation"),
    hostile("endpoint", `/endpoints/${stress.endpoint}`),
    hostile("consumers", "/consumers"),
    hostile("consumer", `/consumers/${"a".repeat(64)}`),
    hostile("keys", "/keys"),
    hostile("members", "/members"),
    hostile("audit", "/audit"),
    hostile("retention", "/retention"),
    hostile("retention-endpoint", `/endpoints/${stress.endpoint}/retention`),
    hostile("replay", `/replays/new?event=${stress.event}`),
  ];
}
