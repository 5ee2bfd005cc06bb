use rusqlite::{OptionalExtension, params};
use serde_json::Value;

use super::store::Cache;
use crate::error::LlmError;
use pericope_util::sha256_hex;

/// What was found out about endpoints. It changes what is sent, and so it is part of an answer's key; kept here, a later
/// session and one without a network come to the same keys.
impl Cache {
    /// Returns the parameters that the endpoint of this `identity` took last.
    pub(crate) fn parameters(&self, identity: &Value) -> Result<Option<Value>, LlmError> {
        let found: Option<String> = (self.connection())
            .query_row("SELECT parameters FROM endpoints WHERE identity = ?1", [name(identity)], |row| row.get(0))
            .optional()
            .map_err(self.failed())?;
        Ok(found.and_then(|text| serde_json::from_str(&text).ok()))
    }

    /// Keeps the parameters that the endpoint took.
    pub(crate) fn keep_parameters(&self, identity: &Value, parameters: &Value) -> Result<(), LlmError> {
        (self.connection())
            .execute(
                "INSERT INTO endpoints VALUES (?1, ?2) ON CONFLICT (identity) DO UPDATE SET parameters = excluded.parameters",
                params![name(identity), parameters.to_string()],
            )
            .map(|_| ())
            .map_err(self.failed())
    }
}

fn name(identity: &Value) -> String {
    sha256_hex(identity.to_string())
}
