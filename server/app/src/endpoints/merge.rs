//! JSON merge (RFC 7396) of an endpoint's options.

use serde_json::{Map, Value};

/// Merges a patch into a target: `null` removes, an object is merged, all else replaces.
pub(super) fn merge(target: &mut Map<String, Value>, patch: Map<String, Value>) {
    // The depth is bounded by the parser of the request.
    for (name, value) in patch {
        match value {
            Value::Null => {
                target.remove(&name);
            }
            Value::Object(patch) => {
                let inner = target.entry(name).or_insert(Value::Null);
                if !inner.is_object() {
                    *inner = Value::Object(Map::new());
                }
                if let Value::Object(inner) = inner {
                    merge(inner, patch);
                }
            }
            other => {
                target.insert(name, other);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The examples of RFC 7396, appendix A, whose target and patch are objects.
    #[test]
    fn the_examples_of_the_standard_come_out_as_it_says() {
        for (mut target, patch, wanted) in [
            (json!({"a":"b"}), json!({"a":"c"}), json!({"a":"c"})),
            (json!({"a":"b"}), json!({"b":"c"}), json!({"a":"b","b":"c"})),
            (json!({"a":"b"}), json!({"a":null}), json!({})),
            (json!({"a":"b","b":"c"}), json!({"a":null}), json!({"b":"c"})),
            (json!({"a":["b"]}), json!({"a":"c"}), json!({"a":"c"})),
            (json!({"a":"c"}), json!({"a":["b"]}), json!({"a":["b"]})),
            (json!({"a":{"b":"c"}}), json!({"a":{"b":"d","c":null}}), json!({"a":{"b":"d"}})),
            (json!({"a":[{"b":"c"}]}), json!({"a":[1]}), json!({"a":[1]})),
            (json!({"e":null}), json!({"a":1}), json!({"e":null,"a":1})),
            (json!({}), json!({"a":{"bb":{"ccc":null}}}), json!({"a":{"bb":{}}})),
        ] {
            let (Some(inner), Value::Object(patch)) = (target.as_object_mut(), patch) else { panic!() };
            merge(inner, patch);
            assert_eq!(target, wanted);
        }
    }
}
