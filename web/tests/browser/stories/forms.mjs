// Forms that somebody else puts before a person: refused, and nothing has happened.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";

import { calm, follow, text, watched } from "../tools.mjs";

async function a_page_of_another_origin_changes_nothing(world) {
  world.key = world.tenant("forms", "owner@forms.test");
  const page = (world.page = await world.person());
  await world.signIn(page, "owner@forms.test");
  world.csrf = await page.locator("input[name=csrf]").first().inputValue();
  // Another port is another origin and the same site: the cookie goes along.
  const target = `${world.base}/t/forms/consumers/default/pause`;
  const foreign = createServer((_, answer) => {
    answer.setHeader("content-type", "text/html");
    answer.end(`<title>Win</title><form method="post" action="${target}"><input name="csrf" value="${world.csrf}"><button>Go</button></form>`);
  }).listen(0, "127.0.0.1");
  await once(foreign, "listening");
  const other = watched(await page.context().newPage());
  await other.goto(`http://127.0.0.1:${foreign.address().port}/`);
  const [answer] = await Promise.all([other.waitForNavigation(), other.click("button")]);
  foreign.close();
  assert.equal(answer.status(), 403);
  assert.equal((await world.api(world.key, "GET", "/v1/consumers/default")).enabled, true, "and nothing has happened");
  await other.close();
}

async function a_form_without_its_token_or_with_anothers_is_refused(world) {
  const { page } = world;
  const stranger = await world.person();
  world.tenant("forms-2", "owner@forms-2.test");
  await world.signIn(stranger, "owner@forms-2.test");
  const theirs = await stranger.locator("input[name=csrf]").first().inputValue();
  for (const token of [undefined, "", "0".repeat(world.csrf.length), theirs]) {
    await page.goto("/t/forms/consumers/default");
    await page.evaluate((token) => {
      const field = document.querySelector("form[action$='/pause'] input[name=csrf]");
      if (token === undefined) field.remove();
      else field.value = token;
    }, token);
    const [answer] = await Promise.all([page.waitForNavigation(), page.click("text=Pause")]);
    assert.equal(answer.status(), 403, `with the token ${token}`);
    assert.ok((await text(page, "main")).length > 40, "and the page says why");
  }
  assert.equal((await world.api(world.key, "GET", "/v1/consumers/default")).enabled, true);
}

async function the_own_form_works(world) {
  const { page } = world;
  await page.goto("/t/forms/consumers/default");
  await follow(page, "text=Pause");
  assert.equal((await world.api(world.key, "GET", "/v1/consumers/default")).enabled, false);
  calm(page);
}

async function the_session_is_over_on_the_server_after_signing_out(world) {
  const { page } = world;
  const [cookie] = await page.context().cookies();
  assert.ok(cookie.httpOnly && cookie.sameSite !== "None", "no script reads the cookie");
  await page.goto("/account");
  await page.locator("details.pop-up:visible > summary").first().click();
  await follow(page, "text=Sign out >> visible=true");
  await page.context().addCookies([cookie]);
  await page.goto("/t/forms");
  assert.equal(new URL(page.url()).pathname, "/sign-in", "the old cookie opens nothing");
  calm(page);
}

export const stories = [
  a_page_of_another_origin_changes_nothing,
  a_form_without_its_token_or_with_anothers_is_refused,
  the_own_form_works,
  the_session_is_over_on_the_server_after_signing_out,
];
