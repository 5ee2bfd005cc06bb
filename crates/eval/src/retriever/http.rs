//! A service that answers over HTTP.

use std::time::Duration;

use pericope_llm::{JsonService, LlmError};
use serde_json::{Value, json};

use super::reply::NoReply;
use super::{MOST, PassageFinder, Query, Reply};
use crate::answer::Missing;
use crate::config::RetrieverConfig;

pub(super) struct Service(JsonService);

impl Service {
    pub(super) fn open(config: &RetrieverConfig, url: &str, timeout: Duration) -> Result<Self, String> {
        let service = JsonService::new(url, config.api_key_env.as_deref(), timeout, config.retries, MOST);
        // The configuration of a model calls its address so.
        service.map(Self).map_err(|error| error.to_string().replace("base_url: ", "spec: "))
    }
}

impl PassageFinder for Service {
    fn check(&self, query: &Query<'_>) -> Result<(), String> {
        match self.0.ask(&body(query)) {
            Err(error) if error.aborts_run() || matches!(error, LlmError::Unavailable { .. }) => Err(error.to_string()),
            _ => Ok(()),
        }
    }

    fn find(&self, query: &Query<'_>) -> Result<(Reply, Duration), Missing> {
        let asked = self.0.ask(&body(query)).map_err(missing)?;
        let reply = Reply::read(asked.body).map_err(|error| match error {
            NoReply::Form(problem) => Missing::Item(problem),
            NoReply::Failed(problem) => Missing::Item(format!("the service says: {problem}")),
        })?;
        Ok((reply, asked.latency))
    }
}

fn body(query: &Query<'_>) -> Value {
    json!({"question": query.question, "k": query.k})
}

fn missing(error: LlmError) -> Missing {
    let problem = error.to_string();
    if error.aborts_run() { Missing::Run(problem) } else { Missing::Item(problem) }
}
