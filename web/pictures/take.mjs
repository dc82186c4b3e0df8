// Takes pictures of every page: in light and dark, at each width. It fails when a page is wider than its
// window, when the console shows an error, or when axe-core finds something. What it needs from npm
// (playwright-core, axe-core) is brought by `.ci/pictures`.
//
//   node take.mjs --binary PATH --out FOLDER [--only NAME] [--width N] [--theme light|dark]

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { pages } from "./pages.mjs";
import { people, seed } from "./seed.mjs";
import { Server, freePort } from "./server.mjs";

const { values: asked } = parseArgs({
  options: {
    binary: { type: "string" },
    out: { type: "string" },
    modules: { type: "string" },
    chromium: { type: "string", default: "/usr/bin/chromium" },
    only: { type: "string", default: "" },
    width: { type: "string", default: "1440,768,360" },
    theme: { type: "string", default: "light,dark" },
    data: { type: "string", default: "" },
  },
});
const require = createRequire(join(asked.modules, "node_modules/"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

mkdirSync(asked.out, { recursive: true });
const folder = asked.data || mkdtempSync(join(tmpdir(), "restante-pictures-"));
const port = await freePort();
const env = {
  RESTANTE_LISTEN: `127.0.0.1:${port}`,
  RESTANTE_DATA_DIR: folder,
  RESTANTE_ALLOW_VOLATILE: "1",
};
const base = `http://127.0.0.1:${port}`;

let server;
let ids;
const kept = join(folder, "pictures.json");
try {
  ids = JSON.parse(readFileSync(kept, "utf8"));
  people.fresh = "grace@example.com";
  server = await Server.start(asked.binary, env);
} catch {
  ({ server, ids } = await seed(asked.binary, env));
  writeFileSync(kept, JSON.stringify(ids));
}

const browser = await chromium.launch({ executablePath: asked.chromium, args: ["--no-sandbox"] });
const faults = [];
let taken = 0;

async function signIn(context, email) {
  const page = await context.newPage();
  await page.goto(`${base}/sign-in`);
  await page.fill("input[name=email]", email);
  await page.fill("input[name=password]", people.password);
  await Promise.all([page.waitForURL((url) => !url.pathname.startsWith("/sign-in")), page.click("main form button")]);
  await page.close();
}

async function picture(context, one, theme, width) {
  const page = await context.newPage();
  const label = `${one.name} ${theme} ${width}`;
  page.on("console", (message) => {
    // A page of an error has its status, which the browser notes too.
    if (message.type() === "error" && !message.text().includes("Failed to load resource")) faults.push(`${label}: console: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`${label}: script: ${error.message}`));
  page.on("dialog", (dialog) => { faults.push(`${label}: a dialog opened: ${dialog.message()}`); dialog.dismiss(); });
  await page.goto(`${base}${one.path}`, { waitUntil: "load" });
  if (one.prepare) await one.prepare(page);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (wide > 0) {
    const culprits = await page.evaluate(() => {
      const edge = document.documentElement.clientWidth;
      const inScroll = (element) => element.closest(".scroll, pre, .tabs") !== null;
      return [...document.querySelectorAll("body *")]
        .filter((element) => element.getBoundingClientRect().right > edge + 1 && !inScroll(element))
        .slice(-3)
        .map((element) => `${element.tagName.toLowerCase()}.${element.className}`);
    });
    faults.push(`${label}: ${wide} px wider than the window (${culprits.join(", ")})`);
  }
  await page.evaluate(axe);
  const found = await page.evaluate(() =>
    window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }),
  );
  for (const violation of found.violations) {
    faults.push(`${label}: ${violation.id}: ${violation.help}: ${violation.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`);
  }
  await page.screenshot({ path: join(asked.out, `${one.name}-${theme}-${width}.png`), fullPage: true });
  taken += 1;
  await page.close();
}

try {
  for (const theme of asked.theme.split(",")) {
    for (const width of asked.width.split(",").map(Number)) {
      for (const who of [undefined, "owner", "fresh"]) {
        const list = pages(ids).filter((one) => one.who === who && one.name.includes(asked.only));
        if (list.length === 0) continue;
        const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: theme, reducedMotion: "reduce" });
        if (who) await signIn(context, people[who === "owner" ? "owner" : "fresh"]);
        for (const one of list) await picture(context, one, theme, width);
        await context.close();
      }
    }
  }
} finally {
  await browser.close();
  await server.stop();
  if (!asked.data) rmSync(folder, { recursive: true, force: true });
}
for (const fault of faults) console.log(`FAILED ${fault}`);
console.log(`${taken} pictures in ${asked.out}, ${faults.length} faults`);
process.exit(faults.length ? 1 : 0);
