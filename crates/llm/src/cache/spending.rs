use rusqlite::{OptionalExtension, params};

use super::store::Cache;
use crate::error::LlmError;

impl Cache {
    /// Returns what a run has paid.
    pub(crate) fn paid(&self, run: &str) -> Result<f64, LlmError> {
        (self.connection())
            .query_row("SELECT paid FROM spending WHERE run = ?1", [run], |row| row.get(0))
            .optional()
            .map(|paid| paid.unwrap_or(0.0))
            .map_err(self.failed())
    }

    /// Adds to what a run has paid.
    pub(crate) fn add_paid(&self, run: &str, amount: f64) -> Result<(), LlmError> {
        (self.connection())
            .execute(
                "INSERT INTO spending VALUES (?1, ?2) ON CONFLICT (run) DO UPDATE SET paid = paid + excluded.paid",
                params![run, amount],
            )
            .map(|_| ())
            .map_err(self.failed())
    }

    /// Sets what a run has paid to nothing.
    pub(crate) fn forget_paid(&self, run: &str) -> Result<(), LlmError> {
        (self.connection()).execute("DELETE FROM spending WHERE run = ?1", [run]).map(|_| ()).map_err(self.failed())
    }
}
