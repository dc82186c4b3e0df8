// Providers as they sign: enough of three of them for pictures.

import { createHmac, randomBytes } from "node:crypto";

const hmac = (secret, text) => createHmac("sha256", secret).update(text).digest("hex");
const id = () => randomBytes(9).toString("base64url").replace(/[-_]/g, "x");

/** A Stripe event: `at` is the time of signing in seconds. */
export function stripe(secret, at, { type = "invoice.paid", event = `evt_1${id()}`, amount = 4900, note } = {}) {
  const body = JSON.stringify({
    id: event,
    object: "event",
    api_version: "2026-06-24",
    created: at,
    livemode: true,
    type,
    data: { object: { id: `in_1${id()}`, amount_paid: amount, currency: "eur", customer: `cus_${id()}`, description: note } },
  });
  return {
    body,
    headers: {
      "content-type": "application/json; charset=utf-8",
      "user-agent": "Stripe/1.0 (+https://stripe.com/docs/webhooks)",
      "stripe-signature": `t=${at},v1=${hmac(secret, `${at}.${body}`)}`,
    },
    event,
  };
}

/** A GitHub event. */
export function github(secret, at, { type = "push", ref = "refs/heads/main" } = {}) {
  const body = JSON.stringify({ ref, repository: { full_name: "acme/shop" }, pusher: { name: "ada" } });
  return {
    body,
    headers: {
      "content-type": "application/json",
      "user-agent": "GitHub-Hookshot/044aadd",
      "x-github-event": type,
      "x-github-delivery": crypto.randomUUID(),
      "x-hub-signature-256": `sha256=${hmac(secret, body)}`,
    },
  };
}

/** An event of a system that the tenant described. */
export function acme(secret, at, { type = "order.placed", event = `ord_${id()}`, text = "two chairs" } = {}) {
  const body = JSON.stringify({ id: event, type, at, text });
  return { body, headers: { "content-type": "application/json", "x-acme-signature": `sha256=${hmac(secret, body)}` } };
}
