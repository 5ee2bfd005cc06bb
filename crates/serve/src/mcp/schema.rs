//! JSON Schemas of the tools' arguments and answers.

use std::sync::Arc;

use rmcp::model::JsonObject;
use rmcp::schemars::generate::SchemaSettings;
use rmcp::schemars::{JsonSchema, Schema};
use serde_json::Value;

/// The schema of what is read.
pub(super) fn input<T: JsonSchema>() -> Arc<JsonObject> {
    of(SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>())
}

/// The schema of what is written.
pub(super) fn output<T: JsonSchema>() -> Arc<JsonObject> {
    of(SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>())
}

fn of(schema: Schema) -> Arc<JsonObject> {
    let mut schema = schema.to_value();
    plain(&mut schema);
    match schema {
        Value::Object(mut object) => {
            // The tool has a name and a description of its own.
            for key in ["$schema", "title", "description"] {
                object.remove(key);
            }
            Arc::new(object)
        }
        _ => Arc::default(),
    }
}

/// Takes out the widths of numbers (`uint64`): validators know no such format and say so each time.
fn plain(value: &mut Value) {
    match value {
        Value::Object(object) => {
            let is_number = object.get("type").is_some_and(|kind| {
                let is = |kind: &Value| matches!(kind.as_str(), Some("integer" | "number"));
                is(kind) || kind.as_array().is_some_and(|kinds| kinds.iter().any(is))
            });
            if is_number {
                object.remove("format");
            }
            object.values_mut().for_each(plain);
        }
        Value::Array(list) => list.iter_mut().for_each(plain),
        _ => {}
    }
}
