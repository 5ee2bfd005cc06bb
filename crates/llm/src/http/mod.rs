//! One endpoint over HTTP: what may be tried again is, at the right time, and the rest is a clear error.

mod classify;
mod gate;
mod setup;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime};

use reqwest::header::HeaderMap;
use reqwest::{Client, Url};
use serde_json::Value;
use tokio::runtime::{Builder, Handle, Runtime};

pub(crate) use classify::Refusal;
use classify::{Meaning, retry_after};
use gate::Gate;
pub(crate) use setup::{Api, address};

use crate::config::LlmConfig;
use crate::error::{LlmError, short};
use crate::secret::Secret;

/// A longer pause than this is no pause but the end of the run.
const LONGEST_WAIT: Duration = Duration::from_secs(300);
/// Waits grow up to this.
const LAST_WAIT: Duration = Duration::from_secs(30);
/// Items that may fail to reach the server one after the other.
const IN_A_ROW: u32 = 5;

/// How to talk to an endpoint.
pub(crate) struct Endpoint {
    client: Client,
    url: Url,
    shown: String,
    model: String,
    headers: HeaderMap,
    secrets: Vec<Secret>,
    gate: Gate,
    retries: u32,
    first_wait: Duration,
    failures: AtomicU32,
}

/// What came back.
pub(crate) struct Received {
    pub body: Value,
    pub request_id: Option<String>,
    pub latency: Duration,
    pub tries: u32,
}

/// Why nothing did.
pub(crate) enum Failed {
    /// The server does not take this request: it may be changed and sent again.
    Refused(Refusal),
    /// Anything else.
    Error(LlmError),
}

impl From<LlmError> for Failed {
    fn from(error: LlmError) -> Self {
        Self::Error(error)
    }
}

/// Why one try failed.
enum Tried {
    Refused(Refusal, Option<Duration>),
    Broken(String),
}

impl Endpoint {
    pub(crate) fn new(config: &LlmConfig, api: &Api) -> Result<Self, LlmError> {
        let (url, shown) = address(config.base_url.as_deref().unwrap_or(api.base), api.path)?;
        let (headers, secrets) = setup::headers(config, api, &shown)?;
        let seconds = |n: f64| Duration::try_from_secs_f64(n).map_err(|e| LlmError::Config(e.to_string()));
        Ok(Self {
            client: setup::client(&url, seconds(config.timeout_seconds)?)?,
            url,
            shown,
            model: config.model.clone(),
            headers,
            secrets,
            gate: Gate::new(config.concurrency, config.tokens_per_minute),
            retries: config.retries,
            first_wait: seconds(config.retry_wait_seconds)?,
            failures: AtomicU32::new(0),
        })
    }

    /// Sends `body` until there is an answer or no hope of one. `tokens` is what it may use, for the limit.
    pub(crate) async fn post(&self, body: &Value, tokens: usize) -> Result<Received, Failed> {
        let bytes = body.to_string();
        let mut tries = 0;
        loop {
            tries += 1;
            let permit = self.gate.enter(tokens).await;
            let started = Instant::now();
            let tried = self.once(bytes.clone()).await;
            let latency = started.elapsed();
            drop(permit);
            let (message, after) = match tried {
                Ok((body, request_id)) => {
                    self.failures.store(0, Ordering::Relaxed);
                    return Ok(Received { body, request_id, latency, tries });
                }
                Err(Tried::Broken(message)) => (message, None),
                Err(Tried::Refused(refusal, after)) => {
                    let message = format!("{}: {}", refusal.status, refusal.message);
                    match self.final_error(refusal) {
                        Some(failed) => return Err(failed),
                        None => (message, after),
                    }
                }
            };
            if let Some(wait) = after {
                if wait > LONGEST_WAIT {
                    let endpoint = self.shown.clone();
                    return Err(LlmError::Wait { endpoint, seconds: wait.as_secs(), message }.into());
                }
                self.gate.quiet(wait);
            }
            if tries > self.retries {
                return Err(self.given_up(tries, message).into());
            }
            tokio::time::sleep(self.backoff(tries).max(after.unwrap_or_default())).await;
        }
    }

    /// Corrects the limit of tokens a minute by what a call has used.
    pub(crate) fn settle(&self, tokens: usize, used: u64) {
        self.gate.settle(tokens, used);
    }

    /// `text` without keys.
    pub(crate) fn scrub(&self, text: &str) -> String {
        self.secrets.iter().fold(text.to_owned(), |text, secret| secret.scrub(&text))
    }

    async fn once(&self, body: String) -> Result<(Value, Option<String>), Tried> {
        let broken = |e: reqwest::Error| Tried::Broken(self.scrub(&chain(e)));
        let response = (self.client.post(self.url.clone()).headers(self.headers.clone()).body(body).send())
            .await
            .map_err(broken)?;
        let status = response.status();
        let after = retry_after(response.headers(), SystemTime::now());
        let id = ["x-request-id", "request-id"].iter().find_map(|name| response.headers().get(*name));
        let id = id.and_then(|id| id.to_str().ok()).map(|id| self.scrub(id));
        let text = response.text().await.map_err(broken)?;
        if !status.is_success() {
            return Err(Tried::Refused(Refusal::read(status.as_u16(), &self.scrub(&text)), after));
        }
        let body: Value = serde_json::from_str(&text)
            .map_err(|e| Tried::Broken(format!("the answer is no JSON ({e}): {}", short(&self.scrub(&text), 200))))?;
        // Some gateways send a success that holds an error.
        if let Some(error) = body.get("error").filter(|e| !e.is_null())
            && ["choices", "content", "data"].iter().all(|key| body.get(*key).is_none())
        {
            let code = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
            let status = code.filter(|code| (400..600).contains(code)).unwrap_or(502);
            return Err(Tried::Refused(Refusal::read(status, &self.scrub(&text)), after));
        }
        Ok((body, id))
    }

    /// The error of a refusal that another try would not change.
    fn final_error(&self, refusal: Refusal) -> Option<Failed> {
        let endpoint = self.shown.clone();
        let (status, meaning) = (refusal.status, refusal.meaning());
        let message = refusal.message.clone();
        Some(match meaning {
            Meaning::Retry => return None,
            Meaning::Rejected => Failed::Refused(refusal),
            Meaning::ContextLength => LlmError::ContextLength(message).into(),
            Meaning::Billing => LlmError::Billing { endpoint, status, message }.into(),
            Meaning::Denied => LlmError::Denied { endpoint, status, message }.into(),
            Meaning::NotFound => LlmError::NotFound { endpoint, model: self.model.clone(), status, message }.into(),
        })
    }

    fn given_up(&self, tries: u32, message: String) -> LlmError {
        let failures = self.failures.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        if failures >= IN_A_ROW {
            return LlmError::Down { endpoint: self.shown.clone(), failures, message };
        }
        LlmError::Unavailable { tries, message }
    }

    /// Full jitter: anything between nothing and a bound that doubles, so that clients which failed together do not come
    /// back together.
    fn backoff(&self, tries: u32) -> Duration {
        let bound = self.first_wait.saturating_mul(1 << (tries - 1).min(16)).min(LAST_WAIT);
        bound.mul_f64(rand::random::<f64>())
    }
}

/// An error with its causes, without the address: a query may hold a key.
fn chain(error: reqwest::Error) -> String {
    let timeout = error.is_timeout();
    let error = error.without_url();
    let mut text = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    if timeout { format!("timed out ({})", short(&text, 300)) } else { short(&text, 300) }
}

/// Runs `future` to its end, whether or not this thread already runs an executor.
pub(crate) fn block<T: Send>(future: impl Future<Output = Result<T, LlmError>> + Send) -> Result<T, LlmError> {
    let runtime = runtime()?;
    if Handle::try_current().is_err() {
        return runtime.block_on(future);
    }
    std::thread::scope(|scope| match scope.spawn(|| runtime.block_on(future)).join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}

/// One for the process: connections live on it.
fn runtime() -> Result<&'static Runtime, LlmError> {
    static RUNTIME: OnceLock<Result<Runtime, String>> = OnceLock::new();
    let made = RUNTIME.get_or_init(|| {
        let builder = &mut Builder::new_multi_thread();
        builder.worker_threads(2).thread_name("pericope-llm").enable_all().build().map_err(|e| e.to_string())
    });
    made.as_ref().map_err(|e| LlmError::Config(format!("no threads for network requests: {e}")))
}
