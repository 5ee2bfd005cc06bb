use rusqlite::{OptionalExtension, params};

use super::key::CacheKey;
use super::store::{Cache, integer, now};
use crate::error::LlmError;

impl Cache {
    /// Returns the vector of a text.
    pub(crate) fn vector(&self, key: &CacheKey) -> Result<Option<Vec<f32>>, LlmError> {
        let connection = self.connection();
        let mut statement =
            (connection.prepare_cached("SELECT vector FROM embeddings WHERE key = ?1")).map_err(self.failed())?;
        let bytes: Option<Vec<u8>> =
            statement.query_row([key.as_str()], |row| row.get(0)).optional().map_err(self.failed())?;
        Ok(bytes.map(|bytes| {
            let (numbers, _) = bytes.as_chunks::<4>();
            numbers.iter().map(|number| f32::from_le_bytes(*number)).collect()
        }))
    }

    /// Keeps the vectors of one batch, in one transaction.
    pub(crate) fn put_vectors(&self, model: &str, rows: &[(CacheKey, u64, Vec<f32>)]) -> Result<(), LlmError> {
        let mut connection = self.connection();
        let mut insert = || {
            let transaction = connection.transaction()?;
            {
                let mut statement =
                    transaction.prepare_cached("INSERT OR IGNORE INTO embeddings VALUES (?1, ?2, ?3, ?4, ?5)")?;
                for (key, tokens, vector) in rows {
                    let bytes: Vec<u8> = vector.iter().flat_map(|number| number.to_le_bytes()).collect();
                    statement.execute(params![key.as_str(), now(), model, integer(*tokens), bytes])?;
                }
            }
            transaction.commit()
        };
        insert().map_err(self.failed())
    }
}
