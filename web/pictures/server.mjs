// The real program on a folder of its own, started at a time of our choice.

import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";

/** A port that is free at this moment. */
export async function freePort() {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  return port;
}

/** Runs a command of the program that ends by itself; gives its standard output. */
export function run(binary, env, args, input = "") {
  const done = spawnSync(binary, args, { env: { ...process.env, ...env }, input, encoding: "utf8" });
  if (done.status !== 0) throw new Error(`restante ${args.join(" ")}: ${done.stderr}`);
  return done.stdout.trim();
}

/** Where Debian's package `faketime` puts its library. */
function faketime() {
  for (const machine of ["x86_64-linux-gnu", "aarch64-linux-gnu"]) {
    const path = `/usr/lib/${machine}/faketime/libfaketime.so.1`;
    if (existsSync(path)) return path;
  }
  throw new Error("libfaketime is not there; type: apt-get install faketime");
}

/** A running server. */
export class Server {
  /** Starts it; `ago` is how many seconds in the past its clock stands, which takes libfaketime. */
  static async start(binary, env, ago = 0) {
    // Preloaded, since the command `faketime` would stand between us and the server's end.
    const past = ago > 0 ? { LD_PRELOAD: faketime(), FAKETIME: `-${ago}s`, FAKETIME_DONT_FAKE_MONOTONIC: "1" } : {};
    const child = spawn(binary, ["serve"], {
      env: { ...process.env, ...env, ...past },
      stdio: ["ignore", "ignore", "pipe"],
    });
    const server = new Server();
    server.child = child;
    server.said = "";
    child.stderr.on("data", (bytes) => { server.said += bytes; });
    const base = `http://${env.RESTANTE_LISTEN}`;
    for (let tries = 0; ; tries++) {
      if (child.exitCode !== null || tries > 300) throw new Error(`the server did not start: ${server.said}`);
      try {
        if ((await fetch(`${base}/readyz`)).ok) return server;
      } catch { /* not yet */ }
      await new Promise((wait) => setTimeout(wait, 100));
    }
  }

  /** Stops it and waits until it is gone. */
  async stop() {
    if (this.child.exitCode !== null) return;
    const gone = once(this.child, "exit");
    this.child.kill("SIGTERM");
    await gone;
  }
}
