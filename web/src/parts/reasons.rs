//! The stable words for refusals, in words for people.

/// What a reason of refusal means, as a heading. Words that aren't known stand for themselves.
pub(crate) fn reason(word: &str) -> &str {
    match word {
        "missing_signature" => "Signature missing",
        "malformed_signature" => "Signature malformed",
        "signature_mismatch" => "Signature does not match",
        "ambiguous_header" => "A header came twice with two values",
        "missing_header" => "A signed header is missing",
        "timestamp_missing" => "Time of signing missing",
        "malformed_timestamp" => "Time of signing malformed",
        "timestamp_out_of_tolerance" => "Signed too long ago, or for the future",
        "token_mismatch" => "Token or password is another one",
        "body_hash_mismatch" => "Digest of the body does not match",
        "undecodable_body" => "Body can't be decoded",
        "algorithm_not_allowed" => "Algorithm not allowed",
        "verify_token_mismatch" => "Handshake with another verify token",
        "no_usable_secret" => "No secret that could be used",
        "method_not_allowed" => "Method not allowed",
        "decoded_too_large" | "too_large" => "Too large",
        "timeout" => "Body came too slowly",
        "rate" => "Over the rate limit",
        "suspended" => "The tenant was suspended",
        "full" => "The tenant held as much as it may",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use restante_core::verify::Reason;

    use super::*;

    #[test]
    fn every_reason_has_words() {
        for known in Reason::ALL {
            assert_ne!(reason(known.as_str()), known.as_str());
        }
        assert_eq!(reason("something else"), "something else");
    }
}
