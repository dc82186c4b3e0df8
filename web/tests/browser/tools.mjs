// What every story stands on: a program, a browser, pages that are watched, and the few moves that
// people make again and again. A page that logs an error, opens a dialog or runs what it should only
// show has failed, whatever its story goes on to say.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { watched } from "../../pictures/checks.mjs";
import { Server, freePort, run } from "../../pictures/server.mjs";

export { axeFindings, overflowing, watched } from "../../pictures/checks.mjs";

export const PASSWORD = "correct horse battery staple";
/** Nothing that a page waits for takes as long; it is only how long a failure takes to be told. */
const PATIENCE_MS = 15_000;

/** Loads what npm brought into a folder. */
export function tools(modules) {
  const require = createRequire(join(modules, "node_modules/"));
  return {
    chromium: require("playwright-core").chromium,
    axe: readFileSync(require.resolve("axe-core/axe.min.js"), "utf8"),
  };
}

/** A server on a folder or database of its own, with a browser that talks to it. */
export class World {
  static async open({ binary, browser, axe, databaseUrl }) {
    const folder = mkdtempSync(join(tmpdir(), "restante-browser-"));
    const env = {
      RESTANTE_LISTEN: `127.0.0.1:${await freePort()}`,
      RESTANTE_DATA_DIR: folder,
      RESTANTE_ALLOW_VOLATILE: "1",
      ...(databaseUrl && { RESTANTE_DATABASE_URL: databaseUrl }),
    };
    const world = new World();
    Object.assign(world, { binary, browser, axe, folder, env, base: `http://${env.RESTANTE_LISTEN}`, contexts: [] });
    // By the name that people call it.
    mkdirSync(join(folder, "bin"));
    symlinkSync(binary, join(folder, "bin", "restante"));
    world.server = await Server.start(binary, env);
    return world;
  }

  /** What the server has said on its standard error; waits for it. */
  async said(pattern) {
    for (let tries = 0; tries < 100; tries++) {
      const found = this.server.said.match(pattern);
      if (found) return found[0];
      await new Promise((wait) => setTimeout(wait, 100));
    }
    throw new Error(`the server did not say ${pattern}: ${this.server.said}`);
  }

  async close() {
    for (const context of this.contexts) await context.close();
    await this.server.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** A browser of a person, who has nothing open yet. */
  async person(options = {}) {
    const context = await this.browser.newContext({
      viewport: { width: 1280, height: 900 },
      baseURL: this.base,
      reducedMotion: "reduce",
      ...options,
    });
    context.setDefaultTimeout(PATIENCE_MS);
    this.contexts.push(context);
    return watched(await context.newPage());
  }

  /** The program makes a tenant with its owner; gives an API key with every scope. */
  tenant(slug, email) {
    const args = ["bootstrap", "--tenant", slug, "--email", email, "--password-stdin", "--json"];
    return JSON.parse(run(this.binary, this.env, args, PASSWORD)).api_key;
  }

  async signIn(page, email, password = PASSWORD) {
    await page.goto("/sign-in");
    await page.fill("#email", email);
    await page.fill("#password", password);
    await Promise.all([page.waitForURL((url) => url.pathname !== "/sign-in"), page.click("main form button")]);
  }

  /** Calls the API; the answer has to be a success. */
  async api(key, method, path, body) {
    const answer = await fetch(`${this.base}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: body && JSON.stringify(body),
    });
    const text = await answer.text();
    assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`);
    return text && JSON.parse(text);
  }

  /** Runs a line that `restante` printed or a page shows, as a person would paste it. */
  paste(line, env = {}) {
    const path = `${join(this.folder, "bin")}:${process.env.PATH}`;
    const done = spawnSync("bash", ["-e", "-o", "pipefail", "-c", line], {
      env: { ...process.env, PATH: path, ...env },
      encoding: "utf8",
    });
    assert.equal(done.status, 0, `${line}: ${done.stderr}`);
    return done.stdout.trim();
  }

  /** Sends what the provider would send; gives the answer. */
  send(url, secret, { id, type, data, provider = "stripe" } = {}) {
    const more = [id && `--id '${id}'`, type && `--type '${type}'`, data && `--data '${data}'`].filter(Boolean).join(" ");
    const command = this.paste(`restante sign --provider ${provider} --secret '${secret}' --url '${url}' ${more}`);
    return this.paste(command);
  }
}

/** That nothing went wrong on a page since it was opened. */
export function calm(page) {
  assert.deepEqual(page.faults, [], "what the browser complains of");
}

/** The words of what is there, however they are set. */
export async function text(page, selector) {
  return (await page.locator(selector).first().innerText()).replace(/\s+/g, " ").trim();
}

/** Goes to a page and gives the status of its answer. */
export async function status(page, path) {
  return (await page.goto(path)).status();
}

/** Follows a link or presses a button, and waits for the page that it leads to. */
export async function follow(page, selector) {
  await Promise.all([page.waitForNavigation(), page.locator(selector).first().click()]);
}
