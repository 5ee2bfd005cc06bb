//! Specs as TOML tables, and as serde values.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use toml::{Table, Value};

use super::{Spec, SpecError};

impl Spec {
    /// Reads a table `name = "...", key = value`. Values are strings, numbers, booleans, or nested tables that are specs
    /// themselves (`reference = { name = "window", k = 5 }`).
    ///
    /// # Errors
    /// [`SpecError::Syntax`] where the name is missing or a value is none of these.
    fn from_toml(table: &Table) -> Result<Self, SpecError> {
        let Some(Value::String(name)) = table.get("name") else {
            return Err(SpecError::Syntax {
                spec: table.to_string().trim().replace('\n', ", "),
                reason: "the table needs a `name`, a string".into(),
            });
        };
        let mut spec = Spec::new(name)?;
        for (key, value) in table.iter().filter(|(key, _)| *key != "name") {
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Integer(_) | Value::Float(_) | Value::Boolean(_) => value.to_string(),
                Value::Table(nested) => Spec::from_toml(nested)?.to_string(),
                Value::Array(_) | Value::Datetime(_) => {
                    return Err(SpecError::BadValue {
                        name: name.clone(),
                        key: key.clone(),
                        value: value.to_string(),
                        expected: "a string, a number, true or false, or a table that is a spec".into(),
                    });
                }
            };
            spec = spec.with(key, text)?;
        }
        Ok(spec)
    }
}

impl Serialize for Spec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Spec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Form;

        impl<'de> Visitor<'de> for Form {
            type Value = Spec;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a segmenter: \"name:key=value,key=value\", or a table with a name")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Spec, E> {
                Spec::parse(text).map_err(E::custom)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Spec, A::Error> {
                let table = Table::deserialize(MapAccessDeserializer::new(map))?;
                Spec::from_toml(&table).map_err(A::Error::custom)
            }
        }

        deserializer.deserialize_any(Form)
    }
}
