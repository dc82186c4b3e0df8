// Which pages are pictured. `who` names the person: nobody, the owner of a busy tenant, or the owner of the
// tenant in which nothing has happened. `prepare` does something on the page first.

const tryOut = async (page) => {
  await page.fill("#v_header", "X-Acme-Signature");
  await page.fill("#v_prefix", "sha256=");
  await page.fill("#secret", "a-secret");
  await page.fill("#try_headers", "X-Acme-Signature: sha256=00");
  await page.fill("#try_body", '{"id":"evt_1"}');
  await page.click("button[value=try]:visible");
  await page.waitForSelector("#tried .note");
};

// A replay of all that match a filter which nobody's picture depends on.
const replayAll = async (page) => {
  await page.fill("#reason", "the deploys were lost");
  await page.click("main form button.main");
  await page.waitForSelector("#progress .note.good", { timeout: 20_000 });
};

const settleFirst = async (page) => {
  await Promise.all([page.waitForURL(/settle/), page.click("text=Settle…")]);
};

export function pages(ids) {
  const t = "/t/acme";
  return [
    { name: "front", path: "/" },
    { name: "docs-api", path: "/docs/api" },
    { name: "docs-errors", path: "/docs/errors" },
    { name: "docs-error", path: "/docs/errors/conflict" },
    { name: "sign-in", path: "/sign-in" },
    { name: "overview", path: t, who: "owner" },
    { name: "overview-week", path: `${t}?window=7d`, who: "owner" },
    { name: "overview-hour", path: `${t}?window=1h`, who: "owner" },
    { name: "fresh-overview", path: "/t/fresh", who: "fresh" },
    { name: "events", path: `${t}/events`, who: "owner" },
    { name: "events-filtered", path: `${t}/events?state=failed&type=invoice.*`, who: "owner" },
    { name: "events-wrong", path: `${t}/events?state=lost`, who: "owner" },
    { name: "fresh-events", path: "/t/fresh/events", who: "fresh" },
    { name: "event-failed", path: `${t}/events/${ids.failed}`, who: "owner" },
    { name: "event-settle", path: `${t}/events/${ids.uncertain}`, who: "owner", prepare: (page) => page.click(".under summary") },
    { name: "event-diverged", path: `${t}/events/${ids.diverged}`, who: "owner" },
    { name: "event-payload", path: `${t}/events/${ids.diverged}/payload`, who: "owner" },
    { name: "event-hex", path: `${t}/events/${ids.diverged}/payload?view=hex`, who: "owner" },
    { name: "event-hostile", path: `${t}/events/${ids.hostile}`, who: "owner" },
    { name: "event-hostile-payload", path: `${t}/events/${ids.hostile}/payload`, who: "owner" },
    { name: "event-unreadable", path: `${t}/events/${ids.unreadable}`, who: "owner" },
    { name: "replay", path: `${t}/replays/new?event=${ids.failed}&event=${ids.uncertain}`, who: "owner" },
    { name: "replay-all", path: `${t}/replays/new?all=1&type=invoice.*`, who: "owner" },
    { name: "endpoints", path: `${t}/endpoints`, who: "owner" },
    { name: "fresh-endpoints", path: "/t/fresh/endpoints", who: "fresh" },
    { name: "endpoint", path: `${t}/endpoints/${ids.Payments}?window=7d`, who: "owner" },
    { name: "endpoint-edit", path: `${t}/endpoints/${ids.Orders}/edit`, who: "owner" },
    { name: "endpoint-first", path: `${t}/endpoints/${ids["Shop EU"]}/first`, who: "owner" },
    { name: "endpoint-arrived", path: `${t}/endpoints/${ids.Payments}/first`, who: "owner" },
    { name: "endpoint-choose", path: `${t}/endpoints/new`, who: "owner" },
    { name: "endpoint-new", path: `${t}/endpoints/new/stripe`, who: "owner" },
    { name: "fresh-endpoint-new", path: "/t/fresh/endpoints/new/whatsapp", who: "fresh" },
    { name: "endpoint-custom", path: `${t}/endpoints/new/custom`, who: "owner", prepare: tryOut },
    { name: "replay-progress", path: `${t}/replays/new?all=1&type=push&to=deploys`, who: "owner", prepare: replayAll },
    { name: "failures", path: `${t}/failures`, who: "owner" },
    { name: "failures-settle", path: `${t}/failures`, who: "owner", prepare: settleFirst },
    { name: "fresh-failures", path: "/t/fresh/failures", who: "fresh" },
    { name: "consumers", path: `${t}/consumers`, who: "owner" },
    { name: "consumer", path: `${t}/consumers/billing`, who: "owner" },
    { name: "consumer-rust", path: `${t}/consumers/search-index?worker=rust`, who: "owner" },
    { name: "consumer-new", path: `${t}/consumers/new`, who: "owner" },
    { name: "consumer-edit", path: `${t}/consumers/deploys/edit`, who: "owner" },
    { name: "fresh-consumers", path: "/t/fresh/consumers", who: "fresh" },
    { name: "keys", path: `${t}/keys`, who: "owner" },
    { name: "key-new", path: `${t}/keys/new`, who: "owner" },
    { name: "search-nothing", path: `${t}/search?q=evt_unknown`, who: "owner" },
    { name: "settings", path: `${t}/settings`, who: "owner" },
    { name: "members", path: `${t}/members`, who: "owner" },
    { name: "audit", path: `${t}/audit`, who: "owner" },
    { name: "account", path: "/account", who: "owner" },
    { name: "missing", path: `${t}/events/rcp_nothing`, who: "owner" },
    { name: "refusals", path: `${t}/refusals`, who: "owner" },
    { name: "menu", path: t, who: "owner", prepare: (page) => page.click("details.pop > summary:visible") },
  ];
}
