// Everything that comes from outside tries to be markup, on every page that shows it: it is only text.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";

import { axeFindings, calm, overflowing, text } from "../tools.mjs";

const SECRET = "a-secret-of-the-hostile-story";
/** Would leave an element with this mark behind, wherever it were taken for markup. */
const MARKUP = `"'></textarea></title></script><img data-hostile src=x onerror="window.ran=1"><svg data-hostile onload=window.ran=1>{{7*7}}\u202e`;
const OPTIONS = {
  verify: {
    algorithm: "hmac-sha256", header: "X-Acme-Signature", prefix: "sha256=",
    event: { id: { json: "/id" }, type: { json: "/type" }, account: { json: "/account" } },
  },
};

async function deliver(world, { body, headers = {}, secret = SECRET }) {
  const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
  const answer = await fetch(world.url, {
    method: "POST",
    headers: { "content-type": "application/json", "x-acme-signature": signature, ...headers },
    body,
  });
  return answer.json();
}

async function hostile_texts_come_in_by_every_road(world) {
  const key = (world.key = world.tenant("hostile", "owner@hostile.test"));
  const made = await world.api(key, "POST", "/v1/endpoints", {
    name: MARKUP.slice(0, 110), provider: "custom", secrets: [SECRET], options: OPTIONS,
  });
  Object.assign(world, { url: made.url, endpoint: made.id });
  const event = (id, more) => JSON.stringify({ id, type: MARKUP, account: MARKUP, [MARKUP]: MARKUP, ...more });
  world.event = (await deliver(world, { body: event(MARKUP), headers: { "x-note": MARKUP.slice(0, -1), "content-type": "text/html" } })).id;
  await deliver(world, { body: event(MARKUP, { other: MARKUP }) });
  world.unreadable = (await deliver(world, { body: `<html>${MARKUP}</html>` })).id;
  await deliver(world, { body: event("evt_refused"), secret: MARKUP, headers: { "x-request-id": "<img/data-hostile>" } });
  const { events } = await world.api(key, "POST", "/v1/consumers/default/claim", { handler_version: MARKUP });
  const leases = events.map(({ lease }) => ({ lease, outcome: "failed", error: MARKUP, remote_operation_id: MARKUP }));
  await world.api(key, "POST", "/v1/consumers/default/nack", { leases });
  await world.api(key, "POST", `/v1/events/${world.event}/replay`, { consumer: "default", reason: MARKUP });
  await world.api(key, "POST", "/v1/consumers", { name: "by-type", filter: { types: ["<img*"] } });
  await world.api(key, "POST", "/v1/keys", { name: MARKUP.slice(0, 110), scopes: ["events:read"] });
}

async function no_page_takes_them_for_markup(world) {
  const page = await world.person();
  await world.signIn(page, "owner@hostile.test");
  const t = "/t/hostile";
  // A refusal is written within a second.
  for (let looks = 0; looks < 50; looks++) {
    await page.goto(`${t}/refusals`);
    if ((await page.locator("main table a").count()) > 0) break;
    await page.waitForTimeout(200);
  }
  const refusal = await page.locator("main table a").first().getAttribute("href");
  const query = encodeURIComponent(MARKUP);
  const paths = [
    t, `${t}/events`, `${t}/events?type=${query}`, `${t}/events?state=${query}`, `${t}/events?event_id=${query}`,
    `${t}/events/${world.event}`, `${t}/events/${world.event}/payload`, `${t}/events/${world.event}/payload?view=raw`,
    `${t}/events/${world.event}/payload?view=hex`, `${t}/events/${world.unreadable}`,
    `${t}/events/${world.unreadable}/payload`, `${t}/failures`, `${t}/refusals`, refusal, `${t}/endpoints`,
    `${t}/endpoints/${world.endpoint}`, `${t}/endpoints/${world.endpoint}/edit`, `${t}/endpoints/${world.endpoint}/first`,
    `${t}/endpoints/new?q=${query}`, `${t}/consumers`, `${t}/consumers/by-type`, `${t}/consumers/by-type/edit`,
    `${t}/consumers/default`, `${t}/keys`, `${t}/keys/new?consumer=${query}`, `${t}/audit`, `${t}/audit?actor=${query}`,
    `${t}/search?q=${query}`, `${t}/replays/new?event=${world.event}`, `${t}/replays/new?all=1&type=${query}`,
    `/sign-in?next=${query}`, `/links/${query}`, `/set-up/${query}`, `/docs/errors/${query}`, `/${query}`,
  ];
  for (const path of paths) {
    await page.goto(path);
    const made = await page.evaluate(() => ({
      ran: "ran" in window,
      elements: document.querySelectorAll("[data-hostile], [onerror], [onload]").length,
      scripts: [...document.scripts].filter((one) => !one.src.startsWith(`${location.origin}/assets/`)).length,
    }));
    assert.deepEqual(made, { ran: false, elements: 0, scripts: 0 }, path);
    assert.deepEqual(await overflowing(page), [], path);
  }
  await page.goto(`${t}/events/${world.event}`);
  assert.ok((await text(page, "main")).includes("<img data-hostile"), "it is shown as what it is");
  assert.deepEqual(await axeFindings(page, world.axe), []);
  calm(page);
}

async function a_downloaded_payload_is_no_page(world) {
  const page = await world.person();
  await world.signIn(page, "owner@hostile.test");
  const answer = await page.request.get(`/t/hostile/events/${world.event}/payload/download`);
  const headers = answer.headers();
  assert.match(headers["content-disposition"], /^attachment/);
  assert.match(headers["content-type"], /octet-stream/);
  assert.match(headers["content-security-policy"], /sandbox|default-src 'none'/);
  assert.equal(headers["x-content-type-options"], "nosniff");
}

async function what_runs_inline_is_stopped_by_the_policy(world) {
  const page = await world.person();
  const answer = await page.goto("/sign-in");
  const policy = answer.headers()["content-security-policy"];
  assert.ok(!/unsafe/.test(policy), policy);
  // Were markup to get in one day, the browser would still not run it.
  await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.ran = 1";
    document.body.append(script);
  });
  assert.equal(await page.evaluate(() => "ran" in window), false);
  assert.equal(page.faults.length, 1, "the browser says so");
}

export const stories = [
  hostile_texts_come_in_by_every_road,
  no_page_takes_them_for_markup,
  a_downloaded_payload_is_no_page,
  what_runs_inline_is_stopped_by_the_policy,
];
