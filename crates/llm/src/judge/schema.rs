use serde_json::{Value, json};

/// Returns the strict schema of an object.
pub(super) fn object(properties: &[(&str, Value)]) -> Value {
    let names: Vec<&str> = properties.iter().map(|(name, _)| *name).collect();
    let fields: serde_json::Map<String, Value> =
        properties.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    json!({"type": "object", "properties": fields, "required": names, "additionalProperties": false})
}
