// Takes pictures of every page: in light and dark, at each width. It fails when a page is wider than its
// window, when the console shows an error, or when axe-core finds something. What it needs from npm
// (playwright-core, axe-core) is brought by `.ci/pictures`.
//
//   node take.mjs --binary PATH --out FOLDER --modules FOLDER [--only NAME] [--width 1440,360] [--theme light]
//   node take.mjs … --guide      the few small ones that the README and the guide show

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

import { axeFindings, overflowing, watched } from "./checks.mjs";
import { Bare, Demo } from "./demo.mjs";
import { pages } from "./pages.mjs";

const { values: asked } = parseArgs({
  options: {
    binary: { type: "string" },
    out: { type: "string" },
    modules: { type: "string" },
    chromium: { type: "string", default: "/usr/bin/chromium" },
    only: { type: "string", default: "" },
    width: { type: "string", default: "1440,768,360" },
    theme: { type: "string", default: "light,dark" },
    guide: { type: "boolean", default: false },
  },
});
const require = createRequire(join(resolve(asked.modules), "node_modules/"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

mkdirSync(asked.out, { recursive: true });
const [demo, bare] = await Promise.all([Demo.start(asked.binary), Bare.start(asked.binary)]);
const browser = await chromium.launch({ executablePath: asked.chromium, args: ["--no-sandbox"] });
const faults = [];
let taken = 0;

/** Pictures of the README and the guide: the page, and how high the picture is. */
const GUIDE = { overview: 760, "event-failed": 720, failures: 480, "endpoint-new": 640 };

/** A picture as small as a page of text can be: it is stored with the source. */
async function small(context, one, base) {
  const page = await context.newPage();
  await page.setViewportSize({ width: 1280, height: GUIDE[one.name] });
  await page.goto(`${base}${one.path}`);
  const wire = await context.newCDPSession(page);
  const { data } = await wire.send("Page.captureScreenshot", { format: "webp", quality: 80 });
  writeFileSync(join(asked.out, `${one.name}.webp`), Buffer.from(data, "base64"));
  taken += 1;
  await page.close();
}

async function picture(context, one, base, theme, width) {
  const page = watched(await context.newPage());
  const label = `${one.name} ${theme} ${width}`;
  await page.goto(`${base}${one.path}`, { waitUntil: "load" });
  if (one.prepare) await one.prepare(page);
  const found = [...(await overflowing(page)), ...(await axeFindings(page, axe)), ...page.faults];
  faults.push(...found.map((fault) => `${label}: ${fault}`));
  await page.screenshot({ path: join(asked.out, `${one.name}-${theme}-${width}.png`), fullPage: true });
  taken += 1;
  await page.close();
}

try {
  // One session for each person: the demo's link works once.
  const sessions = {};
  const worlds = { owner: demo, fresh: bare, stress: bare };
  for (const [who, world] of Object.entries(worlds)) {
    const context = await browser.newContext();
    await world.signIn(context, who);
    sessions[who] = await context.storageState();
    if (who === "owner") demo.found = await demo.ids(context);
    await context.close();
  }
  const all = pages(demo.found, bare.ids).filter((one) => one.name.includes(asked.only));
  if (asked.guide) {
    const context = await browser.newContext({ colorScheme: "light", reducedMotion: "reduce", storageState: sessions.owner });
    for (const one of all.filter((page) => page.name in GUIDE)) await small(context, one, demo.base);
    await context.close();
  }
  for (const theme of asked.guide ? [] : asked.theme.split(",")) {
    for (const width of asked.width.split(",").map(Number)) {
      for (const who of [undefined, "owner", "fresh", "stress"]) {
        const list = all.filter((one) => one.who === who);
        if (list.length === 0) continue;
        const context = await browser.newContext({
          viewport: { width, height: 900 },
          colorScheme: theme,
          reducedMotion: "reduce",
          storageState: who && sessions[who],
        });
        for (const one of list) await picture(context, one, (worlds[who] ?? demo).base, theme, width);
        await context.close();
      }
    }
  }
} finally {
  await browser.close();
  await Promise.all([demo.stop(), bare.stop()]);
}
for (const fault of faults) console.log(`FAILED ${fault}`);
console.log(`${taken} pictures in ${asked.out}, ${faults.length} faults`);
process.exit(faults.length ? 1 : 0);
