const consumer = `${process.env.HERE}/v1/consumers/default`;

async function call(verb, body) {
  const response = await fetch(`${consumer}/${verb}`, {
    method: "POST",
    headers: { authorization: `Bearer ${process.env.KEY}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${verb}: ${response.status} ${await response.text()}`);
  return response.json();
}

async function work(event) {
  const body = Buffer.from(event.body, event.body_encoding);
  console.log(event.id, event.type, body.length);
}

for (;;) {
  try {
    const { events } = await call("claim", { max: 10, lease_seconds: 60, wait_seconds: 30 });
    for (const event of events) {
      try {
        await work(event);
        await call("ack", { leases: [event.lease] });
      } catch (error) {
        await call("nack", { leases: [{ lease: event.lease, outcome: "retry", error: String(error) }] });
      }
    }
  } catch (error) {
    console.error(error);
    await new Promise((resolve) => setTimeout(resolve, 5000));
  }
}
