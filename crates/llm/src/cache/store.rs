use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::Connection;

use super::key::CacheKey;
use super::single_flight::{SingleFlight, SingleFlightGuard};
use crate::error::LlmError;

/// Version of the tables.
const VERSION: i64 = 1;
/// The time for which another process may hold the file.
const BUSY: Duration = Duration::from_secs(30);

const TABLES: &str = "
CREATE TABLE IF NOT EXISTS responses (
    key TEXT PRIMARY KEY,       -- SHA-256 of everything that could change the answer
    created INTEGER NOT NULL,   -- seconds since 1970
    provider TEXT NOT NULL,
    model TEXT NOT NULL,        -- as asked for
    outcome TEXT NOT NULL,      -- 'reply', or 'context' where the prompt was too long
    text TEXT NOT NULL,
    refusal TEXT,
    finish TEXT NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    tokens_estimated INTEGER NOT NULL,
    answering_model TEXT,       -- as the server names it
    request_id TEXT,
    fingerprint TEXT,
    latency_ms INTEGER NOT NULL,
    tries INTEGER NOT NULL,
    tokens_per_second REAL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS embeddings (
    key TEXT PRIMARY KEY,
    created INTEGER NOT NULL,
    model TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    vector BLOB NOT NULL        -- little-endian 32-bit floats
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS spending (
    run TEXT PRIMARY KEY,
    paid REAL NOT NULL          -- by all sessions, failed items included
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS estimates (
    run TEXT PRIMARY KEY,
    amount REAL NOT NULL        -- the part of what it paid that no server confirmed
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS reservations (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    run TEXT NOT NULL,
    amount REAL NOT NULL,       -- the most that a call under way may cost
    since INTEGER NOT NULL,     -- seconds since 1970
    counted INTEGER NOT NULL    -- 1: its session said nothing more, and the amount is in what the run paid
);
CREATE TABLE IF NOT EXISTS endpoints (
    identity TEXT PRIMARY KEY,  -- SHA-256 of what identifies an endpoint and its model
    parameters TEXT NOT NULL    -- as found out: JSON
) WITHOUT ROWID;
";

/// Every answer that a model gave, in one SQLite file: a run that is repeated or taken up again pays for nothing twice.
///
/// Each answer is one transaction, so a run that is killed loses at most the answers that had not arrived. Any number of
/// threads may share a cache, and so may processes.
#[derive(Debug)]
pub struct Cache {
    path: PathBuf,
    connection: Mutex<Connection>,
    single_flight: SingleFlight,
}

impl Cache {
    /// Opens or creates a cache.
    ///
    /// # Errors
    /// [`LlmError::Cache`] and [`LlmError::CacheVersion`].
    pub fn open(path: &Path) -> Result<Self, LlmError> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            // SQLite's own message for a missing folder does not say so.
            std::fs::create_dir_all(folder)
                .map_err(|e| LlmError::Config(format!("the response cache {}: {e}", path.display())))?;
        }
        let connection = Connection::open(path).map_err(failed(path))?;
        Self::with(connection, path)
    }

    /// Creates a cache that ends with the process.
    ///
    /// # Errors
    /// [`LlmError::Cache`].
    pub fn in_memory() -> Result<Self, LlmError> {
        let path = Path::new(":memory:");
        Self::with(Connection::open_in_memory().map_err(failed(path))?, path)
    }

    fn with(connection: Connection, path: &Path) -> Result<Self, LlmError> {
        let failed = failed(path);
        connection.busy_timeout(BUSY).map_err(&failed)?;
        connection.pragma_update(None, "journal_mode", "WAL").map_err(&failed)?;
        // Safe when the process is killed; a power cut may cost the last answers, never the file.
        connection.pragma_update(None, "synchronous", "NORMAL").map_err(&failed)?;
        let found: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(&failed)?;
        if found != 0 && found != VERSION {
            return Err(LlmError::CacheVersion { path: path.to_owned(), found, expected: VERSION });
        }
        connection.execute_batch(TABLES).map_err(&failed)?;
        connection.pragma_update(None, "user_version", VERSION).map_err(&failed)?;
        Ok(Self { path: path.to_owned(), connection: Mutex::new(connection), single_flight: SingleFlight::default() })
    }

    /// Returns the number of answers.
    ///
    /// # Errors
    /// [`LlmError::Cache`].
    pub fn len(&self) -> Result<u64, LlmError> {
        let count: i64 = (self.connection())
            .query_row("SELECT count(*) FROM responses", [], |row| row.get(0))
            .map_err(self.failed())?;
        Ok(count.unsigned_abs())
    }

    /// Returns true where there is no answer.
    ///
    /// # Errors
    /// [`LlmError::Cache`].
    pub fn is_empty(&self) -> Result<bool, LlmError> {
        Ok(self.len()? == 0)
    }

    /// Waits until no other thread asks for `key`, then takes it: two cells of a run that need the same answer pay for it
    /// once.
    pub(crate) fn begin(&self, key: &CacheKey) -> SingleFlightGuard<'_> {
        self.single_flight.begin(key)
    }

    pub(super) fn connection(&self) -> MutexGuard<'_, Connection> {
        // A panic elsewhere leaves SQLite as it was: statements are atomic.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the error of a statement that failed.
    pub(super) fn failed(&self) -> impl Fn(rusqlite::Error) -> LlmError + use<> {
        failed(&self.path)
    }
}

fn failed(path: &Path) -> impl Fn(rusqlite::Error) -> LlmError + use<> {
    let path = path.to_owned();
    move |source| LlmError::Cache { path: path.clone(), source }
}

/// Returns a number as SQLite keeps it.
pub(super) fn integer(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// Returns the seconds since 1970.
pub(super) fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| integer(d.as_secs()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn other_files_are_not_taken_for_a_cache() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        std::fs::write(&path, "this is no database, but it is long enough to look like one to nobody at all").unwrap();
        assert!(matches!(Cache::open(&path), Err(LlmError::Cache { .. })));
        let path = folder.path().join("later");
        Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
        assert!(matches!(Cache::open(&path), Err(LlmError::CacheVersion { found: 99, .. })));
    }
}
