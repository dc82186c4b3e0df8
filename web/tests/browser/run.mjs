// Runs the stories of the browser tests in Chromium, against the built program:
//
//   node run.mjs --binary PATH --modules FOLDER [--chromium PATH] [--database-url URL]... [--only WORD]
//
// With a database URL (of an empty PostgreSQL database) only the main story runs: pages don't know which
// database is behind them. Each further URL has one more file of stories run, up to seven, each on a database
// of its own; the pages of the demo, which has its own, run on SQLite alone. It ends with `N passed, N failed,
// N skipped`, which `.ci/test` counts.

import { resolve } from "node:path";
import { parseArgs } from "node:util";

import * as firstRun from "./stories/first_run.mjs";
import * as forms from "./stories/forms.mjs";
import * as hostile from "./stories/hostile.mjs";
import * as keyboard from "./stories/keyboard.mjs";
import * as noScript from "./stories/no_script.mjs";
import * as pages from "./stories/pages.mjs";
import * as replay from "./stories/replay.mjs";
import * as roles from "./stories/roles.mjs";
import * as secondFactor from "./stories/second_factor.mjs";
import { World, tools } from "./tools.mjs";

const { values: asked } = parseArgs({
  options: {
    binary: { type: "string" },
    modules: { type: "string", default: import.meta.dirname },
    chromium: { type: "string", default: "/usr/bin/chromium" },
    "database-url": { type: "string", multiple: true },
    only: { type: "string", default: "" },
  },
});

// In one world: a second one would have another master key for the same database.
const MAIN = { stories: [...firstRun.stories, ...replay.stories] };
const OTHERS = [roles, secondFactor, forms, hostile, keyboard, noScript];
const urls = asked["database-url"];
const files = urls ? [MAIN, ...OTHERS].slice(0, urls.length) : [firstRun, replay, ...OTHERS, pages];

const { chromium, axe } = tools(resolve(asked.modules));
const browser = await chromium.launch({ executablePath: asked.chromium, args: ["--no-sandbox"] });
let passed = 0;
let failed = 0;
for (const [place, file] of files.entries()) {
  // Stories of one file follow on each other, so the word chooses a file by any of them.
  const { stories } = file;
  if (!stories.some((story) => story.name.includes(asked.only.replaceAll(" ", "_")))) continue;
  const how = { binary: resolve(asked.binary), browser, axe, databaseUrl: urls?.[place] };
  const world = await (file.open ?? World.open)(how);
  for (const story of stories) {
    const name = story.name.replaceAll("_", " ");
    const began = performance.now();
    const took = () => `${((performance.now() - began) / 1000).toFixed(1)} s`;
    try {
      await story(world);
      passed += 1;
      console.log(`ok       ${name} (${took()})`);
    } catch (error) {
      failed += 1;
      console.log(`FAILED   ${name} (${took()})\n${error.stack ?? error}`);
    }
  }
  await world.close();
}
await browser.close();
console.log(`${passed} passed, ${failed} failed, 0 skipped`);
process.exit(failed ? 1 : 0);
