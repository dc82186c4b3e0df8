// The second factor: set up with an app (this file computes its codes), asked for at the next sign-in,
// and stood in for by a recovery code that works once.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";

import { PASSWORD, axeFindings, calm, follow, text } from "../tools.mjs";

const EMAIL = "owner@factor.test";
const STEP_SECONDS = 30;

/** The code of a step (RFC 6238 with SHA-1, six digits). */
function code(secret, step) {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  const bits = [...secret.replaceAll(" ", "")].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, "0")).join("");
  const key = Buffer.from(bits.match(/.{8}/g).map((byte) => parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac("sha1", key).update(counter).digest();
  const number = mac.readUInt32BE(mac[19] & 15) & 0x7fffffff;
  return String(number % 1_000_000).padStart(6, "0");
}

const step = () => Math.floor(Date.now() / 1000 / STEP_SECONDS);

async function signOut(page) {
  await page.goto("/account");
  await page.locator("details.pop-up:visible > summary").first().click();
  await follow(page, "text=Sign out >> visible=true");
}

async function an_app_is_set_up_by_its_first_code(world) {
  world.tenant("factor", EMAIL);
  const page = (world.page = await world.person());
  await world.signIn(page, EMAIL);
  await page.goto("/account");
  await follow(page, "text=Set up a second factor");
  await follow(page, "text=Begin");
  assert.equal(await page.locator("main svg").count() > 0, true, "the picture for the app");
  assert.deepEqual(await axeFindings(page, world.axe), []);
  world.secret = await text(page, "main code");
  await page.fill("#code", "000000");
  await follow(page, "text=Turn it on");
  assert.match(await text(page, ".fault"), /code/i);
  world.secret = await text(page, "main code");
  // Of the step before, so that the present one is left for the sign-in.
  await page.fill("#code", code(world.secret, step() - 1));
  await follow(page, "text=Turn it on");
  world.recovery = await page.locator(".codes code").allInnerTexts();
  assert.equal(world.recovery.length, 10);
  assert.deepEqual(await axeFindings(page, world.axe), []);
}

async function the_next_sign_in_takes_a_code(world) {
  const { page } = world;
  await signOut(page);
  await world.signIn(page, EMAIL);
  assert.equal(new URL(page.url()).pathname, "/sign-in/code");
  assert.deepEqual(await axeFindings(page, world.axe), []);
  await page.goto("/t/factor");
  assert.equal(new URL(page.url()).pathname, "/sign-in/code", "the password alone opens nothing");
  await page.fill("#code", "123456");
  await follow(page, "main form button");
  assert.match(await text(page, ".fault"), /code/i);
  await page.fill("#code", code(world.secret, step()));
  await follow(page, "main form button");
  await page.goto("/t/factor");
  assert.equal(new URL(page.url()).pathname, "/t/factor");
}

async function a_recovery_code_stands_in_once(world) {
  const { page } = world;
  for (const works of [true, false]) {
    await signOut(page);
    await world.signIn(page, EMAIL);
    await page.fill("#code", world.recovery[0]);
    await follow(page, "main form button");
    await page.goto("/account");
    assert.equal(new URL(page.url()).pathname === "/account", works, works ? "the first time" : "the second time");
    if (works) assert.match(await text(page, "main"), /9 recovery codes are left/);
    else {
      await page.fill("#code", world.recovery[1]);
      await follow(page, "main form button");
    }
  }
}

async function taken_away_the_password_alone_is_enough_again(world) {
  const { page } = world;
  await page.goto("/account/second-factor");
  await follow(page, "text=Take the second factor away");
  await signOut(page);
  await page.goto("/sign-in");
  await page.fill("#email", EMAIL);
  await page.fill("#password", PASSWORD);
  await follow(page, "main form button");
  assert.notEqual(new URL(page.url()).pathname, "/sign-in/code");
  calm(page);
}

export const stories = [
  an_app_is_set_up_by_its_first_code,
  the_next_sign_in_takes_a_code,
  a_recovery_code_stands_in_once,
  taken_away_the_password_alone_is_enough_again,
];
