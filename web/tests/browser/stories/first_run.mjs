// A new instance, from the link that it prints to the first event, in the browser alone; `restante sign`
// is the provider.

import assert from "node:assert/strict";

import { PASSWORD, axeFindings, calm, follow, status, text } from "../tools.mjs";

const SECRET = "whsec_c2VjcmV0LW9mLXRoZS1maXJzdC1ydW4";

async function the_set_up_link_leads_to_an_administrator_and_a_tenant(world) {
  const link = await world.said(/\/set-up\/\S+/);
  const page = (world.owner = await world.person());
  await page.goto(link);
  assert.deepEqual(await axeFindings(page, world.axe), []);
  await page.fill("#email", "ada@example.com");
  await page.fill("#password", "too short");
  await page.fill("#tenant_name", "Acme payments");
  // The browser itself would stop here; the server's own word is asked for.
  await page.evaluate(() => { document.querySelector("main form").noValidate = true; });
  await follow(page, "main form button");
  assert.match(await text(page, "#password + .fault, .field:has(#password) .fault"), /12/);
  assert.equal(await page.inputValue("#email"), "ada@example.com", "what was typed stays");
  await page.fill("#password", PASSWORD);
  await follow(page, "main form button");
  assert.equal(new URL(page.url()).pathname, "/t/acme-payments");
  assert.equal(await status(page, "/admin"), 200, "and administers the instance");
  assert.equal(await status(page, "/t/acme-payments/members"), 200, "and owns the tenant");
  assert.notEqual(await status(page, link), 200, "the link is used up");
  calm(page);
}

async function the_first_endpoint_waits_for_its_first_event(world) {
  const page = world.owner;
  await page.goto("/t/acme-payments");
  await follow(page, "main >> text=/add.*endpoint/i");
  await page.fill("main input[type=search]", "strip");
  await page.locator("#providers a", { hasText: "Stripe" }).waitFor();
  await page.locator("#providers li").filter({ hasText: "GitHub" }).waitFor({ state: "detached" });
  await follow(page, "#providers a >> text=Stripe");
  await page.fill("#name", "Payments");
  await page.fill("#secret", SECRET);
  await follow(page, "button.main >> text=Create the endpoint");
  assert.match(await text(page, "#first-state"), /Waiting for the first event/);
  assert.match(await text(page, "main"), /can’t reach this address/);
  assert.match(await text(page, "main"), /RESTANTE_PUBLIC_URL/);
  assert.match(await text(page, "main"), /Handed to \S+/, "a consumer was made on the way");
  assert.deepEqual(await axeFindings(page, world.axe), []);
}

async function a_forged_event_is_explained_and_a_signed_one_arrives_without_reloading(world) {
  const page = world.owner;
  const sign = (await page.locator("code", { hasText: "restante sign" }).innerText()).trim();
  await page.evaluate(() => { window.notReloaded = true; });
  world.paste(sign, { SECRET: "whsec_Z3Vlc3NlZC1ieS1zb21lYm9keQ" });
  await page.locator("#first-state .note.bad").waitFor();
  assert.match(await text(page, "#first-state .note.bad"), /A request was refused/);
  assert.match(await text(page, "#first-state .note.bad"), /secret/, "it says what to look at");
  world.paste(sign, { SECRET });
  await page.locator("#first-state .note.good").waitFor();
  assert.match(await text(page, "#first-state"), /The first event is here/);
  assert.equal(await page.evaluate(() => window.notReloaded), true, "the page stayed");
  assert.deepEqual(await axeFindings(page, world.axe), []);
  await follow(page, "#first-state a.main");
  assert.match(new URL(page.url()).pathname, /\/events\/rcp_/);
  assert.match(await text(page, "main"), /pending/i, "it waits for the consumer");
  calm(page);
}

async function the_refused_request_can_be_looked_at(world) {
  const page = world.owner;
  await page.goto("/t/acme-payments/refusals");
  await follow(page, "main table a");
  assert.match(await text(page, "main"), /stripe-signature/i);
  calm(page);
}

export const stories = [
  the_set_up_link_leads_to_an_administrator_and_a_tenant,
  the_first_endpoint_waits_for_its_first_event,
  a_forged_event_is_explained_and_a_signed_one_arrives_without_reloading,
  the_refused_request_can_be_looked_at,
];
