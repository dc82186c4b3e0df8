// A bad day: an application has failed, and exactly what was picked is handed to it again.

import assert from "node:assert/strict";

import { calm, follow, text } from "../tools.mjs";

const SECRET = "whsec_c2VjcmV0LW9mLXRoZS1yZXBsYXk";

async function what_failed_is_found_under_failures(world) {
  const key = (world.key = world.tenant("replay", "owner@replay.test"));
  const made = await world.api(key, "POST", "/v1/endpoints", { name: "Payments", provider: "stripe", secrets: [SECRET] });
  for (const n of [1, 2, 3, 4]) world.send(made.url, SECRET, { id: `evt_replay_${n}`, type: "invoice.paid" });
  const { events } = await world.api(key, "POST", "/v1/consumers/default/claim", { max: 10 });
  assert.equal(events.length, 4);
  const leases = events.map(({ lease }) => ({ lease, outcome: "failed", error: "the ledger is down" }));
  await world.api(key, "POST", "/v1/consumers/default/nack", { leases });
  const page = (world.page = await world.person());
  await world.signIn(page, "owner@replay.test");
  await page.goto("/t/replay/failures");
  const row = await text(page, "main tbody tr");
  assert.match(row, /the ledger is down/);
  assert.match(row, /default 4/, "equal errors are one group");
  calm(page);
}

async function a_selection_is_replayed_and_nothing_else(world) {
  const { page, key } = world;
  await page.goto("/t/replay/events?state=failed");
  for (const id of ["evt_replay_2", "evt_replay_3"]) {
    await page.locator("main tbody tr", { hasText: id }).locator("input[type=checkbox]").check();
  }
  await follow(page, "text=Replay the picked…");
  assert.match(await text(page, "h1"), /Replay 2 events/);
  const listed = await text(page, "aside");
  assert.ok(listed.includes("evt_replay_2") && listed.includes("evt_replay_3") && !listed.includes("evt_replay_1"));
  await page.selectOption("#to", "default");
  await page.fill("#reason", "the ledger is back");
  const { events: before } = await world.api(key, "POST", "/v1/consumers/default/claim", { max: 10 });
  assert.equal(before.length, 0, "nothing happens before the confirmation");
  await follow(page, "main form button.main");
  assert.match(await text(page, "[role=status]"), /2/);
  const { events } = await world.api(key, "POST", "/v1/consumers/default/claim", { max: 10 });
  assert.deepEqual(events.map((event) => event.event_id).sort(), ["evt_replay_2", "evt_replay_3"]);
  await world.api(key, "POST", "/v1/consumers/default/ack", { leases: events.map((event) => event.lease) });
  calm(page);
}

async function its_event_tells_who_replayed_it_and_why(world) {
  const { page } = world;
  await page.goto("/t/replay/events?type=invoice.*");
  await follow(page, "main tbody tr:has-text('evt_replay_2') a.first");
  const told = await text(page, ".timeline");
  assert.match(told, /owner@replay\.test/);
  assert.match(told, /the ledger is back/);
  assert.match(told, /the ledger is down/);
  calm(page);
}

async function all_that_match_are_replayed_as_a_job(world) {
  const { page, key } = world;
  await page.goto("/t/replay/events?state=failed");
  await follow(page, "text=Replay all that match…");
  assert.match(await text(page, "h1"), /Replay 2 events/);
  await follow(page, "main form button.main");
  await page.locator("#progress .note.good").waitFor();
  const { events } = await world.api(key, "POST", "/v1/consumers/default/claim", { max: 10 });
  assert.deepEqual(events.map((event) => event.event_id).sort(), ["evt_replay_1", "evt_replay_4"]);
  calm(page);
}

export const stories = [
  what_failed_is_found_under_failures,
  a_selection_is_replayed_and_nothing_else,
  its_event_tells_who_replayed_it_and_why,
  all_that_match_are_replayed_as_a_job,
];
