mod key;

pub use key::CacheKey;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OptionalExtension, params};

use crate::error::LlmError;
use crate::request::{Finish, Reply, Usage};

/// Version of the tables.
const VERSION: i64 = 1;
/// How long another process may hold the file.
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
    paid REAL NOT NULL          -- by all sittings, failed items included
) WITHOUT ROWID;
";

/// What is known of a request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Outcome {
    Reply(Reply),
    /// The prompt was too long; what the server said.
    TooLong(String),
}

/// Every answer that a model gave, in one SQLite file: a run that is repeated or taken up again pays for nothing twice.
///
/// Each answer is one transaction, so a run that is killed loses at most the answers that had not arrived. Any number of
/// threads may share a cache, and so may processes.
#[derive(Debug)]
pub struct Cache {
    path: PathBuf,
    connection: Mutex<Connection>,
    asked: Mutex<HashSet<CacheKey>>,
    answered: Condvar,
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

    /// A cache that ends with the process.
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
        Ok(Self {
            path: path.to_owned(),
            connection: Mutex::new(connection),
            asked: Mutex::default(),
            answered: Condvar::new(),
        })
    }

    /// Number of answers.
    ///
    /// # Errors
    /// [`LlmError::Cache`].
    pub fn len(&self) -> Result<u64, LlmError> {
        let count: i64 = (self.connection())
            .query_row("SELECT count(*) FROM responses", [], |row| row.get(0))
            .map_err(failed(&self.path))?;
        Ok(count.unsigned_abs())
    }

    /// True where there is no answer.
    ///
    /// # Errors
    /// [`LlmError::Cache`].
    pub fn is_empty(&self) -> Result<bool, LlmError> {
        Ok(self.len()? == 0)
    }

    /// Forgets refusals, empty answers and prompts that were too long, so that they are asked for again; how many there
    /// were.
    ///
    /// # Errors
    /// [`LlmError::Cache`].
    pub fn forget_failures(&self) -> Result<usize, LlmError> {
        (self.connection())
            .execute("DELETE FROM responses WHERE outcome <> 'reply' OR refusal IS NOT NULL OR trim(text) = ''", [])
            .map_err(failed(&self.path))
    }

    pub(crate) fn get(&self, key: &CacheKey) -> Result<Option<Outcome>, LlmError> {
        let connection = self.connection();
        let mut statement = connection
            .prepare_cached(
                "SELECT outcome, text, refusal, finish, prompt_tokens, cached_tokens, completion_tokens, \
                 tokens_estimated, answering_model, request_id, fingerprint, latency_ms, tries, tokens_per_second \
                 FROM responses WHERE key = ?1",
            )
            .map_err(failed(&self.path))?;
        let tokens = |n: i64| n.unsigned_abs();
        statement
            .query_row([key.as_str()], |row| {
                let text: String = row.get(1)?;
                if row.get::<_, String>(0)? == "context" {
                    return Ok(Outcome::TooLong(text));
                }
                Ok(Outcome::Reply(Reply {
                    text,
                    refusal: row.get(2)?,
                    finish: Finish::parse(&row.get::<_, String>(3)?),
                    usage: Usage {
                        prompt: tokens(row.get(4)?),
                        cached: tokens(row.get(5)?),
                        completion: tokens(row.get(6)?),
                        estimated: row.get(7)?,
                    },
                    model: row.get(8)?,
                    request_id: row.get(9)?,
                    fingerprint: row.get(10)?,
                    latency: Duration::from_millis(tokens(row.get(11)?)),
                    tries: row.get(12)?,
                    tokens_per_second: row.get(13)?,
                }))
            })
            .optional()
            .map_err(failed(&self.path))
    }

    pub(crate) fn put(&self, key: &CacheKey, provider: &str, model: &str, outcome: &Outcome) -> Result<(), LlmError> {
        let too_long;
        let (kind, reply) = match outcome {
            Outcome::Reply(reply) => ("reply", reply),
            Outcome::TooLong(message) => {
                too_long = Reply::of(message.as_str());
                ("context", &too_long)
            }
        };
        let usage = reply.usage;
        let connection = self.connection();
        // The first answer stays: what a run has reported must not change.
        let mut statement = connection
            .prepare_cached(
                "INSERT OR IGNORE INTO responses VALUES \
                 (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)",
            )
            .map_err(failed(&self.path))?;
        statement
            .execute(params![
                key.as_str(),
                now(),
                provider,
                model,
                kind,
                reply.text,
                reply.refusal,
                reply.finish.name(),
                integer(usage.prompt),
                integer(usage.cached),
                integer(usage.completion),
                usage.estimated,
                reply.model,
                reply.request_id,
                reply.fingerprint,
                i64::try_from(reply.latency.as_millis()).unwrap_or(i64::MAX),
                reply.tries,
                reply.tokens_per_second,
            ])
            .map_err(failed(&self.path))?;
        Ok(())
    }

    /// What a run has paid.
    pub(crate) fn paid(&self, run: &str) -> Result<f64, LlmError> {
        (self.connection())
            .query_row("SELECT paid FROM spending WHERE run = ?1", [run], |row| row.get(0))
            .optional()
            .map(|paid| paid.unwrap_or(0.0))
            .map_err(failed(&self.path))
    }

    pub(crate) fn add_paid(&self, run: &str, amount: f64) -> Result<(), LlmError> {
        (self.connection())
            .execute(
                "INSERT INTO spending VALUES (?1, ?2) ON CONFLICT (run) DO UPDATE SET paid = paid + excluded.paid",
                params![run, amount],
            )
            .map(|_| ())
            .map_err(failed(&self.path))
    }

    pub(crate) fn forget_paid(&self, run: &str) -> Result<(), LlmError> {
        (self.connection())
            .execute("DELETE FROM spending WHERE run = ?1", [run])
            .map(|_| ())
            .map_err(failed(&self.path))
    }

    pub(crate) fn vector(&self, key: &CacheKey) -> Result<Option<Vec<f32>>, LlmError> {
        let connection = self.connection();
        let mut statement =
            (connection.prepare_cached("SELECT vector FROM embeddings WHERE key = ?1")).map_err(failed(&self.path))?;
        let bytes: Option<Vec<u8>> =
            statement.query_row([key.as_str()], |row| row.get(0)).optional().map_err(failed(&self.path))?;
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
        insert().map_err(failed(&self.path))
    }

    /// Waits until nobody else in this process asks for `key`, then takes it: two cells of a run that need the same
    /// answer pay for it once.
    pub(crate) fn claim(&self, key: &CacheKey) -> Claim<'_> {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        while !asked.insert(key.clone()) {
            asked = self.answered.wait(asked).unwrap_or_else(PoisonError::into_inner);
        }
        Claim { cache: self, key: key.clone() }
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        // A panic elsewhere leaves SQLite as it was: statements are atomic.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to ask for an answer.
pub(crate) struct Claim<'a> {
    cache: &'a Cache,
    key: CacheKey,
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        self.cache.asked.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
        self.cache.answered.notify_all();
    }
}

fn failed(path: &Path) -> impl Fn(rusqlite::Error) -> LlmError + use<> {
    let path = path.to_owned();
    move |source| LlmError::Cache { path: path.clone(), source }
}

fn integer(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| integer(d.as_secs()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::request::{Message, Request, Role};

    fn request() -> Request {
        Request::new(vec![Message::new(Role::User, "hello")], 10)
    }

    #[test]
    fn answers_come_back_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/cache.sqlite");
        let reply = Reply {
            text: "é\0\"".into(),
            refusal: Some("no".into()),
            finish: Finish::Other("odd".into()),
            usage: Usage { prompt: 3, cached: 2, completion: 1, estimated: true },
            model: Some("m-2026".into()),
            request_id: Some("r".into()),
            fingerprint: Some("f".into()),
            latency: Duration::from_millis(1234),
            tries: 3,
            tokens_per_second: Some(2.5),
        };
        let key = CacheKey::of(&json!(1), &request());
        let other = CacheKey::of(&json!(2), &request());
        {
            let cache = Cache::open(&path).unwrap();
            assert!(cache.is_empty().unwrap());
            cache.put(&key, "openai", "m", &Outcome::Reply(reply.clone())).unwrap();
            cache.put(&key, "openai", "m", &Outcome::Reply(Reply::of("later"))).unwrap();
            cache.put(&other, "openai", "m", &Outcome::TooLong("too long".into())).unwrap();
            cache.put_vectors("e", &[(key.clone(), 2, vec![1.5, -0.25])]).unwrap();
        }
        let cache = Cache::open(&path).unwrap();
        assert_eq!(cache.get(&key).unwrap(), Some(Outcome::Reply(reply)));
        assert_eq!(cache.get(&other).unwrap(), Some(Outcome::TooLong("too long".into())));
        assert_eq!(cache.vector(&key).unwrap(), Some(vec![1.5, -0.25]));
        assert_eq!(cache.vector(&other).unwrap(), None);
        assert_eq!((cache.len().unwrap(), cache.forget_failures().unwrap(), cache.len().unwrap()), (2, 2, 0));
    }

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
