use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime};

use backon::{BackoffBuilder, ExponentialBuilder};
use pericope_net::ureq::{Agent, http::HeaderMap};
use pericope_util::short_line;
use serde_json::Value;
use url::Url;

use super::api::{self, Api, address};
use super::body::{End, read};
use super::classify::{ApiError, ErrorKind, retry_after};
use super::failure::{Failure, Tried, after_sending, reason};
use super::rate_limiter::RateLimiter;
use super::usage::{plausible, told_in_part};
use crate::account::{Account, Attempt};
use crate::config::LlmConfig;
use crate::error::LlmError;
use crate::notices::tell;
use crate::request::Usage;
use crate::secret::Scrubber;

/// A longer pause than this is no pause but the end of the run.
const LONGEST_WAIT: Duration = Duration::from_secs(300);
/// All pauses that a server may ask for before it answers one item.
const LONGEST_WAITS: Duration = Duration::from_secs(600);
/// A shorter pause is not worth a line.
const WORTH_TELLING: Duration = Duration::from_secs(5);
/// Waits grow up to this.
const LAST_WAIT: Duration = Duration::from_secs(30);
/// Items that may fail to reach a server one after the other, before the rest is not tried.
pub const IN_A_ROW: u32 = 5;
/// The most that is read of an error, in bytes.
const MOST_OF_ERROR: u64 = 64 << 10;

/// A server, the headers that it wants and the pace that it allows.
pub(crate) struct Endpoint {
    agent: Agent,
    url: Url,
    shown: String,
    model: String,
    headers: HeaderMap,
    scrubber: Scrubber,
    limiter: RateLimiter,
    /// Bounds of the waits between tries.
    waits: ExponentialBuilder,
    /// All pauses that the server may ask for.
    max_wait: Duration,
    failures: AtomicU32,
    /// It has told a usage that cannot be.
    implausible: AtomicBool,
}

/// A request to an endpoint, and what it may cost.
pub(crate) struct Call<'a> {
    /// JSON to send.
    pub body: &'a Value,
    /// The most tokens that a good answer may have taken, of prompt and answer.
    pub tokens: usize,
    /// The most tokens of the answer.
    pub completion: u64,
    /// The most bytes of a good answer.
    pub bytes: u64,
    /// Pays for the tries.
    pub account: &'a Account<'a>,
    /// Reads what the server says that it used.
    pub told: &'a dyn Fn(&Value) -> Option<Usage>,
    /// Estimates what it used where it does not say; `None` for what is no answer.
    pub estimate: &'a dyn Fn(&Value) -> Option<Usage>,
}

/// An answer as it came, without keys.
pub(crate) struct Received {
    pub body: Value,
    pub usage: Usage,
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

impl Endpoint {
    pub(crate) fn new(config: &LlmConfig, api: &Api) -> Result<Self, LlmError> {
        let (url, shown) = address(config.base_url.as_deref().unwrap_or(api.base), api.path)?;
        let (headers, mut secrets) = api::headers(config, api, &shown)?;
        secrets.extend(api::secrets(&url));
        let seconds = |n: f64| Duration::try_from_secs_f64(n).map_err(|e| LlmError::Config(e.to_string()));
        Ok(Self {
            agent: api::agent(&url, seconds(config.timeout_seconds)?, config.concurrency),
            url,
            shown,
            model: config.model.clone(),
            headers,
            scrubber: Scrubber::new(&secrets)?,
            limiter: RateLimiter::new(config.concurrency, config.tokens_per_minute),
            waits: ExponentialBuilder::new()
                .with_min_delay(seconds(config.retry_wait_seconds)?)
                .with_max_delay(LAST_WAIT)
                .with_max_times(config.retries as usize),
            max_wait: seconds(config.max_wait_seconds)?,
            failures: AtomicU32::new(0),
            implausible: AtomicBool::new(false),
        })
    }

    /// Sends a request until there is an answer or no hope of one. Each try is paid for on its own.
    pub(crate) fn post(&self, call: &Call<'_>) -> Result<Received, Failed> {
        let bytes = call.body.to_string();
        let mut waits = self.waits.build();
        let mut asked_to_wait = Duration::ZERO;
        let mut tries = 0;
        loop {
            tries += 1;
            let attempt = call.account.begin()?;
            let permit = self.limiter.acquire(call.tokens);
            let started = Instant::now();
            let tried = self.once(&bytes, call.bytes);
            let latency = started.elapsed();
            drop(permit);
            let (message, after) = match tried {
                Ok((body, request_id)) => {
                    let usage = self.usage(call, &body, bytes.len()).or_else(|| (call.estimate)(&body));
                    match usage {
                        Some(usage) => attempt.used(usage)?,
                        None => attempt.lost()?,
                    }
                    let usage = usage.unwrap_or(Usage { estimated: true, ..Usage::default() });
                    self.failures.store(0, Ordering::Relaxed);
                    return Ok(Received { body, usage, request_id, latency, tries });
                }
                Err(failure) => {
                    self.charge(attempt, call, &failure, bytes.len())?;
                    match failure.why {
                        Tried::Broken(message) => (message, None),
                        Tried::TooLarge => {
                            return Err(LlmError::TooLarge { limit: call.bytes.div_ceil(1 << 20) }.into());
                        }
                        Tried::Refused(error, after) => {
                            let message = format!("{}: {}", error.status, error.message);
                            match self.final_error(error) {
                                Some(failed) => {
                                    // Who refuses an item can be reached.
                                    self.failures.store(0, Ordering::Relaxed);
                                    return Err(failed);
                                }
                                None => (message, after),
                            }
                        }
                    }
                }
            };
            if let Some(wait) = after {
                asked_to_wait += wait;
                self.pause(wait, asked_to_wait, tries, &message)?;
            }
            let Some(bound) = waits.next() else { return Err(self.given_up(tries, message).into()) };
            // Full jitter: anything from nothing to the bound, so that clients which failed together do not come back
            // together.
            std::thread::sleep(bound.mul_f64(rand::random::<f64>()).max(after.unwrap_or_default()));
        }
    }

    /// Corrects the limit of tokens a minute by what a call has used.
    pub(crate) fn settle(&self, tokens: usize, used: Usage) {
        self.limiter.settle(tokens, used.prompt.saturating_add(used.completion));
    }

    /// Returns `text` without keys: for texts that were put together from parts of an answer.
    pub(crate) fn scrub(&self, text: &str) -> String {
        self.scrubber.scrub(text)
    }

    /// Returns what is odd about the endpoint, for the record of a run.
    pub(crate) fn note(&self) -> Option<String> {
        let odd = self.implausible.load(Ordering::Relaxed);
        odd.then(|| "the endpoint has told numbers of tokens that cannot be: estimates were taken instead".to_owned())
    }

    /// The one place where a server's words come in: keys are out of everything that leaves it.
    #[allow(clippy::result_large_err)] // once a request
    fn once(&self, body: &str, most: u64) -> Result<(Value, Option<String>), Failure> {
        let mut request = self.agent.post(self.url.as_str());
        if let Some(headers) = request.headers_mut() {
            headers.clone_from(&self.headers);
        }
        let sent = request.send(body);
        let mut response = sent.map_err(|e| Failure::of(after_sending(&e), self.scrub(&reason(&e))))?;
        let status = response.status();
        let after = retry_after(response.headers(), SystemTime::now());
        let id = ["x-request-id", "request-id"].iter().find_map(|name| response.headers().get(*name));
        let id = id.and_then(|id| id.to_str().ok()).map(|id| short_line(&self.scrub(id), 200));
        let clean = |text: &str| self.scrub(text);
        if !status.is_success() {
            // The status says enough: what is missing of its explanation is no reason to ask again.
            let text = read(response.body_mut(), MOST_OF_ERROR).text;
            return Err(Failure::free(Tried::Refused(ApiError::read(status.as_u16(), &text, &clean), after)));
        }
        let received = read(response.body_mut(), most);
        match received.end {
            End::Whole => {}
            End::TooLarge => return Err(Failure::answered(Tried::TooLarge, None)),
            End::Broken(error) => {
                let message = format!("the answer broke off: {}", self.scrub(&reason(&error)));
                return Err(Failure::answered(Tried::Broken(message), told_in_part(&received.text)));
            }
        }
        let body: Value = serde_json::from_str(&received.text).map_err(|e| {
            let message = format!("the answer is no JSON ({e}): {}", short_line(&self.scrub(&received.text), 200));
            Failure::answered(Tried::Broken(message), told_in_part(&received.text))
        })?;
        // Some gateways send a success that holds an error.
        if let Some(error) = body.get("error").filter(|e| !e.is_null())
            && ["choices", "content", "data"].iter().all(|key| body.get(*key).is_none())
        {
            let code = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
            let status = code.filter(|code| (400..600).contains(code)).unwrap_or(502);
            return Err(Failure::free(Tried::Refused(ApiError::read(status, &received.text, &clean), after)));
        }
        Ok((self.scrubber.scrub_json(body), id))
    }

    /// Charges a try that failed: what the server told, else the most where it has answered or may have.
    fn charge(&self, attempt: Attempt<'_>, call: &Call<'_>, failure: &Failure, sent: usize) -> Result<(), LlmError> {
        if !failure.answered {
            return Ok(());
        }
        match failure.told.as_ref().and_then(|told| self.usage(call, told, sent)) {
            Some(usage) => attempt.used(usage),
            None => attempt.lost(),
        }
    }

    /// Returns what the server says that it used, where that can be.
    fn usage(&self, call: &Call<'_>, body: &Value, sent: usize) -> Option<Usage> {
        let usage = (call.told)(body)?;
        if plausible(usage, sent, call.completion) {
            return Some(usage);
        }
        if !self.implausible.swap(true, Ordering::Relaxed) {
            let Usage { prompt, completion, .. } = usage;
            let shown = &self.shown;
            tell(&format!(
                "{shown} says that it read {prompt} and wrote {completion} tokens, which cannot be: estimates are taken"
            ));
        }
        None
    }

    /// Holds every call back because the server asks to wait; an error where it asks for more than a run or an item can
    /// sit through.
    fn pause(&self, wait: Duration, for_item: Duration, tries: u32, message: &str) -> Result<(), LlmError> {
        let endpoint = self.shown.clone();
        if wait > LONGEST_WAIT {
            return Err(LlmError::Wait { endpoint, seconds: wait.as_secs(), message: message.to_owned() });
        }
        let pause = self.limiter.pause(wait);
        if pause.total > self.max_wait {
            let limit = self.max_wait.as_secs_f64();
            let message = format!("{message} (all pauses of this run together; max_wait_seconds = {limit})");
            return Err(LlmError::Wait { endpoint, seconds: pause.total.as_secs(), message });
        }
        if for_item > LONGEST_WAITS {
            let seconds = for_item.as_secs();
            return Err(self.given_up(tries, format!("the server asks to wait {seconds} s in all: {message}")));
        }
        if pause.more >= WORTH_TELLING {
            tell(&format!("{endpoint} asks to wait {} s ({message})", wait.as_secs()));
        }
        Ok(())
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
        LlmError::Unavailable { endpoint: self.shown.clone(), tries, message }
    }
}
