//! What each kind of error means and what to do about it, in sentences for the person who got one.

use restante_core::problem::Code;

/// The text of one kind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ErrorText {
    /// When it is answered.
    pub(crate) meaning: &'static str,
    /// What helps.
    pub(crate) remedies: &'static [&'static str],
}

/// The text of a kind.
pub(crate) const fn error_text(code: Code) -> ErrorText {
    let (meaning, remedies): (_, &[_]) = match code {
        Code::Malformed => (
            "The request is not what HTTP or JSON asks for: the body is no JSON, it ended early, a header stands \
             twice that may stand once, or the request gives its length in two ways.",
            &[
                "`detail` says what can't be read; of JSON it names line and column.",
                "Let a JSON library write the body rather than joining texts.",
            ],
        ),
        Code::BadCursor => (
            "The `cursor` is not one that this list gave out, or it belongs to another query.",
            &[
                "Take `next_cursor` from the last answer as it is, and keep the other parameters the same.",
                "Leave the cursor out to begin anew.",
            ],
        ),
        Code::Unauthorized => (
            "No usable API key came with the request: there is none, it is mistyped, it was deleted, or it has \
             expired. One that is mistyped and one that was deleted are answered alike.",
            &[
                "Send the key as `Authorization: Bearer rst_…`. HTTP basic with the key as the user name works too.",
                "A key is shown once, when it is made. A lost one can't be shown again; make a new one.",
                "Of a delivery: it is not signed as the endpoint expects, or its signed time is too far off. Its sender is \
                 not told more; the log, and the figures of the endpoint, name the reason.",
            ],
        ),
        Code::MissingScope => (
            "The API key is valid, and lacks the scope that this route asks for. `detail` names the scope.",
            &["Use a key that has the scope, or make one: a key can grant only scopes that it has itself."],
        ),
        Code::NotFound => (
            "There is nothing of that id or name for this caller. What belongs to another tenant is answered in the \
             same way as what does not exist.",
            &[
                "Look at the id's beginning: `ep_` is an endpoint, `rcp_` an event, `key_` an API key.",
                "Check that the key belongs to the tenant that you mean.",
                "Of a delivery: the endpoint's URL is wrong, or the endpoint was deleted.",
            ],
        ),
        Code::MethodNotAllowed => (
            "The address exists, and does not take this method.",
            &["The header `Allow` lists the methods that it takes."],
        ),
        Code::Conflict => (
            "The request is right, and the present state does not allow it: a name is taken, or an event waits for its \
             repair.",
            &["`detail` says what stands in the way. Change that, then send the request again."],
        ),
        Code::Gone => (
            "The event is known, and its payload is not kept any more: retention removed it, or somebody erased it.",
            &["The event itself stays listed. Its body can only come from the provider again."],
        ),
        Code::TooLarge => (
            "The body is larger than what is accepted: 1 MiB for the API, and for deliveries the endpoint's limit.",
            &[
                "An endpoint's limit is its `max_body_bytes`; the operator of this server sets the most that it can be.",
            ],
        ),
        Code::Timeout => (
            "The body did not come in time. Its first byte has ten seconds, the whole of it twenty.",
            &["Send the request again. A proxy in between that holds bodies back can be the cause."],
        ),
        Code::UnsupportedMediaType => (
            "The body has to be JSON, and its `Content-Type` says otherwise.",
            &["Send `Content-Type: application/json`."],
        ),
        Code::Invalid => (
            "The request can be read, and something in it can't be right: a field that is not known, that is missing, \
             or whose value is out of bounds. Nothing was changed.",
            &[
                "`errors` lists each fault: `pointer` is the place in the body (RFC 6901) or the name of a query \
                 parameter, `detail` what would be right.",
            ],
        ),
        Code::RateLimited => (
            "More requests came than the operator of this server allows for the endpoint or the tenant.",
            &["Wait for the seconds that `Retry-After` names. Providers do so by themselves."],
        ),
        Code::Unavailable => (
            "It can't be done now, and later it can: the database is away or full, the server is busy or about to \
             stop, or an endpoint is disabled. Nothing was stored; only where the answer of the database got lost, it may have been.",
            &[
                "Send the same request again after the seconds that `Retry-After` names; a POST that makes something \
                 with the same `Idempotency-Key`.",
                "For the operator: `/readyz` tells whether the server can commit, and its log says why not.",
            ],
        ),
        Code::Internal => (
            "Restante itself failed. The request may or may not have been carried out.",
            &[
                "`request_id` is the id under which the server's log says what happened; give it to the operator.",
                "A POST with an `Idempotency-Key` can be sent again safely.",
            ],
        ),
    };
    ErrorText { meaning, remedies }
}
