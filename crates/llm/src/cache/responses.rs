use std::time::Duration;

use rusqlite::{OptionalExtension, params};
use serde_json::Value;

use super::key::CacheKey;
use super::store::{Cache, integer, now};
use crate::error::LlmError;
use crate::request::{Finish, Reply, Usage};

/// The known outcome of a request.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant)] // one at a time, and nearly always the large one
pub(crate) enum Outcome {
    Reply(Reply),
    /// The prompt was too long; holds the server's message.
    TooLong(String),
}

impl Cache {
    /// Returns the known outcome of a request.
    pub(crate) fn get(&self, key: &CacheKey) -> Result<Option<Outcome>, LlmError> {
        let connection = self.connection();
        let mut statement = connection
            .prepare_cached(
                "SELECT outcome, text, refusal, finish, prompt_tokens, cached_tokens, completion_tokens, \
                 tokens_estimated, answering_model, request_id, fingerprint, latency_ms, tries, tokens_per_second \
                 FROM responses WHERE key = ?1",
            )
            .map_err(self.failed())?;
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
                    parameters: Value::Null,
                }))
            })
            .optional()
            .map_err(self.failed())
    }

    /// Keeps the outcome of a request. A first outcome stays.
    pub(crate) fn put(&self, key: &CacheKey, provider: &str, model: &str, outcome: &Outcome) -> Result<(), LlmError> {
        let too_long;
        let (kind, reply) = match outcome {
            Outcome::Reply(reply) => ("reply", reply),
            Outcome::TooLong(message) => {
                too_long = Reply::new(message.as_str());
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
            .map_err(self.failed())?;
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
            .map_err(self.failed())?;
        Ok(())
    }
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
            parameters: Value::Null,
        };
        let key = CacheKey::of(&json!(1), &Value::Null, &request());
        let other = CacheKey::of(&json!(2), &Value::Null, &request());
        {
            let cache = Cache::open(&path).unwrap();
            assert!(cache.is_empty().unwrap());
            cache.put(&key, "openai", "m", &Outcome::Reply(reply.clone())).unwrap();
            cache.put(&key, "openai", "m", &Outcome::Reply(Reply::new("later"))).unwrap();
            cache.put(&other, "openai", "m", &Outcome::TooLong("too long".into())).unwrap();
            cache.put_vectors("e", &[(key.clone(), 2, vec![1.5, -0.25])]).unwrap();
        }
        let cache = Cache::open(&path).unwrap();
        assert_eq!(cache.get(&key).unwrap(), Some(Outcome::Reply(reply)));
        assert_eq!(cache.get(&other).unwrap(), Some(Outcome::TooLong("too long".into())));
        assert_eq!(cache.vector(&key).unwrap(), Some(vec![1.5, -0.25]));
        assert_eq!(cache.vector(&other).unwrap(), None);
        assert_eq!(cache.len().unwrap(), 2);
    }
}
