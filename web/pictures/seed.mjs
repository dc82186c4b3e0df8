// A believable week of a tenant: busy endpoints, one that fell silent, forgeries, repeats, a consumer that
// is behind, failures, an uncertain handoff, a diverged event, payloads that try to be markup. Everything
// takes the road that real requests take, with the server's clock in the past.

import { Server, run } from "./server.mjs";
import { acme, github, stripe } from "./senders.mjs";

const PASSWORD = "correct horse battery staple";
const DAY = 86_400;

export const people = { owner: "ada@example.com", password: PASSWORD };

const HOSTILE = `"'><script>alert(1)</script><img src=x onerror=alert(1)>\u202e{{7*7}}`;

/** Makes tenants `acme` (a week of events) and `fresh` (nothing). Gives ids for the pages. */
export async function seed(binary, env) {
  const base = `http://${env.RESTANTE_LISTEN}`;
  const bootstrap = (tenant, email) =>
    JSON.parse(run(binary, env, ["bootstrap", "--tenant", tenant, "--email", email, "--password-stdin", "--json"], PASSWORD));
  const ids = {};
  let key;

  const api = async (method, path, body) => {
    const answer = await fetch(`${base}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: body && JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer.status === 204 ? null : answer.json();
  };
  const send = async (url, { body, headers }) => {
    const answer = await fetch(url.replace(/^https?:\/\/[^/]+/, base), { method: "POST", headers, body });
    return answer.json();
  };
  const claim = async (consumer, max) =>
    (await api("POST", `/v1/consumers/${consumer}/claim`, { max, lease_seconds: 300, handler_version: "2026.11.4" })).events;
  const ack = (consumer, events) =>
    events.length && api("POST", `/v1/consumers/${consumer}/ack`, { leases: events.map((event) => event.lease) });
  const nack = (consumer, events, outcome, error) =>
    events.length &&
    api("POST", `/v1/consumers/${consumer}/nack`, { leases: events.map(({ lease }) => ({ lease, outcome, error })) });
  const drain = async (consumer) => {
    for (let events; (events = await claim(consumer, 200)).length; ) await ack(consumer, events);
  };

  const secrets = { stripe: "whsec_c2VjcmV0LW9mLXBpY3R1cmVz", github: "picture-secret-of-github", acme: "picture-secret-of-acme" };
  const urls = {};
  const make = async (name, provider, secret, options) => {
    const made = await api("POST", "/v1/endpoints", { name, provider, secrets: [secret], options });
    ids[name] = made.id;
    return made.url;
  };

  let server = await Server.start(binary, env, 7 * DAY);
  key = bootstrap("acme", people.owner).api_key;
  urls.payments = await make("Payments", "stripe", secrets.stripe);
  urls.code = await make("Repositories", "github", secrets.github);
  urls.orders = await make("Orders", "custom", secrets.acme, {
    verify: {
      algorithm: "hmac-sha256", header: "X-Acme-Signature", prefix: "sha256=",
      event: { id: { json: "/id" }, type: { json: "/type" } },
    },
  });
  await make("Shop EU", "shopify", "picture-secret-of-shopify");
  await api("POST", "/v1/consumers", { name: "billing", filter: { providers: ["stripe"] }, max_attempts: 3 });
  await api("POST", "/v1/consumers", { name: "search-index" });
  await api("POST", "/v1/consumers", { name: "deploys", filter: { endpoints: [ids.Repositories], types: ["push", "release"] } });

  const types = ["invoice.paid", "charge.succeeded", "customer.subscription.updated", "checkout.session.completed"];
  // From a week ago to now, every few hours a handful; Orders fell silent a day and a half ago.
  const hours = [];
  for (let ago = 7 * 24 - 4; ago > 26; ago -= 9) hours.push(ago);
  for (let ago = 23; ago >= 1; ago -= 2) hours.push(ago);
  for (const ago of hours) {
    await server.stop();
    server = await Server.start(binary, env, ago * 3600);
    const at = Math.floor(Date.now() / 1000) - ago * 3600;
    const busy = 4 + Math.round(6 * Math.abs(Math.sin(ago / 7)));
    for (let n = 0; n < busy; n++) {
      const event = stripe(secrets.stripe, at, { type: types[n % types.length], amount: 900 + 100 * n });
      await send(urls.payments, event);
      if (n % 5 === 4) await send(urls.payments, event);
    }
    for (let n = 0; n < busy / 3; n++) await send(urls.code, github(secrets.github, at, { type: n % 2 ? "push" : "issues" }));
    if (ago > 36) for (let n = 0; n < 3; n++) await send(urls.orders, acme(secrets.acme, at));
    if (ago === 7) for (let n = 0; n < 14; n++) await send(urls.payments, stripe("whsec_guessed", at));
    await drain("default");
    await drain("search-index");
    await drain("deploys");
    if (ago > 5) await drain("billing");
  }
  await server.stop();
  server = await Server.start(binary, env);
  const at = Math.floor(Date.now() / 1000);

  // Refused for several reasons.
  await send(urls.payments, stripe("whsec_guessed", at));
  await send(urls.payments, stripe(secrets.stripe, at - 3_000));
  await send(urls.code, { ...github(secrets.github, at), headers: { "content-type": "application/json" } });
  const reshaped = stripe(secrets.stripe, at);
  await send(urls.payments, { ...reshaped, body: JSON.stringify(JSON.parse(reshaped.body), null, 2) });

  // One event, three deliveries, two bodies.
  const first = stripe(secrets.stripe, at, { event: "evt_1Diverged0000000", amount: 4900 });
  ids.diverged = (await send(urls.payments, first)).id;
  await send(urls.payments, first);
  await send(urls.payments, stripe(secrets.stripe, at, { event: "evt_1Diverged0000000", amount: 5100 }));

  // Failures of two kinds at billing, and one that may have had an effect.
  for (let n = 0; n < 5; n++) await send(urls.payments, stripe(secrets.stripe, at, { type: "invoice.payment_failed" }));
  let events = await claim("billing", 4);
  await nack("billing", events.slice(0, 3), "failed", `customer cus_${3_000 + events.length} is not known here`);
  await nack("billing", events.slice(3), "uncertain", "the bank did not answer within 30 s");
  ids.uncertain = events[3].id;
  events = await claim("billing", 2);
  await nack("billing", events, "failed", "ERROR: deadlock detected (SQLSTATE 40P01)");
  ids.failed = events[0].id;
  await api("POST", `/v1/events/${ids.failed}/replay`, { consumer: "billing", reason: "the database was restarted" });
  events = await claim("billing", 500);
  const again = events.filter((event) => event.id === ids.failed);
  await nack("billing", again, "failed", "ERROR: deadlock detected (SQLSTATE 40P01)");
  await nack("billing", events.filter((event) => event.id !== ids.failed), "retry", "connection refused: db:5432");
  await drain("search-index");

  // What tries to be markup, and what can't be read.
  ids.hostile = (await send(urls.orders, acme(secrets.acme, at, { type: HOSTILE, event: HOSTILE, text: HOSTILE }))).id;
  const nameless = acme(secrets.acme, at);
  const { createHmac } = await import("node:crypto");
  const body = "no JSON at all: café \u0007";
  ids.unreadable = (
    await send(urls.orders, {
      body,
      headers: { ...nameless.headers, "x-acme-signature": `sha256=${createHmac("sha256", secrets.acme).update(body).digest("hex")}` },
    })
  ).id;
  ids.processed = (await api("GET", "/v1/events?consumer=search-index&state=processed&limit=1")).events?.[0]?.id;

  bootstrap("fresh", "grace@example.com");
  people.fresh = "grace@example.com";
  await new Promise((wait) => setTimeout(wait, 1_500)); // refusals are written each second
  return { server, ids };
}
