// Every page, with the demo's week, with nothing, and with texts that are hostile or as long as can be: in
// light on a wide screen and in dark on a phone, without a finding of axe-core, an error on the console,
// anything beyond the window's edge, or anything that moves while the page loads.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { axeFindings, overflowing, watched } from "../../../pictures/checks.mjs";
import { Bare, Demo } from "../../../pictures/demo.mjs";
import { pages } from "../../../pictures/pages.mjs";

const WIDE = { width: 1440, height: 900 };
const PHONE = { width: 360, height: 740 };
/** What a first visit may cost, with style, script and the page itself. */
const WIRE_BYTES_MAX = 100_000;
/** Below this nobody sees that something moved; 0.1 is where web.dev calls it “needs improvement”. */
const SHIFT_MAX = 0.01;
/** Pages that are looked at side by side. */
const LANES = 3;
/** Routes of pages that answer with no page of their own: parts that a script asks for, and downloads. */
const NO_PAGES = ["/assets/{name}", "/t/{slug}/events/newer", "/t/{slug}/endpoints/{id}/first/state", "/t/{slug}/events/{id}/payload/download"];
/** Shown by other stories, since they take a link or a person in a state that only those have. */
const ELSEWHERE = [
  "/set-up/{link}", "/sign-in/code", "/sign-up",
  // No provider is asked and no tenant deleted in the demo; the tests of the server look at these.
  "/t/{slug}/endpoints/{id}/reconciliation/runs/{run}", "/admin/tenants/{id}/removal",
];

export async function open({ binary, browser, axe }) {
  const [demo, bare] = await Promise.all([Demo.start(binary), Bare.start(binary)]);
  const contexts = {};
  const worlds = { nobody: demo, owner: demo, fresh: bare, stress: bare };
  for (const who of Object.keys(worlds)) {
    contexts[who] = await browser.newContext({ reducedMotion: "reduce" });
    if (who !== "nobody") await worlds[who].signIn(contexts[who], who);
  }
  const close = async () => {
    for (const context of Object.values(contexts)) await context.close();
    await Promise.all([demo.stop(), bare.stop()]);
  };
  const ids = await demo.ids(contexts.owner);
  return { axe, contexts, worlds, list: pages(ids, bare.ids), visited: new Set(), close };
}

/** What a page and everything it asks for is over the wire, also when the browser had some of it already. */
function firstLoad() {
  const parts = ["navigation", "resource"].flatMap((kind) => performance.getEntriesByType(kind));
  return parts.reduce((sum, part) => sum + part.encodedBodySize, 0);
}

/** What is wrong with a page, in words. */
async function faultsOf(world, one) {
  const who = one.who ?? "nobody";
  const page = watched(await world.contexts[who].newPage());
  await page.addInitScript(() => {
    window.shifted = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value;
    }).observe({ type: "layout-shift", buffered: true });
  });
  await page.setViewportSize(WIDE);
  await page.emulateMedia({ colorScheme: "light" });
  await page.goto(`${world.worlds[who].base}${one.path}`);
  const faults = [];
  const bytes = await page.evaluate(firstLoad);
  if (bytes > WIRE_BYTES_MAX) faults.push(`a first visit costs ${bytes} bytes`);
  const shifted = await page.evaluate(() => window.shifted);
  if (shifted > SHIFT_MAX) faults.push(`what was there moved by ${shifted.toFixed(3)} while it loaded`);
  if (one.prepare) await one.prepare(page);
  world.visited.add(new URL(page.url()).pathname).add(one.path.split("?")[0]);
  for (const [size, colorScheme] of [[WIDE, "light"], [PHONE, "dark"]]) {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme });
    const found = [...(await overflowing(page)), ...(await axeFindings(page, world.axe))];
    faults.push(...found.map((fault) => `${colorScheme}, ${size.width} px: ${fault}`));
  }
  faults.push(...page.faults);
  await page.close();
  return faults.map((fault) => `${one.name}: ${fault}`);
}

async function every_page_holds_in_every_form(world) {
  const faults = [];
  const left = [...world.list];
  const lane = async () => {
    for (let one; (one = left.shift()); ) {
      faults.push(...(await faultsOf(world, one).catch((error) => [`${one.name}: ${error.message}`])));
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  assert.deepEqual(faults, []);
}

async function no_page_is_left_out(world) {
  const table = readFileSync(join(import.meta.dirname, "../../../../server/core/src/access/page_routes.rs"), "utf8");
  const routes = [...table.matchAll(/"GET", "([^"]+)"/g)].map(([, path]) => path);
  assert.ok(routes.length > 40, "the table is read");
  const isVisited = (route) => {
    const pattern = new RegExp(`^${route.replace(/\{[^}]+\}/g, "[^/]+")}$`);
    return [...world.visited].some((path) => pattern.test(path));
  };
  const missing = routes.filter((route) => ![...NO_PAGES, ...ELSEWHERE].includes(route) && !isVisited(route));
  assert.deepEqual(missing, [], "these are to be listed in web/pictures/pages.mjs");
}

async function a_first_visit_is_small(world) {
  const faults = [];
  for (const name of ["front", "sign-in", "overview-week", "events", "event-payload", "endpoint", "docs-api"]) {
    const one = world.list.find((page) => page.name === name);
    const who = one.who ?? "nobody";
    const page = await world.contexts[who].newPage();
    const wire = await page.context().newCDPSession(page);
    let bytes = 0;
    await wire.send("Network.enable");
    await wire.send("Network.setCacheDisabled", { cacheDisabled: true });
    wire.on("Network.loadingFinished", ({ encodedDataLength }) => { bytes += encodedDataLength; });
    await page.goto(`${world.worlds[who].base}${one.path}`, { waitUntil: "networkidle" });
    if (bytes === 0 || bytes > WIRE_BYTES_MAX) faults.push(`${name}: ${bytes} bytes`);
    await page.close();
  }
  assert.deepEqual(faults, []);
}

async function nothing_is_asked_of_another_host(world) {
  const page = await world.contexts.owner.newPage();
  const hosts = new Set();
  page.on("request", (request) => hosts.add(new URL(request.url()).host));
  for (const one of world.list.filter((page) => page.who === "owner").slice(0, 12)) {
    await page.goto(`${world.worlds.owner.base}${one.path}`);
  }
  await page.close();
  assert.deepEqual([...hosts], [new URL(world.worlds.owner.base).host]);
}

export const stories = [
  every_page_holds_in_every_form,
  no_page_is_left_out,
  a_first_visit_is_small,
  nothing_is_asked_of_another_host,
];
