// The main stories without a pointer: what has the focus is seen, and everything is reached in order.

import assert from "node:assert/strict";

import { PASSWORD, calm, text } from "../tools.mjs";

const SECRET = "whsec_c2VjcmV0LW9mLXRoZS1rZXlib2FyZA";

/** Presses Tab until something has the focus; each stop on the way has to be visible as such. */
async function tabTo(page, selector, most = 90) {
  for (let presses = 0; presses < most; presses++) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate((selector) => {
      const focused = document.activeElement;
      if (!focused || focused === document.body) return { where: "nowhere", found: false, seen: true };
      const style = getComputedStyle(focused);
      const box = focused.getBoundingClientRect();
      // Within a date the browser itself marks the part that is being typed.
      const ring = focused.type === "datetime-local" || (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== "none";
      const [name] = selector.split(":has-text:");
      const words = selector.split(":has-text:")[1];
      const found = focused.matches(name) && (!words || focused.textContent.includes(words));
      return {
        where: focused.outerHTML.slice(0, 120),
        found,
        seen: ring && box.width > 0 && box.height > 0 && box.right > 0 && box.left < innerWidth,
      };
    }, selector);
    assert.ok(at.seen, `the focus is not seen on ${at.where}`);
    if (at.found) return;
  }
  assert.fail(`Tab does not lead to ${selector}`);
}

async function press(page, key = "Enter") {
  await Promise.all([page.waitForNavigation(), page.keyboard.press(key)]);
}

async function signing_in(world) {
  world.key = world.tenant("keys", "owner@keys.test");
  const page = (world.page = await world.person());
  await page.goto("/sign-in");
  await tabTo(page, "#email");
  await page.keyboard.type("owner@keys.test");
  await tabTo(page, "#password");
  await page.keyboard.type(PASSWORD);
  await press(page);
  assert.equal(new URL(page.url()).pathname, "/t/keys");
}

async function the_first_stop_skips_to_the_content(world) {
  const { page } = world;
  await page.goto("/t/keys");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to the content");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "main");
}

async function making_an_endpoint(world) {
  const { page } = world;
  await page.goto("/t/keys/endpoints");
  await tabTo(page, "main a.btn");
  await press(page);
  assert.equal(await page.evaluate(() => document.activeElement.type), "search", "one can type at once");
  await page.keyboard.type("stripe");
  await page.locator("#providers li", { hasText: "GitHub" }).waitFor({ state: "detached" });
  await tabTo(page, "#providers a:has-text:Stripe");
  await press(page);
  await tabTo(page, "#name");
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("Payments");
  await tabTo(page, "#secret");
  await page.keyboard.type(SECRET);
  await tabTo(page, "button.main:has-text:Create the endpoint");
  await press(page);
  assert.match(await text(page, "h1"), /The first event/);
}

async function picking_events_and_replaying_them(world) {
  const { page, key } = world;
  const url = (await world.api(key, "GET", "/v1/endpoints")).data[0].url;
  for (const n of [1, 2]) world.send(url, SECRET, { id: `evt_keys_${n}` });
  await page.goto("/t/keys/events");
  await tabTo(page, "main tbody input[type=checkbox]");
  await page.keyboard.press("Space");
  await tabTo(page, "button:has-text:Replay the picked");
  await press(page);
  assert.match(await text(page, "h1"), /Replay 1 event/);
  await tabTo(page, "#reason");
  await page.keyboard.type("by hand");
  await tabTo(page, "main form button.main");
  await press(page);
  assert.ok(await page.locator("[role=status]").first().isVisible());
}

async function finding_by_id_and_leaving_a_menu(world) {
  const { page } = world;
  await page.goto("/t/keys");
  await page.keyboard.press("/");
  await page.keyboard.type("evt_keys_2");
  await press(page);
  assert.match(await text(page, "main"), /evt_keys_2/);
  await tabTo(page, "details.pop-up > summary");
  await page.keyboard.press("Enter");
  assert.equal(await page.locator("details.pop-up[open]").count(), 1);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("details.pop-up[open]").count(), 0);
  assert.equal(await page.evaluate(() => document.activeElement.tagName), "SUMMARY", "the focus stays where it was");
  calm(page);
}

export const stories = [
  signing_in,
  the_first_stop_skips_to_the_content,
  making_an_endpoint,
  picking_events_and_replaying_them,
  finding_by_id_and_leaving_a_menu,
];
