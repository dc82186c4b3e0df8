"""Prints requests signed by Slack's own Python library, as sign.mjs does for the others."""
import json, time
from slack_sdk.signature import SignatureVerifier

SECRET = "5d2f0b7c9a1e4f6380c2d4e6f8a0b1c3"
at = int(time.time())
for name, text in [("plain", "hello"), ("unicode", "café 🚀 \u2028"), ("empty", "")]:
    body = json.dumps({"type": "event_callback", "team_id": "T0", "event_id": f"Ev{name}", "event": {"type": "message", "text": text}},
                      indent=1, ensure_ascii=name == "plain")
    headers = {"content-type": "application/json", "x-slack-request-timestamp": str(at),
               "x-slack-signature": SignatureVerifier(SECRET).generate_signature(timestamp=str(at), body=body)}
    print(json.dumps({"id": f"slack-{name}", "provider": "slack", "secrets": [SECRET], "extra": {}, "at": at, "method": "POST",
                      "url": "https://hooks.example.test/in/slack", "headers": headers, "body": body, "event": f"Ev{name}"}))
