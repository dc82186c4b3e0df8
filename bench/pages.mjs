// Fills a database (`restante fill`), starts the server on it, and asks for each page of the dashboard again
// and again, one after the other. What is measured is the time from the request to the last byte over
// loopback, the first request included. It fails when a page takes longer than 100 ms in the middle.
//
//   node pages.mjs --binary PATH --receipts NUMBER [--database-url URL] [--times 25] [--only WORD]

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { api } from "../web/pictures/demo.mjs";
import { pages } from "../web/pictures/pages.mjs";
import { Server, freePort } from "../web/pictures/server.mjs";

const MEDIAN_MS_MAX = 100;

const { values: asked } = parseArgs({
  options: {
    binary: { type: "string" },
    receipts: { type: "string", default: "1000000" },
    "database-url": { type: "string" },
    times: { type: "string", default: "25" },
    only: { type: "string", default: "" },
    folder: { type: "string" },
  },
});

const folder = asked.folder ?? mkdtempSync(join(tmpdir(), "restante-pages-"));
const env = {
  RESTANTE_LISTEN: `127.0.0.1:${await freePort()}`,
  RESTANTE_DATA_DIR: folder,
  RESTANTE_ALLOW_VOLATILE: "1",
  ...(asked["database-url"] && { RESTANTE_DATABASE_URL: asked["database-url"] }),
};
const base = `http://${env.RESTANTE_LISTEN}`;
let server;
process.exitCode = 1;
try {
  const began = performance.now();
  const said = execFileSync(asked.binary, ["fill", "--receipts", asked.receipts], {
    env: { ...process.env, ...env },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  const { receipts, link, api_key: key } = JSON.parse(said);
  const filled = ((performance.now() - began) / 1000).toFixed(0);
  console.log(`${receipts.toLocaleString("en")} receipts, filled in ${filled} s; ${cpus().length} cores, ${cpus()[0].model}`);
  server = await Server.start(asked.binary, env);
  const cookie = await signIn(link);
  const slow = await measure(await list(key, cookie), cookie);
  process.exitCode = slow.length ? 1 : 0;
  if (slow.length) console.log(`slower than ${MEDIAN_MS_MAX} ms: ${slow.join(", ")}`);
} finally {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** Uses a link as the browser does; gives the session's cookie. */
async function signIn(link) {
  const form = { method: "POST", redirect: "manual", headers: { origin: base } };
  const answer = await fetch(`${base}${link}`, form);
  const cookies = answer.headers.getSetCookie().map((cookie) => cookie.split(";")[0]);
  if (answer.status !== 303 || cookies.length === 0) throw new Error(`the link answers ${answer.status}`);
  return cookies.join("; ");
}

/** The pages of the tenant and the instance, and lists that are hard to make. */
async function list(key, cookie) {
  const text = async (path) => (await fetch(`${base}${path}`, { headers: { cookie } })).text();
  const get = (path) => api(base, key, "GET", path);
  const first = async (query) => (await get(`/v1/events?limit=1&${query}`)).data[0]?.id;
  const t = "/t/hearth-and-home";
  const ids = { tenant: "hearth-and-home" };
  for (const { name, id } of (await get("/v1/endpoints")).data) ids[name] = id;
  ids.failed = await first("consumer=billing&state=failed");
  ids.uncertain = await first("consumer=billing&state=uncertain");
  ids.unreadable = await first("consumer=default&state=failed");
  // Of the newest, which can be opened.
  ids.diverged = await first("provider=stripe");
  ids.refusal = (await text(`${t}/refusals`)).match(/"(\/t\/[^"]+\/refusals\/[^"]+)"/)?.[1] ?? `${t}/refusals`;
  ids.person = (await text("/admin/people")).match(/"(\/admin\/people\/[^"]+)"/)?.[1] ?? "/admin/people";
  const older = (await text(`${t}/events`)).match(/href="([^"]+)"[^>]*>Older/)?.[1].replaceAll("&amp;", "&");
  const ago = (days) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 16);
  const usual = pages(ids, {}).filter((one) => one.who === "owner" && !one.prepare);
  const event = (await get("/v1/events?limit=1")).data[0];
  return [
    ...usual,
    { name: "events, second page", path: older },
    { name: "events, 60 days back", path: `${t}/events?received_before=${ago(60)}` },
    { name: "events of an hour, 30 days back", path: `${t}/events?received_after=${ago(30)}&received_before=${ago(29.96)}` },
    { name: "events of one endpoint", path: `${t}/events?endpoint=${ids["Text messages"]}` },
    { name: "events of a type", path: `${t}/events?type=invoice.*` },
    { name: "events of a rare type", path: `${t}/events?type=nothing.*` },
    { name: "events, pending", path: `${t}/events?state=pending` },
    { name: "events, pending at one consumer", path: `${t}/events?state=pending&consumer=search-index` },
    { name: "events, failed", path: `${t}/events?state=failed` },
    { name: "events, failed, of a rare type", path: `${t}/events?state=failed&type=nothing.*` },
    { name: "events, processed, of one endpoint", path: `${t}/events?state=processed&endpoint=${ids.Warehouse}` },
    { name: "events, by event id", path: `${t}/events?event_id=${encodeURIComponent(event.event_id)}` },
    { name: "search for an event id", path: `${t}/search?q=${encodeURIComponent(event.event_id)}` },
    { name: "replay of all, counted", path: `${t}/replays/new?all=1` },
    { name: "replay of all pending, counted", path: `${t}/replays/new?all=1&state=pending&to=search-index` },
  ].filter((one) => one.path && one.name.includes(asked.only));
}

async function measure(list, cookie) {
  const slow = [];
  console.log("\n| page | median ms | worst ms | KB |\n| --- | ---: | ---: | ---: |");
  for (const { name, path } of list) {
    const took = [];
    let bytes = 0;
    for (let n = 0; n < Number(asked.times); n++) {
      const began = performance.now();
      const answer = await fetch(`${base}${path}`, { headers: { cookie, "x-live": "1" }, redirect: "manual" });
      bytes = (await answer.arrayBuffer()).byteLength;
      took.push(performance.now() - began);
      if (answer.status >= 500) throw new Error(`${path}: ${answer.status}`);
    }
    took.sort((a, b) => a - b);
    const median = took[Math.floor(took.length / 2)];
    console.log(`| ${name} | ${median.toFixed(1)} | ${took.at(-1).toFixed(1)} | ${(bytes / 1000).toFixed(0)} |`);
    if (median > MEDIAN_MS_MAX) slow.push(name);
  }
  return slow;
}
