use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime};

use backon::{BackoffBuilder, ExponentialBuilder};
use pericope_net::ureq::{self, Agent, http::HeaderMap};
use serde_json::Value;
use url::Url;

use super::api::{self, Api, address};
use super::classify::{ApiError, ErrorKind, retry_after};
use super::rate_limiter::RateLimiter;
use crate::config::LlmConfig;
use crate::error::{LlmError, short};
use crate::secret::Secret;

/// A longer pause than this is no pause but the end of the run.
const LONGEST_WAIT: Duration = Duration::from_secs(300);
/// Waits grow up to this.
const LAST_WAIT: Duration = Duration::from_secs(30);
/// Items that may fail to reach the server one after the other.
const IN_A_ROW: u32 = 5;
/// Longest answer, in bytes; a batch of long vectors has some 20 million.
const MOST_BYTES: u64 = 256 << 20;

/// A server, the headers that it wants and the pace that it allows.
pub(crate) struct Endpoint {
    agent: Agent,
    url: Url,
    shown: String,
    model: String,
    headers: HeaderMap,
    secrets: Vec<Secret>,
    limiter: RateLimiter,
    /// Bounds of the waits between tries.
    waits: ExponentialBuilder,
    failures: AtomicU32,
}

/// An answer as it came.
pub(crate) struct Received {
    pub body: Value,
    pub request_id: Option<String>,
    pub latency: Duration,
    pub tries: u32,
}

/// The reasons for no answer.
pub(crate) enum Failed {
    /// The server does not take this request: it may be changed and sent again.
    Refused(ApiError),
    /// Anything else.
    Error(LlmError),
}

impl From<LlmError> for Failed {
    fn from(error: LlmError) -> Self {
        Self::Error(error)
    }
}

/// The reasons for which one try fails.
enum Tried {
    Refused(ApiError, Option<Duration>),
    Broken(String),
}

impl Endpoint {
    pub(crate) fn new(config: &LlmConfig, api: &Api) -> Result<Self, LlmError> {
        let (url, shown) = address(config.base_url.as_deref().unwrap_or(api.base), api.path)?;
        let (headers, secrets) = api::headers(config, api, &shown)?;
        let seconds = |n: f64| Duration::try_from_secs_f64(n).map_err(|e| LlmError::Config(e.to_string()));
        Ok(Self {
            agent: api::agent(&url, seconds(config.timeout_seconds)?, config.concurrency),
            url,
            shown,
            model: config.model.clone(),
            headers,
            secrets,
            limiter: RateLimiter::new(config.concurrency, config.tokens_per_minute),
            waits: ExponentialBuilder::new()
                .with_min_delay(seconds(config.retry_wait_seconds)?)
                .with_max_delay(LAST_WAIT)
                .with_max_times(config.retries as usize),
            failures: AtomicU32::new(0),
        })
    }

    /// Sends `body` until there is an answer or no hope of one. `tokens` is the most that it may use, for the limit.
    pub(crate) fn post(&self, body: &Value, tokens: usize) -> Result<Received, Failed> {
        let bytes = body.to_string();
        let mut waits = self.waits.build();
        let mut tries = 0;
        loop {
            tries += 1;
            let permit = self.limiter.acquire(tokens);
            let started = Instant::now();
            let tried = self.once(&bytes);
            let latency = started.elapsed();
            drop(permit);
            let (message, after) = match tried {
                Ok((body, request_id)) => {
                    self.failures.store(0, Ordering::Relaxed);
                    return Ok(Received { body, request_id, latency, tries });
                }
                Err(Tried::Broken(message)) => (message, None),
                Err(Tried::Refused(error, after)) => {
                    let message = format!("{}: {}", error.status, error.message);
                    match self.final_error(error) {
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
                self.limiter.pause(wait);
            }
            let Some(bound) = waits.next() else { return Err(self.given_up(tries, message).into()) };
            // Full jitter: anything from nothing to the bound, so that clients which failed together do not come back
            // together.
            std::thread::sleep(bound.mul_f64(rand::random::<f64>()).max(after.unwrap_or_default()));
        }
    }

    /// Corrects the limit of tokens a minute by what a call has used.
    pub(crate) fn settle(&self, tokens: usize, used: u64) {
        self.limiter.settle(tokens, used);
    }

    /// Returns `text` without keys.
    pub(crate) fn scrub(&self, text: &str) -> String {
        self.secrets.iter().fold(text.to_owned(), |text, secret| secret.scrub(&text))
    }

    fn once(&self, body: &str) -> Result<(Value, Option<String>), Tried> {
        let broken = |e: ureq::Error| Tried::Broken(self.scrub(&reason(&e)));
        let mut request = self.agent.post(self.url.as_str());
        if let Some(headers) = request.headers_mut() {
            headers.clone_from(&self.headers);
        }
        let mut response = request.send(body).map_err(broken)?;
        let status = response.status();
        let after = retry_after(response.headers(), SystemTime::now());
        let id = ["x-request-id", "request-id"].iter().find_map(|name| response.headers().get(*name));
        let id = id.and_then(|id| id.to_str().ok()).map(|id| self.scrub(id));
        let body = response.body_mut().with_config().limit(MOST_BYTES).lossy_utf8(true);
        let text = body.read_to_string().map_err(broken)?;
        if !status.is_success() {
            return Err(Tried::Refused(ApiError::read(status.as_u16(), &self.scrub(&text)), after));
        }
        let body: Value = serde_json::from_str(&text)
            .map_err(|e| Tried::Broken(format!("the answer is no JSON ({e}): {}", short(&self.scrub(&text), 200))))?;
        // Some gateways send a success that holds an error.
        if let Some(error) = body.get("error").filter(|e| !e.is_null())
            && ["choices", "content", "data"].iter().all(|key| body.get(*key).is_none())
        {
            let code = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
            let status = code.filter(|code| (400..600).contains(code)).unwrap_or(502);
            return Err(Tried::Refused(ApiError::read(status, &self.scrub(&text)), after));
        }
        Ok((body, id))
    }

    /// Returns the error that another try would not change.
    fn final_error(&self, error: ApiError) -> Option<Failed> {
        let endpoint = self.shown.clone();
        let (status, kind) = (error.status, error.kind());
        let message = error.message.clone();
        Some(match kind {
            ErrorKind::Retry => return None,
            ErrorKind::Rejected => Failed::Refused(error),
            ErrorKind::ContextLength => LlmError::ContextLength(message).into(),
            ErrorKind::Billing => LlmError::Billing { endpoint, status, message }.into(),
            ErrorKind::Denied => LlmError::Denied { endpoint, status, message }.into(),
            ErrorKind::NotFound => LlmError::NotFound { endpoint, model: self.model.clone(), status, message }.into(),
        })
    }

    fn given_up(&self, tries: u32, message: String) -> LlmError {
        let failures = self.failures.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        if failures >= IN_A_ROW {
            return LlmError::Down { endpoint: self.shown.clone(), failures, message };
        }
        LlmError::Unavailable { tries, message }
    }
}

/// Returns the words of an error, without the address: a query may hold a key.
fn reason(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Timeout(what) => format!("timed out ({what})"),
        ureq::Error::BadUri(_) => "the address cannot be used".to_owned(),
        ureq::Error::ConnectionFailed | ureq::Error::HostNotFound => format!("cannot connect: {error}"),
        other => short(&other.to_string(), 300),
    }
}
