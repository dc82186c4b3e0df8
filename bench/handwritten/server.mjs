// The webhook handler that a careful team writes by hand, with Express and pg: raw bytes, signature, receipt under
// a unique key with the payload, commit, and only then a 2xx. Restante's benchmark runs it beside Restante.
// It does nothing else: no encryption, no log line, no hand-off, no counters, so it is a strong opponent.
//
// Settings: DATABASE_URL, WEBHOOK_SECRET, PORT (0 takes a free one); POOL_SIZE; WORKERS (processes);
// COMMIT=statement (one statement is the transaction) or COMMIT=transaction (BEGIN, INSERT, COMMIT).

import cluster from "node:cluster";
import { createHmac, timingSafeEqual } from "node:crypto";
import express from "express";
import pg from "pg";

const secret = process.env.WEBHOOK_SECRET;
const poolSize = Number(process.env.POOL_SIZE ?? 10);
const workers = Number(process.env.WORKERS ?? 1);
const explicit = process.env.COMMIT === "transaction";
const toleranceSeconds = 300;

// Stripe-Signature: t=<unix seconds>,v1=<hex>[,v1=<hex>…]; the signed bytes are "<t>.<body>".
function verify(rawBody, header) {
  if (typeof header !== "string") return false;
  let timestamp = null;
  const signatures = [];
  for (const entry of header.split(",")) {
    if (entry.startsWith("t=")) timestamp = entry.slice(2);
    else if (entry.startsWith("v1=")) signatures.push(entry.slice(3));
  }
  if (timestamp === null || !/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > toleranceSeconds) return false;
  const expected = createHmac("sha256", secret).update(`${timestamp}.`).update(rawBody).digest();
  return signatures.some((hex) => {
    if (!/^[0-9a-f]{64}$/i.test(hex)) return false;
    return timingSafeEqual(Buffer.from(hex, "hex"), expected);
  });
}

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: poolSize, min: poolSize });

// A named statement is prepared once a connection.
const insert = {
  name: "receive",
  text: `INSERT INTO webhook_receipts (provider, event_id, event_type, account, payload)
         VALUES ('stripe', $1, $2, $3, $4)
         ON CONFLICT (provider, event_id) DO NOTHING
         RETURNING event_id`,
};

// Resolves after the COMMIT: a statement outside of a transaction block is a transaction of its own.
async function receive(event, rawBody) {
  const values = [event.id, event.type, event.account ?? null, rawBody];
  if (!explicit) return (await pool.query({ ...insert, values })).rowCount === 1;

  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    const result = await client.query({ ...insert, values });
    await client.query("COMMIT");
    return result.rowCount === 1;
  } catch (error) {
    await client.query("ROLLBACK");
    throw error;
  } finally {
    client.release();
  }
}

const app = express();
app.disable("x-powered-by");
app.disable("etag");

app.post("/webhooks/stripe", express.raw({ type: () => true, limit: "1mb" }), async (request, response) => {
  if (!verify(request.body, request.headers["stripe-signature"])) {
    response.status(401).json({ error: "signature" });
    return;
  }
  let event;
  try {
    event = JSON.parse(request.body);
  } catch {
    response.status(400).json({ error: "not JSON" });
    return;
  }
  if (typeof event?.id !== "string" || typeof event.type !== "string") {
    response.status(400).json({ error: "no event id or type" });
    return;
  }
  const isNew = await receive(event, request.body);
  response.status(200).json({ status: isNew ? "accepted" : "duplicate" });
});

app.use((error, _request, response, _next) => {
  console.error(error.message);
  response.status(error.status ?? 503).json({ error: "unavailable" });
});

if (cluster.isPrimary && workers > 1) {
  for (let n = 0; n < workers; n += 1) cluster.fork();
} else {
  const server = app.listen(Number(process.env.PORT ?? 0), "127.0.0.1", 1024, () => {
    console.log(`listening on 127.0.0.1:${server.address().port}`);
  });
  server.keepAliveTimeout = 60_000;
}
