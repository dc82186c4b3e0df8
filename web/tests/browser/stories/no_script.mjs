// The main stories in a browser that runs no script, on a phone's screen.

import assert from "node:assert/strict";

import { calm, follow, text } from "../tools.mjs";

const SECRET = "whsec_c2VjcmV0LW9mLW5vLXNjcmlwdA";

async function an_endpoint_is_made_and_its_first_event_found_without_a_script(world) {
  world.key = world.tenant("plain", "owner@plain.test");
  const page = (world.page = await world.person({ javaScriptEnabled: false, viewport: { width: 360, height: 740 } }));
  await world.signIn(page, "owner@plain.test");
  await page.goto("/t/plain/endpoints/new");
  await page.fill("main input[type=search]", "stripe");
  await Promise.all([page.waitForNavigation(), page.press("main input[type=search]", "Enter")]);
  assert.equal(await page.locator("#providers a", { hasText: "GitHub" }).count(), 0);
  await follow(page, "#providers a >> text=Stripe");
  await page.fill("#name", "Payments");
  await page.fill("#secret", SECRET);
  await follow(page, "button.main >> text=Create the endpoint");
  assert.match(await text(page, "#first-state"), /Load the page again/);
  const sign = (await page.locator("code", { hasText: "restante sign" }).innerText()).trim();
  world.paste(sign, { SECRET: "whsec_Z3Vlc3NlZA" });
  world.paste(sign, { SECRET });
  // Refusals are written each second.
  await assert.doesNotReject(async () => {
    for (let tries = 0; ; tries++) {
      await page.reload();
      const said = await text(page, "#first-state");
      if (/A request was refused/.test(said)) break;
      assert.ok(tries < 50, said);
    }
  });
  assert.match(await text(page, "#first-state"), /The first event is here/);
}

async function the_menu_opens_and_an_event_is_replayed_without_a_script(world) {
  const { page } = world;
  await page.locator("details.pop > summary >> visible=true").first().click();
  await follow(page, "nav a >> text=Events >> visible=true");
  await page.locator("main tbody input[type=checkbox]").first().check();
  await follow(page, "text=Replay the picked…");
  await follow(page, "main form button.main");
  assert.match(await text(page, "[role=status]"), /1/);
  await page.goto("/t/plain/replays/new?all=1");
  await follow(page, "main form button.main");
  for (let tries = 0; !(await page.locator("#progress .note.good").count()); tries++) {
    assert.ok(tries < 50, await text(page, "main"));
    await page.reload();
  }
}

async function nothing_is_offered_that_only_a_script_can_do(world) {
  const { page } = world;
  await page.goto("/t/plain/consumers/default");
  assert.equal(await page.locator("[data-needs-script] >> visible=true").count(), 0);
  calm(page);
}

export const stories = [
  an_endpoint_is_made_and_its_first_event_found_without_a_script,
  the_menu_opens_and_an_event_is_replayed_without_a_script,
  nothing_is_offered_that_only_a_script_can_do,
];
