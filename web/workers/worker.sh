while :; do
  CLAIMED=$(curl -fsS "$HERE/v1/consumers/default/claim" -H "Authorization: Bearer $KEY" \
    -H 'Content-Type: application/json' -d '{"max":1,"wait_seconds":30}') || { sleep 5; continue; }
  LEASE=$(printf '%s' "$CLAIMED" | sed -n 's/.*"lease":"\([^"]*\)".*/\1/p')
  [ -n "$LEASE" ] || continue
  printf '%s\n' "$CLAIMED"
  curl -sS "$HERE/v1/consumers/default/ack" -H "Authorization: Bearer $KEY" \
    -H 'Content-Type: application/json' -d "{\"leases\":[\"$LEASE\"]}"
done
