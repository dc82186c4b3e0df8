import base64, json, os, time, urllib.request

CONSUMER = f"{os.environ['HERE']}/v1/consumers/default"
HEADERS = {"Authorization": f"Bearer {os.environ['KEY']}", "Content-Type": "application/json"}


def call(verb, body):
    request = urllib.request.Request(f"{CONSUMER}/{verb}", json.dumps(body).encode(), HEADERS)
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)


def work(event):
    body = base64.b64decode(event["body"]) if event["body_encoding"] == "base64" else event["body"].encode()
    print(event["id"], event["type"], len(body), flush=True)


while True:
    try:
        for event in call("claim", {"max": 10, "lease_seconds": 60, "wait_seconds": 30})["events"]:
            try:
                work(event)
                call("ack", {"leases": [event["lease"]]})
            except Exception as error:
                call("nack", {"leases": [{"lease": event["lease"], "outcome": "retry", "error": str(error)}]})
    except Exception as error:
        print(error)
        time.sleep(5)
