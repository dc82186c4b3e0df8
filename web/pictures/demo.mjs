// What is pictured and walked: `restante demo`, the same that a newcomer runs, and a second server with a
// tenant in which nothing has happened and one whose every text is hostile or as long as can be.

import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Server, freePort, run } from "./server.mjs";

const PASSWORD = "correct horse battery staple";
const READY_MS = 180_000;

/** Calls the API of a server; the answer has to be a success. */
export async function api(base, key, method, path, body) {
  const answer = await fetch(`${base}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: body && JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer.status === 204 ? null : answer.json();
}

/** A running demo: where it is, the link that signs in, its API key. */
export class Demo {
  static async start(binary) {
    const child = spawn(binary, ["demo", "--listen", "127.0.0.1:0"], { stdio: ["ignore", "pipe", "pipe"] });
    let [out, err] = ["", ""];
    child.stderr.on("data", (bytes) => { err += bytes; });
    await new Promise((done, failed) => {
      const late = setTimeout(() => failed(new Error(`the demo is not ready: ${err}`)), READY_MS);
      child.once("exit", () => failed(new Error(`the demo has ended: ${err}`)));
      child.stdout.on("data", (bytes) => {
        out += bytes;
        if (!out.includes("restante sign")) return;
        clearTimeout(late);
        done();
      });
    });
    const find = (pattern) => out.match(pattern)[1];
    const demo = new Demo();
    Object.assign(demo, { child, base: find(/runs on (\S+)/), link: find(/(\/links\/\S+)/), key: find(/(rst_\S+)/) });
    return demo;
  }

  /** Signs in, in a browser's context: the link works once, so there is one session for all pages. */
  async signIn(context) {
    const page = await context.newPage();
    await page.goto(`${this.base}${this.link}`);
    if (!new URL(page.url()).pathname.startsWith("/t/")) {
      await Promise.all([page.waitForURL(/\/t\//), page.click("main form button")]);
    }
    await page.close();
  }

  /** The ids that the addresses of pages take, found as anybody finds them. */
  async ids(context) {
    const get = (path) => api(this.base, this.key, "GET", path);
    const ids = { tenant: "hearth-and-home" };
    for (const { name, id } of (await get("/v1/endpoints")).data) ids[name] = id;
    const first = async (query) => (await get(`/v1/events?limit=1&${query}`)).data[0].id;
    ids.failed = await first("consumer=billing&state=failed");
    ids.uncertain = await first("consumer=billing&state=uncertain");
    ids.unreadable = await first("consumer=default&state=failed");
    ids.waiting = await first("consumer=search-index&state=pending");
    let cursor = "";
    while (!ids.diverged) {
      const { data, next_cursor } = await get(`/v1/events?provider=stripe&limit=200${cursor}`);
      ids.diverged = data.find((event) => event.diverged)?.id;
      if (!ids.diverged && !next_cursor) throw new Error("no event has diverged");
      cursor = `&cursor=${next_cursor}`;
    }
    const page = await context.newPage();
    await page.goto(`${this.base}/t/${ids.tenant}/refusals`);
    ids.refusal = await page.locator("main table a").first().getAttribute("href");
    await page.goto(`${this.base}/admin/people`);
    ids.person = await page.locator("main table a").first().getAttribute("href");
    await page.goto(`${this.base}/admin/tenants`);
    ids.administered = await page.locator("main table a").first().getAttribute("href");
    await page.close();
    return ids;
  }

  async stop() {
    if (this.child.exitCode !== null) return;
    const gone = once(this.child, "exit");
    this.child.kill("SIGTERM");
    await gone;
  }
}

/** Would be markup, if it were taken for it; and it turns what follows around. */
export const HOSTILE = `"'><script>alert(1)</script><img src=x onerror=alert(1)>\u202e{{7*7}}`;

/** The second server. */
export class Bare {
  static async start(binary) {
    const folder = mkdtempSync(join(tmpdir(), "restante-pictures-"));
    const env = {
      RESTANTE_LISTEN: `127.0.0.1:${await freePort()}`,
      RESTANTE_DATA_DIR: folder,
      RESTANTE_ALLOW_VOLATILE: "1",
    };
    const bare = new Bare();
    Object.assign(bare, { folder, base: `http://${env.RESTANTE_LISTEN}`, server: await Server.start(binary, env) });
    const tenant = (slug, email) => {
      const args = ["bootstrap", "--tenant", slug, "--email", email, "--password-stdin", "--json"];
      return JSON.parse(run(binary, env, args, PASSWORD)).api_key;
    };
    tenant("fresh", "grace@example.com");
    const email = `${"a".repeat(64)}@${"long-".repeat(11)}name.example.com`;
    bare.people = { fresh: "grace@example.com", stress: email };
    bare.ids = await stress(bare.base, tenant("stress", email));
    return bare;
  }

  async signIn(context, who) {
    const page = await context.newPage();
    await page.goto(`${this.base}/sign-in`);
    await page.fill("#email", this.people[who]);
    await page.fill("#password", PASSWORD);
    await Promise.all([page.waitForURL(/\/t\/|\/account/), page.click("main form button")]);
    await page.close();
  }

  async stop() {
    await this.server.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A tenant whose texts are hostile or as long as can be. */
async function stress(base, key) {
  const secret = "picture-secret";
  const verify = {
    algorithm: "hmac-sha256", header: "X-Signature",
    event: { id: { json: "/id" }, type: { json: "/type" }, account: { json: "/account" } },
  };
  const long = (count) => `${HOSTILE} ${"unbroken".repeat(200)}`.slice(0, count);
  const made = await api(base, key, "POST", "/v1/endpoints", {
    name: long(118), provider: "custom", secrets: [secret], options: { verify },
  });
  const url = made.url.replace(/^https?:\/\/[^/]+/, base);
  const send = async (body, signature = createHmac("sha256", secret).update(body).digest("hex")) => {
    const headers = { "content-type": "application/json", "x-signature": signature, "x-note": "unbroken".repeat(60) };
    return (await fetch(url, { method: "POST", headers, body })).json();
  };
  const event = (more) => JSON.stringify({ id: long(300), type: long(250), account: long(200), text: HOSTILE, ...more });
  const ids = { endpoint: made.id, event: (await send(event())).id };
  await send(event({ text: long(1500) }));
  await send(event(), "0".repeat(64));
  for (const name of ["a".repeat(64), "z"]) await api(base, key, "POST", "/v1/consumers", { name });
  await send(event({ id: "evt_2" }));
  const { events } = await api(base, key, "POST", "/v1/consumers/default/claim", { max: 2 });
  const leases = events.map(({ lease }) => ({ lease, outcome: "failed", error: long(1900) }));
  await api(base, key, "POST", "/v1/consumers/default/nack", { leases });
  await api(base, key, "POST", `/v1/events/${ids.event}/replay`, { reason: long(1900) });
  await api(base, key, "POST", "/v1/keys", { name: long(118), scopes: ["events:read"] });
  return ids;
}
