//! A value on its way from one database to the other.

use serde_json::{Value, json};

/// A value as SQLite keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cell {
    Null,
    Int(i64),
    Text(String),
    Blob(Vec<u8>),
}

impl Cell {
    pub(super) const fn bytes(&self) -> usize {
        match self {
            Self::Null | Self::Int(_) => 8,
            Self::Text(text) => text.len(),
            Self::Blob(bytes) => bytes.len(),
        }
    }

    fn to_json(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Int(number) => json!(number),
            Self::Text(text) => json!({ "text": text }),
            Self::Blob(bytes) => json!({ "hex": hex::encode(bytes) }),
        }
    }

    fn from_json(value: &Value) -> Option<Self> {
        match value {
            Value::Null => Some(Self::Null),
            Value::Number(number) => number.as_i64().map(Self::Int),
            Value::Object(_) => match (&value["text"], &value["hex"]) {
                (Value::String(text), _) => Some(Self::Text(text.clone())),
                (_, Value::String(digits)) => hex::decode(digits).ok().map(Self::Blob),
                _ => None,
            },
            _ => None,
        }
    }
}

/// The key of a row as it is noted down.
pub(super) fn write_key(key: &[Cell]) -> String {
    Value::Array(key.iter().map(Cell::to_json).collect()).to_string()
}

/// Reads what was noted down.
pub(super) fn read_key(text: &str) -> Option<Vec<Cell>> {
    let Ok(Value::Array(cells)) = serde_json::from_str(text) else { return None };
    cells.iter().map(Cell::from_json).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_reads_back_as_it_was_noted() {
        let key = [Cell::Null, Cell::Int(i64::MIN), Cell::Text("a\"é".to_owned()), Cell::Blob(vec![0, 255])];
        assert_eq!(read_key(&write_key(&key)).as_deref(), Some(&key[..]));
        assert_eq!(read_key("{}"), None);
        assert_eq!(read_key("[true]"), None);
    }
}
