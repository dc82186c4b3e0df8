// Two tenants and several roles: what somebody may not do has no button, and is refused to who calls it
// all the same.

import assert from "node:assert/strict";

import { PASSWORD, calm, follow, status, text } from "../tools.mjs";

const SECRET = "whsec_c2VjcmV0LW9mLXRoZS1yb2xlcw";
const MARK = "nobody-but-some-may-read-this";

/** Invites somebody through the page, and has them accept in a browser of their own. */
async function invited(world, role) {
  const address = `${role}@roles.test`;
  await world.owner.goto("/t/roles/members");
  await world.owner.fill("#email", address);
  await world.owner.check(`#role-${role}`);
  await follow(world.owner, "text=Make an invitation");
  const link = await text(world.owner, ".copy-line code");
  const page = await world.person();
  await page.goto(link);
  await page.fill("#password", PASSWORD);
  await follow(page, "main form button");
  assert.equal(new URL(page.url()).pathname, "/t/roles");
  return page;
}

async function an_owner_invites_by_a_link_that_works_once(world) {
  const key = world.tenant("roles", "owner@roles.test");
  const made = await world.api(key, "POST", "/v1/endpoints", { name: "Payments", provider: "stripe", secrets: [SECRET] });
  world.send(made.url, SECRET, { data: JSON.stringify({ id: "evt_roles", type: "invoice.paid", note: MARK }) });
  world.event = (await world.api(key, "GET", "/v1/events?limit=1")).data[0].id;
  world.owner = await world.person();
  await world.signIn(world.owner, "owner@roles.test");
  world.viewer = await invited(world, "viewer");
  world.operator = await invited(world, "operator");
  world.developer = await invited(world, "developer");
  calm(world.owner);
}

async function a_viewer_sees_events_and_no_payload(world) {
  const page = world.viewer;
  await page.goto(`/t/roles/events/${world.event}`);
  assert.ok(!(await page.content()).includes(MARK));
  assert.equal(await page.locator("text=Payload >> visible=true").locator("xpath=self::a").count(), 0, "no way to it");
  assert.equal(await status(page, `/t/roles/events/${world.event}/payload`), 403);
  assert.ok(!(await page.content()).includes(MARK));
  assert.match(await text(page, "main"), /operator/, "it says what it takes");
}

async function a_viewer_has_no_button_and_no_way_around(world) {
  const page = world.viewer;
  await page.goto("/t/roles/events");
  for (const word of ["Replay all that match", "Replay the picked"]) {
    assert.equal(await page.locator(`text=${word}`).count(), 0, word);
  }
  assert.equal(await page.locator("main input[type=checkbox]").count(), 0);
  await page.goto("/t/roles/endpoints");
  assert.equal(await page.locator("text=New endpoint").count(), 0);
  assert.equal(await page.locator("nav >> text=Members").count(), 0);
  const csrf = await page.locator("input[name=csrf]").first().inputValue();
  for (const path of ["members", "audit", "endpoints/new/stripe", "keys/new", "replays/new"]) {
    assert.equal(await status(page, `/t/roles/${path}`), 403, path);
  }
  // Their own token, and a page of ours: only the role stands in the way.
  await page.goto("/t/roles");
  for (const [path, form] of [
    ["replays", { event: world.event, to: "default" }],
    ["endpoints/new/stripe", { name: "Mine", secret: SECRET, action: "create" }],
    ["members/invites", { email: "friend@roles.test", role: "owner" }],
    ["consumers/default/pause", {}],
  ]) {
    assert.equal(await post(page, `/t/roles/${path}`, { csrf, ...form }), 403, path);
  }
}

async function an_operator_reads_payloads_and_replays_and_changes_nothing(world) {
  const page = world.operator;
  await page.goto(`/t/roles/events/${world.event}/payload`);
  assert.ok((await text(page, "main")).includes(MARK));
  await page.goto(`/t/roles/replays/new?event=${world.event}`);
  await follow(page, "main form button.main");
  assert.match(await text(page, "[role=status]"), /1/);
  assert.equal(await status(page, "/t/roles/endpoints/new/stripe"), 403);
}

async function a_developer_makes_endpoints_and_has_no_say_on_members(world) {
  const page = world.developer;
  assert.equal(await status(page, "/t/roles/endpoints/new/github"), 200);
  assert.equal(await status(page, "/t/roles/members"), 403);
}

async function the_owner_finds_the_opened_payload_on_the_log(world) {
  await world.owner.goto("/t/roles/audit");
  const log = await text(world.owner, "main");
  assert.match(log, /operator@roles\.test/);
  assert.match(log, /payload/i);
}

async function another_tenants_owner_finds_nothing(world) {
  world.tenant("others", "owner@others.test");
  const page = await world.person();
  await world.signIn(page, "owner@others.test");
  for (const path of ["", "/events", `/events/${world.event}`, `/events/${world.event}/payload`, "/endpoints", "/members"]) {
    assert.equal(await status(page, `/t/roles${path}`), 404, path);
  }
  // An id of another tenant within the own one.
  assert.equal(await status(page, `/t/others/events/${world.event}`), 404);
  await page.goto(`/t/others/search?q=${world.event}`);
  assert.ok(!(await text(page, "main")).includes("invoice.paid"));
}

async function a_new_role_counts_at_the_next_click(world) {
  const page = world.owner;
  await page.goto("/t/roles/members");
  const row = page.locator("tr", { hasText: "viewer@roles.test" });
  await row.locator("select").selectOption("operator");
  await Promise.all([page.waitForNavigation(), row.locator("text=Change >> visible=true").first().click()]);
  assert.equal(await status(world.viewer, `/t/roles/events/${world.event}/payload`), 200);
  for (const one of [world.owner, world.viewer, world.operator, world.developer]) calm(one);
}

/** Posts a form from within the page, as a script of ours would; gives the status. */
function post(page, path, form) {
  return page.evaluate(
    async ([path, form]) => (await fetch(path, { method: "POST", body: new URLSearchParams(form), redirect: "manual" })).status,
    [path, form],
  );
}

export const stories = [
  an_owner_invites_by_a_link_that_works_once,
  a_viewer_sees_events_and_no_payload,
  a_viewer_has_no_button_and_no_way_around,
  an_operator_reads_payloads_and_replays_and_changes_nothing,
  a_developer_makes_endpoints_and_has_no_say_on_members,
  the_owner_finds_the_opened_payload_on_the_log,
  another_tenants_owner_finds_nothing,
  a_new_role_counts_at_the_next_click,
];
