// Prints requests, one JSON object a line, signed by the providers' own JavaScript libraries: the
// bodies are awkward on purpose, since a verifier that parses before it checks breaks on them.
import Stripe from "stripe";
import { sign as github } from "@octokit/webhooks-methods";
import { Webhook as Svix } from "svix";
import { Webhook as StandardWebhook } from "standardwebhooks";
import twilio from "twilio";

const at = Math.floor(Date.now() / 1000);
const awkward = [
  ["plain", { text: "paid" }],
  ["unicode", { text: "café 🚀 \u2028 </script>" }],
  ["empty", {}],
  ["numbers", { big: 9007199254740993n, small: 1e-7, text: "" }],
].map(([name, fields]) => [name, (known) => spaced({ ...known, ...fields })]);

/** JSON with odd spaces and a large integer as it is, which no JSON writer would give back. */
function spaced(value) {
  const text = JSON.stringify(value, (_, v) => (typeof v === "bigint" ? `@${v}@` : v), 1);
  return text.replace(/"@(\d+)@"/g, "$1").replace(/\n/g, "\r\n ");
}

function print(id, provider, secrets, url, headers, body, event) {
  const line = { id: `${provider}-${id}`, provider, secrets, extra: {}, at, method: "POST", url, headers, body, event };
  console.log(JSON.stringify(line));
}

const json = { "content-type": "application/json" };
const url = (provider) => `https://hooks.example.test/in/${provider}`;

const stripe = new Stripe("sk_test_none");
const stripeSecret = "whsec_4dz1Yb2kq0s7N3v5x8C6";
for (const [name, body] of awkward) {
  const event = `evt_${name}`;
  const payload = body({ id: event, object: "event", type: "invoice.paid" });
  const header = stripe.webhooks.generateTestHeaderString({ payload, secret: stripeSecret, timestamp: at });
  print(name, "stripe", [stripeSecret], url("stripe"), { ...json, "stripe-signature": header }, payload, event);
}

const githubSecret = "It's a Secret to Everybody";
for (const [name, body] of awkward) {
  const event = `72d3162e-cc78-11e3-81ab-${name.padEnd(12, "0").slice(0, 12)}`;
  const payload = body({ action: "opened" });
  const headers = { ...json, "x-github-event": "issues", "x-github-delivery": event, "x-hub-signature-256": await github(githubSecret, payload) };
  print(name, "github", [githubSecret], url("github"), headers, payload, event);
}

const standardSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
for (const [provider, prefix, signer] of [["svix", "svix", new Svix(standardSecret)], ["standard-webhooks", "webhook", new StandardWebhook(standardSecret)]]) {
  for (const [name, body] of awkward) {
    const event = `msg_${name}`;
    const payload = body({ type: "contact.updated" });
    const headers = { ...json, [`${prefix}-id`]: event, [`${prefix}-timestamp`]: String(at), [`${prefix}-signature`]: signer.sign(event, new Date(at * 1000), payload) };
    print(name, provider, [standardSecret], url(provider), headers, payload, event);
  }
}

const token = "twauthtoken0123456789abcdef00001";
for (const [name, text] of [["plain", "hello"], ["unicode", "café 🚀 + &="], ["empty", ""]]) {
  const sid = `SM${name.padEnd(32, "0").slice(0, 32)}`;
  const fields = { MessageSid: sid, AccountSid: "AC0123456789abcdef0123456789abcdef", MessageStatus: "sent", Body: text, From: "+14155550100" };
  const address = `${url("twilio")}?foo=1&bar=%C3%A9`;
  const headers = { "content-type": "application/x-www-form-urlencoded", "x-twilio-signature": twilio.getExpectedTwilioSignature(token, address, fields) };
  print(name, "twilio", [token], address, headers, new URLSearchParams(fields).toString(), sid);
}
