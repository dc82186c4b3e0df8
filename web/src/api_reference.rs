//! The API's description, from OpenAPI to what a page shows: operations by topic, each with its
//! parameters and fields in flat tables. It reads our own document, and only as much of OpenAPI as
//! stands in it.

use std::sync::OnceLock;

use serde_json::{Map, Value};

/// Fields of fields are shown to this depth, which also ends types that contain themselves.
const DEPTH_MAX: usize = 4;

/// The whole reference.
#[derive(Debug, Default)]
pub(crate) struct Reference {
    pub(crate) topics: Vec<Topic>,
    /// Its page as gzip, from the first time on that somebody asked for it.
    pub(crate) packed: OnceLock<Vec<u8>>,
}

/// Operations that belong together.
#[derive(Debug)]
pub(crate) struct Topic {
    pub(crate) name: String,
    pub(crate) operations: Vec<Operation>,
}

/// One method of one path.
#[derive(Debug)]
pub(crate) struct Operation {
    /// Where a link on the page leads.
    pub(crate) anchor: String,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) summary: String,
    pub(crate) description: String,
    /// The scope that a key needs; empty where none is needed.
    pub(crate) scope: String,
    pub(crate) parameters: Vec<Field>,
    pub(crate) request: Vec<Field>,
    pub(crate) answers: Vec<Answer>,
}

/// One answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: String,
    pub(crate) description: String,
    pub(crate) fields: Vec<Field>,
}

/// One parameter, or one field of a body.
#[derive(Debug, PartialEq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) required: bool,
    pub(crate) description: String,
}

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

impl Reference {
    /// Reads an OpenAPI document.
    pub(crate) fn read(document: &Value) -> Self {
        let mut topics: Vec<Topic> = Vec::new();
        let paths = document["paths"].as_object().into_iter().flatten();
        for (path, item) in paths {
            for method in METHODS {
                let Some(operation) = item.get(method) else { continue };
                let name = operation["tags"][0].as_str().unwrap_or("other");
                let operation = read_operation(document, method, path, operation);
                match topics.iter_mut().find(|topic| topic.name == name) {
                    Some(topic) => topic.operations.push(operation),
                    None => topics.push(Topic { name: name.to_owned(), operations: vec![operation] }),
                }
            }
        }
        Self { topics, packed: OnceLock::new() }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn read_operation(document: &Value, method: &str, path: &str, operation: &Value) -> Operation {
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let answers = operation["responses"].as_object().into_iter().flatten();
    let scope = operation["security"][0].as_object().and_then(|by| by.values().next());
    Operation {
        anchor: format!("{method}{}", path.replace(['/', '{', '}'], "-")),
        method: method.to_uppercase(),
        path: path.to_owned(),
        summary: text(&operation["summary"]),
        description: text(&operation["description"]),
        scope: scope.map(|scopes| text(&scopes[0])).unwrap_or_default(),
        parameters: parameters
            .map(|parameter| Field {
                name: text(&parameter["name"]),
                kind: kind(document, &parameter["schema"]),
                required: parameter["required"] == true,
                description: text(&parameter["description"]),
            })
            .collect(),
        request: body_fields(document, &operation["requestBody"]["content"]),
        answers: answers
            .map(|(status, answer)| Answer {
                status: if status == "default" { "errors".to_owned() } else { status.clone() },
                description: text(&answer["description"]),
                // Every error has the same fields; they stand once, at the top of the page.
                fields: if status == "default" {
                    Vec::new()
                } else {
                    body_fields(document, &answer["content"])
                },
            })
            .collect(),
    }
}

fn body_fields(document: &Value, content: &Value) -> Vec<Field> {
    let mut fields = Vec::new();
    if let Some(body) = content.as_object().and_then(|kinds| kinds.values().next()) {
        collect(document, &body["schema"], "", 0, &mut fields);
    }
    fields
}

/// Follows a reference within the document.
fn resolved<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    match schema["$ref"].as_str().and_then(|reference| reference.strip_prefix('#')) {
        Some(pointer) => document.pointer(pointer).unwrap_or(&Value::Null),
        None => schema,
    }
}

/// The one schema behind "this or null", or the schema itself.
fn without_null<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    let schema = resolved(document, schema);
    let choices = schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array());
    let mut real = choices.into_iter().flatten().filter(|choice| choice["type"] != "null");
    match (real.next(), real.next()) {
        (Some(only), None) => resolved(document, only),
        _ => schema,
    }
}

fn collect(document: &Value, schema: &Value, prefix: &str, depth: usize, fields: &mut Vec<Field>) {
    if depth >= DEPTH_MAX {
        return;
    }
    let schema = without_null(document, schema);
    if let Some(parts) = schema["allOf"].as_array() {
        for part in parts {
            collect(document, part, prefix, depth, fields);
        }
    }
    if schema.get("items").is_some() {
        collect(document, &schema["items"], &format!("{prefix}[]"), depth, fields);
    }
    let none = Map::new();
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, property) in schema["properties"].as_object().unwrap_or(&none) {
        let place = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        let description = match property["description"].as_str() {
            Some(own) => own.to_owned(),
            None => text(&without_null(document, property)["description"]),
        };
        fields.push(Field {
            name: place.clone(),
            kind: kind(document, property),
            required: required.contains(&name.as_str()),
            description,
        });
        collect(document, property, &place, depth + 1, fields);
    }
}

/// A type in words.
fn kind(document: &Value, schema: &Value) -> String {
    let schema = resolved(document, schema);
    if let Some(choices) = schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array()) {
        let mut kinds: Vec<String> = choices.iter().map(|choice| kind(document, choice)).collect();
        kinds.dedup();
        return kinds.join(" or ");
    }
    if let Some(values) = schema["enum"].as_array() {
        let values: Vec<String> = values.iter().map(ToString::to_string).collect();
        return values.join(" or ");
    }
    let one = |name: &str| match (name, schema["format"].as_str()) {
        ("array", _) => format!("list of {}", kind(document, &schema["items"])),
        ("integer", _) => "whole number".to_owned(),
        ("boolean", _) => "true or false".to_owned(),
        ("string", Some("date-time")) => "time (RFC 3339)".to_owned(),
        (other, _) => other.to_owned(),
    };
    match &schema["type"] {
        Value::String(name) => one(name),
        Value::Array(names) => {
            names.iter().filter_map(Value::as_str).map(one).collect::<Vec<_>>().join(" or ")
        }
        _ if schema.get("properties").is_some() || schema.get("allOf").is_some() => "object".to_owned(),
        _ => "any".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn document() -> Value {
        json!({
            "paths": {
                "/v1/things/{id}": {
                    "post": {
                        "tags": ["things"],
                        "summary": "Changes a thing",
                        "security": [{"key": ["config:write"]}],
                        "parameters": [
                            {"name": "id", "in": "path", "required": true, "schema": {"type": "string"}, "description": "Which."}
                        ],
                        "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}},
                        "responses": {
                            "200": {"description": "Done", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}},
                            "default": {"description": "Refused", "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Thing"}}}}
                        }
                    }
                },
                "/healthz": {"get": {"responses": {}}}
            },
            "components": {"schemas": {
                "Thing": {
                    "type": "object",
                    "required": ["name"],
                    "properties": {
                        "name": {"type": "string", "description": "What it is called."},
                        "size": {"type": ["integer", "null"]},
                        "mode": {"oneOf": [{"type": "null"}, {"$ref": "#/components/schemas/Mode"}]},
                        "parts": {"type": "array", "items": {"$ref": "#/components/schemas/Thing"}}
                    }
                },
                "Mode": {"type": "string", "enum": ["pull", "push"], "description": "How."}
            }}
        })
    }

    #[test]
    fn an_operation_is_read_with_its_scope_parameters_and_fields() {
        let reference = Reference::read(&document());
        let names: Vec<&str> = reference.topics.iter().map(|topic| topic.name.as_str()).collect();
        assert_eq!(names.len(), 2);
        let things = reference.topics.iter().find(|topic| topic.name == "things").unwrap();
        let operation = &things.operations[0];
        assert_eq!((operation.method.as_str(), operation.path.as_str()), ("POST", "/v1/things/{id}"));
        assert_eq!(operation.scope, "config:write");
        assert_eq!(operation.parameters[0].name, "id");
        let field = |name: &str| operation.request.iter().find(|field| field.name == name).unwrap();
        assert!(field("name").required && !field("size").required);
        assert_eq!(field("size").kind, "whole number or null");
        assert_eq!(field("mode").kind, "null or \"pull\" or \"push\"");
        assert_eq!(field("mode").description, "How.");
        assert_eq!(field("parts").kind, "list of object");
        assert_eq!(field("parts[].name").description, "What it is called.");
        assert_eq!(operation.answers[0].fields.len(), operation.request.len());
        assert!(operation.answers[1].fields.is_empty());
    }

    #[test]
    fn a_type_that_contains_itself_ends_and_rubbish_is_nothing() {
        let fields =
            &Reference::read(&document()).topics.iter().map(|topic| topic.operations.len()).sum::<usize>();
        assert_eq!(*fields, 2);
        assert!(Reference::read(&Value::Null).topics.is_empty());
        assert!(
            Reference::read(&json!({"paths": {"/x": {"get": 5}}})).topics[0].operations[0].request.is_empty()
        );
    }
}
