//! What the demo says when it is ready: where to look, and what to try. Every command works as it stands.

use std::fmt::Write as _;
use std::net::SocketAddr;

use restante_core::token::LinkToken;

use super::cast::Cast;

/// The whole text.
pub(super) fn text(address: SocketAddr, cast: &Cast, link: &LinkToken) -> String {
    let here = format!("http://{address}");
    let key = cast.api_key.expose();
    let auth = format!("-H 'Authorization: Bearer {key}'");
    let post = format!("curl -sS {auth} -H 'Content-Type: application/json'");
    let mut text = format!(
        "Restante's demo runs on {here} until Ctrl-C ends it; then all of it is removed.\n\n\
         Sign in with this link, once:\n  {here}/links/{}\n\n\
         Things to find in the week that has passed:\n  \
         the consumer search-index, down since yesterday with all that waits for it\n  \
         failures of two kinds at billing, and a transfer of which nobody knows whether it went out\n  \
         59 forgeries, and a proxy that changed a body on its way\n  \
         an invoice that came twice with different bytes, and a repair that waits\n  \
         the endpoint Warehouse, which has fallen silent\n\n\
         The API key of the tenant, with every scope:\n  {key}\n\n\
         Its endpoints, which go on getting signed, repeated and forged requests:\n",
        link.expose()
    );
    for sender in &cast.senders {
        let _ = writeln!(text, "  {:<8} {}", sender.kind.provider, sender.url);
    }
    let _ = write!(
        text,
        "\nWhat came in:\n  curl -sS {auth} '{here}/v1/events?limit=5'\n\n\
         Claim two events as an application does, for a minute:\n  \
         {post} -d '{{\"max\":2,\"lease_seconds\":60}}' {here}/v1/consumers/default/claim\n\n\
         Acknowledge one of them, with the lease that the claim gave:\n  \
         {post} -d '{{\"leases\":[\"LEASE\"]}}' {here}/v1/consumers/default/ack\n\n\
         What was counted:\n  curl -sS {auth} '{here}/v1/stats?window=1h'\n"
    );
    if let Some(first) = cast.senders.first() {
        let _ = write!(
            text,
            "\nSign a request of your own; it prints the command that sends it:\n  \
             restante sign --provider {} --secret {} --url {}\n",
            first.kind.provider, first.secret, first.url
        );
    }
    text
}
