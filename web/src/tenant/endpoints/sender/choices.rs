//! What can be chosen in the form's lists.

use super::{JSON_OR_DIGEST, Sender};
use crate::tenant::choices::Choice;

impl Sender {
    pub(crate) fn algorithms(&self) -> Vec<Choice> {
        let all = [
            ("hmac-sha256", "HMAC-SHA256"),
            ("hmac-sha1", "HMAC-SHA1"),
            ("hmac-sha512", "HMAC-SHA512"),
            ("ed25519", "Ed25519, a public key"),
            ("ecdsa-p256", "ECDSA P-256, a public key"),
            ("token", "a token that is the secret itself"),
            ("basic", "HTTP basic, the secret is user:password"),
        ];
        all.map(|(word, label)| Choice::labelled(word, label, &self.algorithm)).into()
    }

    pub(crate) fn encodings(&self) -> Vec<Choice> {
        ["hex", "base64"].map(|word| Choice::plain(word, &self.encoding)).into()
    }

    pub(crate) fn secret_encodings(&self) -> Vec<Choice> {
        let all = [
            ("utf8", "the text as it is"),
            ("hex", "hex"),
            ("base64", "base64"),
            ("pem", "PEM, a public key"),
        ];
        all.map(|(word, label)| Choice::labelled(word, label, &self.secret_encoding)).into()
    }

    pub(crate) fn time_places(&self) -> Vec<Choice> {
        let all = [
            ("", "the sender signs no time"),
            ("header", "in a header"),
            ("entry", "in an entry of the signature’s header"),
            ("json", "in the body, at a JSON pointer"),
        ];
        all.map(|(word, label)| Choice::labelled(word, label, &self.time_in)).into()
    }

    /// How a time is written.
    pub(crate) fn units(&self, present: &str) -> Vec<Choice> {
        let all = [("s", "seconds since 1970"), ("ms", "milliseconds since 1970"), ("rfc3339", "RFC 3339")];
        all.map(|(word, label)| Choice::labelled(word, label, present)).into()
    }

    /// Where an id, a type or an account can stand.
    pub(crate) fn places(&self, present: &str, none: &'static str) -> Vec<Choice> {
        let all = [("json", "in the body, at a JSON pointer"), ("header", "in a header"), ("", none)];
        all.map(|(word, label)| Choice::labelled(word, label, present)).into()
    }

    /// The same for the id, which can also be the digest of the body.
    pub(crate) fn id_places(&self) -> Vec<Choice> {
        let mut places = self.places(&self.id_in, "there is none: each delivery is an event");
        places.insert(1, Choice::labelled(JSON_OR_DIGEST, "in the body, else its digest", &self.id_in));
        places.insert(3, Choice::labelled("digest", "the digest of the body", &self.id_in));
        places
    }

    /// What makes two deliveries the same event; one that only JSON can say stays among the choices.
    pub(crate) fn unique_by_choices(&self) -> Vec<Choice> {
        let mut all = vec![("id,type", "the same id and type"), ("id", "the same id")];
        if !all.iter().any(|(word, _)| *word == self.unique_by) {
            all.push((&self.unique_by, &self.unique_by));
        }
        all.into_iter().map(|(word, label)| Choice::labelled(word, label, &self.unique_by)).collect()
    }

    pub(crate) fn compressed_bodies(&self) -> Vec<Choice> {
        let all = [("received", "the bytes as they came"), ("decoded", "the bytes after decoding")];
        all.map(|(word, label)| Choice::labelled(word, label, &self.compressed_body)).into()
    }
}
