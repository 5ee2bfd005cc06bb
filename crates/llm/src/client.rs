use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::budget::{Budget, Estimate, Spent};
use crate::cache::{Cache, CacheKey, Outcome};
use crate::config::{LlmConfig, Price};
use crate::error::{LlmError, short};
use crate::json::spoken;
use crate::providers::{self, Provider};
use crate::request::{Finish, Reply, Request, Usage};
use crate::tokens::Tokens;

/// What the models of one run have in common.
#[derive(Debug, Clone)]
pub struct Shared {
    /// Answers that are known.
    pub cache: Arc<Cache>,
    /// What may be spent.
    pub budget: Arc<Budget>,
    /// Only the cache is asked.
    pub offline: bool,
}

impl Shared {
    /// With the cache in `path` and at most `budget` to spend.
    ///
    /// # Errors
    /// [`LlmError::Cache`] and its kin.
    pub fn open(path: &Path, budget: Option<f64>, offline: bool) -> Result<Self, LlmError> {
        Ok(Self { cache: Arc::new(Cache::open(path)?), budget: Arc::new(Budget::new(budget)), offline })
    }

    /// The same for a run that may be interrupted and gone on with: its budget counts all its sittings. Several runs under
    /// one name (the variants of a sweep) share a budget; `goes_on` is then false for the first of them at most.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn for_run(
        path: &Path,
        budget: Option<f64>,
        offline: bool,
        run: &str,
        goes_on: bool,
    ) -> Result<Self, LlmError> {
        let cache = Arc::new(Cache::open(path)?);
        let budget = Budget::of_run(budget, Arc::clone(&cache), run, goes_on)?;
        Ok(Self { cache, budget: Arc::new(budget), offline })
    }

    /// Without a file, a budget, or anything that outlasts the process.
    ///
    /// # Errors
    /// [`LlmError::Cache`].
    pub fn in_memory() -> Result<Self, LlmError> {
        Ok(Self { cache: Arc::new(Cache::in_memory()?), budget: Arc::default(), offline: false })
    }
}

/// An answer and where it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// What the model said.
    pub reply: Reply,
    /// It came from the cache.
    pub cached: bool,
    /// What it cost, now or when it was first asked for.
    pub cost: f64,
}

impl Answered {
    /// What it used.
    #[must_use]
    pub fn spent(&self) -> Spent {
        Spent {
            calls: 1,
            cached: u64::from(self.cached),
            prompt_tokens: self.reply.usage.prompt,
            completion_tokens: self.reply.usage.completion,
            cost: self.cost,
            paid: if self.cached { 0.0 } else { self.cost },
            seconds: if self.cached { 0.0 } else { self.reply.latency.as_secs_f64() },
        }
    }

    /// The text, without what a reasoning model thought before it.
    ///
    /// # Errors
    /// [`LlmError::Refused`] and [`LlmError::Empty`].
    pub fn text(&self) -> Result<&str, LlmError> {
        let text = spoken(&self.reply.text);
        if let Some(refusal) = &self.reply.refusal {
            return Err(LlmError::Refused(short(refusal, 300)));
        }
        if self.reply.finish == Finish::Refusal {
            return Err(LlmError::Refused(short(text, 300)));
        }
        if text.is_empty() {
            return Err(LlmError::Empty(self.reply.finish.name().to_owned()));
        }
        Ok(text)
    }
}

/// A model, its cache and its money. Shared by any number of threads; calls block.
pub struct Client {
    provider: Box<dyn Provider>,
    shared: Shared,
    price: Option<Price>,
    tokens: Tokens,
    identity: serde_json::Value,
    total: Mutex<Spent>,
}

impl Client {
    /// The model of a configuration.
    ///
    /// # Errors
    /// [`LlmError`] that aborts a run.
    pub fn from_config(config: &LlmConfig, shared: &Shared) -> Result<Self, LlmError> {
        let provider = providers::build(config, shared.offline)?;
        Ok(Self::new(provider, shared.clone(), config.price, providers::tokens(config)?))
    }

    /// Any provider.
    #[must_use]
    pub fn new(provider: Box<dyn Provider>, shared: Shared, price: Option<Price>, tokens: Tokens) -> Self {
        let identity = provider.identity();
        Self { provider, shared, price, tokens, identity, total: Mutex::default() }
    }

    /// The provider.
    #[must_use]
    pub fn provider(&self) -> &dyn Provider {
        self.provider.as_ref()
    }

    /// Everything that was asked through this client, failed items included.
    #[must_use]
    pub fn total(&self) -> Spent {
        *self.total.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The key of a request in the cache.
    #[must_use]
    pub fn key(&self, request: &Request) -> CacheKey {
        CacheKey::of(&self.identity, request)
    }

    /// The answer to a request: from the cache, or from the model, which is then kept. Refusals and empty answers are
    /// answers here.
    ///
    /// # Errors
    /// [`LlmError`]; [`LlmError::NotCached`] where only the cache may be asked and has nothing.
    pub fn complete(&self, request: &Request) -> Result<Answered, LlmError> {
        let key = self.key(request);
        let _claim = self.shared.cache.claim(&key);
        let answered = match self.shared.cache.get(&key)? {
            Some(Outcome::Reply(reply)) => {
                let cost = self.cost(reply.usage);
                Answered { reply, cached: true, cost }
            }
            Some(Outcome::TooLong(message)) => return Err(LlmError::ContextLength(message)),
            None if self.shared.offline => return Err(LlmError::NotCached),
            None => self.ask(&key, request)?,
        };
        *self.total.lock().unwrap_or_else(PoisonError::into_inner) += answered.spent();
        Ok(answered)
    }

    fn ask(&self, key: &CacheKey, request: &Request) -> Result<Answered, LlmError> {
        let reserved = self.shared.budget.reserve(self.most(request))?;
        let keep = |outcome: &Outcome| self.shared.cache.put(key, self.provider.name(), self.provider.model(), outcome);
        let reply = match self.provider.complete(request) {
            Ok(reply) => reply,
            Err(LlmError::ContextLength(message)) => {
                // Kept too: a run that is taken up again, or offline, must come to the same shorter prompt.
                keep(&Outcome::TooLong(message.clone()))?;
                return Err(LlmError::ContextLength(message));
            }
            Err(error) => return Err(error),
        };
        let cost = self.cost(reply.usage);
        let outcome = Outcome::Reply(reply);
        keep(&outcome)?;
        reserved.used(cost)?;
        let Outcome::Reply(reply) = outcome else { return Err(LlmError::NotCached) };
        Ok(Answered { reply, cached: false, cost })
    }

    /// What requests would use that have not been made.
    ///
    /// # Errors
    /// [`LlmError::Cache`].
    pub fn estimate<'a>(&self, requests: impl IntoIterator<Item = &'a Request>) -> Result<Estimate, LlmError> {
        let mut estimate = Estimate::default();
        for request in requests {
            estimate.requests += 1;
            if self.shared.cache.get(&self.key(request))?.is_some() {
                estimate.cached += 1;
                continue;
            }
            let prompt = self.tokens.of_request(request) as u64;
            estimate.prompt_tokens += prompt;
            estimate.max_completion_tokens += u64::from(request.max_tokens);
            estimate.cost_at_least += self.price.map_or(0.0, |price| price.of(prompt, 0));
            estimate.cost_at_most += self.most(request);
        }
        Ok(estimate)
    }

    /// The most that a request may cost.
    fn most(&self, request: &Request) -> f64 {
        self.price.map_or(0.0, |price| price.of(self.tokens.of_request(request) as u64, request.max_tokens.into()))
    }

    fn cost(&self, usage: Usage) -> f64 {
        self.price.map_or(0.0, |price| price.of(usage.prompt, usage.completion))
    }
}
