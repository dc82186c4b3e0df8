//! The body as JSON. Give the type `#[serde(deny_unknown_fields)]`: an unknown field is refused
//! with its pointer, since what is silently dropped is believed to be set.

use axum::extract::{FromRequest, Request};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue};
use restante_app::By;
use restante_core::limits::API_BODY_BYTES_MAX;
use restante_core::problem::{Code, Problem};
use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::error::Category;

use super::{explain, objects, token};
use crate::body::read_whole;
use crate::problem::Refused;
use crate::state::Api;

/// A body that has to be there; also an answer.
#[derive(Debug, Clone, Copy)]
pub struct Json<T>(pub T);

/// A body that may be left out, which then means `{}`.
#[derive(Debug, Clone, Copy)]
pub struct JsonOrEmpty<T>(pub T);

impl<T: DeserializeOwned> FromRequest<Api> for Json<T> {
    type Rejection = Refused;

    async fn from_request(request: Request, api: &Api) -> Result<Self, Refused> {
        if !is_json(request.headers()) {
            return Err(unsupported());
        }
        let bytes = whole(request, api).await?;
        read(&bytes).map(Self).map_err(Refused)
    }
}

impl<T: DeserializeOwned> FromRequest<Api> for JsonOrEmpty<T> {
    type Rejection = Refused;

    async fn from_request(request: Request, api: &Api) -> Result<Self, Refused> {
        let is_json = is_json(request.headers());
        let bytes = whole(request, api).await?;
        if bytes.is_empty() {
            return read(b"{}").map(Self).map_err(Refused);
        }
        if !is_json {
            return Err(unsupported());
        }
        read(&bytes).map(Self).map_err(Refused)
    }
}

/// The body of a request whose caller the route table has let in. It may have taken its time, and the
/// key may be none any more by then, so it is looked at again before anything is done with the body.
pub(super) async fn whole(request: Request, api: &Api) -> Result<Bytes, Refused> {
    let (parts, mut body) = request.into_parts();
    // Decoded at once, so its room in the budget need not be held.
    let bytes = match read_whole(&mut body, API_BODY_BYTES_MAX, api.deadlines, &api.budget).await {
        Ok(whole) => whole.bytes,
        Err(fault) => return Err(Refused(fault.problem(API_BODY_BYTES_MAX))),
    };
    if parts.extensions.get::<By>().is_some() {
        api.app.authenticate(&token(&parts.headers)?).await?;
    }
    Ok(bytes)
}

/// `application/json` or `application/…+json`, with any parameters.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let Some(text) = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()) else { return false };
    let kind = text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind.strip_prefix("application/").is_some_and(|rest| rest == "json" || rest.ends_with("+json"))
}

pub(super) fn unsupported() -> Refused {
    Refused(Problem::new(
        Code::UnsupportedMediaType,
        "The body has to be JSON: send it with `Content-Type: application/json`.",
    ))
}

pub(super) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = objects::read(&mut deserializer).map_err(|error| {
        let inner = error.inner();
        if inner.classify() != Category::Data {
            return not_json(inner);
        }
        // A field is at fault only where all of it is JSON.
        if let Err(error) = serde_json::from_slice::<IgnoredAny>(bytes) {
            return not_json(&error);
        }
        let said = explain::explain(error.path(), &inner.to_string());
        Problem::field(said.pointer, said.detail)
    })?;
    deserializer.end().map_err(|error| not_json(&error))?;
    Ok(value)
}

/// Says where it stops being JSON, and nothing of what stands there.
fn not_json(error: &serde_json::Error) -> Problem {
    let what = match error.classify() {
        Category::Eof => "ends too early",
        // serde_json goes 128 levels deep, and says so in no other way.
        _ if error.to_string().starts_with("recursion limit exceeded") => "is nested too deeply",
        _ => "is not JSON",
    };
    Problem::new(
        Code::Malformed,
        format!("The body {what}, at line {}, column {}.", error.line(), error.column()),
    )
}

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        match serde_json::to_vec(&self.0) {
            Ok(bytes) => {
                ([(CONTENT_TYPE, HeaderValue::from_static("application/json"))], bytes).into_response()
            }
            Err(error) => {
                tracing::error!(%error, "an answer can't be written as JSON");
                Refused(Problem::new(Code::Internal, "Restante could not write the answer.")).into_response()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use restante_core::id::EndpointId;
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "read by nobody but serde")]
    struct Inner {
        key: String,
        days: Option<u32>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Mode {
        Pull,
        Push,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "read by nobody but serde")]
    struct Body {
        name: String,
        #[serde(default)]
        secrets: Vec<String>,
        inner: Option<Inner>,
        mode: Option<Mode>,
        endpoint: Option<EndpointId>,
        #[serde(default)]
        list: Vec<Inner>,
        enabled: Option<bool>,
        any: Option<serde_json::Value>,
    }

    fn fault(text: &str) -> (u16, String, String) {
        let problem = read::<Body>(text.as_bytes()).unwrap_err();
        let pointer = problem.errors.first().map(|error| error.pointer.clone()).unwrap_or_default();
        (problem.code.status(), pointer, problem.detail)
    }

    #[test]
    fn what_is_not_json_is_malformed() {
        let deep = "[".repeat(200_000);
        let any_deep = format!(r#"{{"name":"a","any":{}1{}}}"#, "[".repeat(200), "]".repeat(200));
        for text in [
            "",
            "{",
            r#"{"name":}"#,
            r#"{"name":"a"} x"#,
            "nul",
            &deep,
            &any_deep,
            r#"{"name":"\ud800"}"#,
            // What is at fault before it stops being JSON is not what it is refused for.
            r#"{"name":5"#,
            r#"{"nam":1,}"#,
            "[1,",
        ] {
            assert_eq!(fault(text).0, 400, "{}", &text[..text.len().min(30)]);
        }
        assert_eq!(fault(&any_deep).2, "The body is nested too deeply, at line 1, column 145.");
        assert_eq!(read::<Body>(b"{\"name\":\"\xff\"}").unwrap_err().code, Code::Malformed);
    }

    #[test]
    fn a_field_at_fault_has_its_pointer() {
        for (text, pointer) in [
            (r#"{"name":"a","nam":1}"#, "/nam"),
            (r#"{"name":"a","a/b~c":1}"#, "/a~1b~0c"),
            (r#"{"name":"a","inner":{"key":"k","kex":1}}"#, "/inner/kex"),
            (r#"{"name":"a","list":[{"key":"k"},{"key":"k","kex":{}}]}"#, "/list/1/kex"),
            (r#"{}"#, "/name"),
            (r#"{"name":"a","inner":{}}"#, "/inner/key"),
            (r#"{"name":"a","list":[{}]}"#, "/list/0/key"),
            (r#"{"name":5}"#, "/name"),
            (r#"{"name":null}"#, "/name"),
            (r#"{"name":"a","secrets":["a",5]}"#, "/secrets/1"),
            (r#"{"name":"a","inner":{"key":"k","days":-1}}"#, "/inner/days"),
            (r#"{"name":"a","mode":"both"}"#, "/mode"),
            (r#"{"name":"a","endpoint":"rcp_1"}"#, "/endpoint"),
            (r#"{"name":"a","name":"b"}"#, "/name"),
            (r#"[]"#, ""),
            (r#""text""#, ""),
            (r#"{"name":"a","inner":[]}"#, "/inner"),
            (r#"{"name":"a","inner":["k",1]}"#, "/inner"),
            (r#"{"name":"a","list":[{"key":"k"},["k"]]}"#, "/list/1"),
        ] {
            let (status, found, detail) = fault(text);
            assert_eq!((status, found.as_str()), (422, pointer), "{text}: {detail}");
        }
    }

    #[test]
    fn a_sentence_says_what_would_be_right_and_never_what_was_sent() {
        for (text, sentence) in [
            (
                r#"{"name":"a","nam":1}"#,
                "There is no field `nam` here. The fields are: name, secrets, inner, mode, endpoint, list, enabled, any.",
            ),
            (r#"{}"#, "The field `name` is missing."),
            (r#"{"name":"a","secrets":"whsec_canary"}"#, "It has to be a list, and is a string."),
            (r#"{"name":7}"#, "It has to be a string, and is a number."),
            (r#"{"name":null}"#, "It has to be a string, and is null."),
            (
                r#"{"name":"a","enabled":"canary, expected a"}"#,
                "It has to be true or false, and is a string.",
            ),
            (
                r#"{"name":"a","inner":{"key":"k","days":-1}}"#,
                "It has to be a whole number from 0 to 4294967295.",
            ),
            (r#"{"name":"a","mode":"canary"}"#, "It has to be one of: pull, push."),
            (r#"{"name":"a","name":"b"}"#, "The field `name` stands twice."),
            (r#"["a"]"#, "It has to be an object, and is a list."),
            (r#"{"name":"a","inner":["k"]}"#, "It has to be an object, and is a list."),
            (r#"{"name":"a","list":{}}"#, "It has to be a list, and is an object."),
            (r#""text""#, "It has to be an object, and is a string."),
        ] {
            assert_eq!(fault(text).2, sentence, "{text}");
        }
    }

    #[test]
    fn json_is_known_by_its_type() {
        let sent = |text: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(text));
            is_json(&headers)
        };
        for yes in ["application/json", "Application/JSON; charset=utf-8", "application/merge-patch+json"] {
            assert!(sent(yes), "{yes}");
        }
        for no in ["text/plain", "text/json", "application/jsonp", "application/x-www-form-urlencoded", ""] {
            assert!(!sent(no), "{no}");
        }
        assert!(!is_json(&HeaderMap::new()));
    }
}
