use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use pericope_util::short_line;

use crate::account::Account;
use crate::budget::Budget;
use crate::cache::{Cache, CacheKey, Outcome};
use crate::config::{LlmConfig, Price};
use crate::error::LlmError;
use crate::json::{behind_thoughts, strip_reasoning};
use crate::providers::{self, Provider};
use crate::request::{Finish, Reply, Request, Usage};
use crate::spent::Spent;
use crate::tokens::Tokens;

/// The cache and the budget that the models of one run share.
#[derive(Debug, Clone)]
pub struct Shared {
    /// The known answers.
    pub cache: Arc<Cache>,
    /// The money that may be spent.
    pub budget: Arc<Budget>,
    /// True where only the cache is asked.
    pub offline: bool,
}

impl Shared {
    /// Opens the cache in `path`, with at most `budget` to spend.
    ///
    /// # Errors
    /// [`LlmError::Cache`] and its kin.
    pub fn open(path: &Path, budget: Option<f64>, offline: bool) -> Result<Self, LlmError> {
        Ok(Self { cache: Arc::new(Cache::open(path)?), budget: Arc::new(Budget::new(budget)), offline })
    }

    /// Opens the cache for a run that may be interrupted and resumed: its budget counts all its sessions. Several runs
    /// under one name (the variants of a sweep) share a budget; `resume` is then false for the first of them at most.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn for_run(path: &Path, budget: Option<f64>, offline: bool, run: &str, resume: bool) -> Result<Self, LlmError> {
        let cache = Arc::new(Cache::open(path)?);
        let budget = Budget::of_run(budget, Arc::clone(&cache), run, resume)?;
        Ok(Self { cache, budget: Arc::new(budget), offline })
    }

    /// Creates a cache in memory, without a budget: nothing outlasts the process.
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
    /// The model's reply.
    pub reply: Reply,
    /// True where it came from the cache.
    pub cached: bool,
    /// The price, paid now or when it was first asked for.
    pub cost: f64,
    /// The sum that was paid now, with the tries that broke off on the way to it.
    pub paid: f64,
}

impl Answered {
    /// Returns the tokens and the money that it used.
    #[must_use]
    pub fn spent(&self) -> Spent {
        Spent {
            calls: 1,
            cached: u64::from(self.cached),
            prompt_tokens: self.reply.usage.prompt,
            completion_tokens: self.reply.usage.completion,
            cost: self.cost,
            paid: self.paid,
            seconds: if self.cached { 0.0 } else { self.reply.latency.as_secs_f64() },
        }
    }

    /// Returns the text, without what a reasoning model thought before it.
    ///
    /// # Errors
    /// [`LlmError::Refused`] and [`LlmError::Empty`].
    pub fn text(&self) -> Result<&str, LlmError> {
        let text = strip_reasoning(&self.reply.text);
        if let Some(refusal) = &self.reply.refusal {
            return Err(LlmError::Refused(short_line(refusal, 300)));
        }
        if self.reply.finish == Finish::Refusal {
            return Err(LlmError::Refused(short_line(text, 300)));
        }
        if text.is_empty() {
            return Err(LlmError::Empty(self.reply.finish.name().to_owned()));
        }
        Ok(text)
    }

    /// Returns the text of an answer in prose, without thoughts that only end by a mark either. No verdict is read so: who judges may
    /// repeat such a line of what is judged.
    ///
    /// # Errors
    /// As [`text`](Self::text).
    pub(crate) fn prose(&self) -> Result<&str, LlmError> {
        match behind_thoughts(self.text()?) {
            "" => Err(LlmError::Empty(self.reply.finish.name().to_owned())),
            said => Ok(said),
        }
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
    /// Opens the model of a configuration.
    ///
    /// # Errors
    /// [`LlmError`] that aborts a run.
    pub fn from_config(config: &LlmConfig, shared: &Shared) -> Result<Self, LlmError> {
        let provider = providers::build(config, shared.offline)?;
        Self::new(provider, shared.clone(), config.price, providers::tokens(config)?)
    }

    /// Wraps any provider.
    ///
    /// # Errors
    /// [`LlmError::Cache`].
    pub fn new(
        provider: Box<dyn Provider>,
        shared: Shared,
        price: Option<Price>,
        tokens: Tokens,
    ) -> Result<Self, LlmError> {
        let identity = provider.identity();
        if let Some(learned) = shared.cache.parameters(&identity)? {
            provider.recall(&learned);
        }
        Ok(Self { provider, shared, price, tokens, identity, total: Mutex::default() })
    }

    /// Returns the provider.
    #[must_use]
    pub fn provider(&self) -> &dyn Provider {
        self.provider.as_ref()
    }

    /// Returns the sum of everything that was asked through this client, failed items included.
    #[must_use]
    pub fn total(&self) -> Spent {
        *self.total.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the answer to a request: from the cache, or from the model, which is then kept. Refusals and empty answers are
    /// answers here.
    ///
    /// # Errors
    /// [`LlmError`]; [`LlmError::NotCached`] where only the cache may be asked and has nothing.
    pub fn complete(&self, request: &Request) -> Result<Answered, LlmError> {
        let _guard = self.shared.cache.begin(&self.key(request));
        // What was waited for may have changed what is known of the endpoint.
        let key = self.key(request);
        let answered = match self.shared.cache.get(&key)? {
            Some(Outcome::Reply(reply)) => {
                let cost = self.cost(reply.usage);
                Answered { reply, cached: true, cost, paid: 0.0 }
            }
            Some(Outcome::TooLong(message)) => return Err(LlmError::ContextLength(message)),
            None if self.shared.offline => return Err(LlmError::NotCached),
            None => self.ask(&key, request)?,
        };
        self.add(answered.spent());
        Ok(answered)
    }

    fn ask(&self, key: &CacheKey, request: &Request) -> Result<Answered, LlmError> {
        let before = self.provider.learned();
        let prompt = self.tokens.of_request(request) as u64;
        let account = Account::new(&self.shared.budget, self.price, prompt, request.max_tokens.into());
        let result = self.provider.complete(request, &account);
        let learned = self.provider.learned();
        if learned != before {
            self.shared.cache.keep_parameters(&self.identity, &learned)?;
        }
        let keep = |key: &CacheKey, outcome: &Outcome| {
            self.shared.cache.put(key, self.provider.name(), self.provider.model(), outcome)
        };
        let paid = account.paid();
        match result {
            Ok(mut reply) => {
                let cost = self.cost(reply.usage);
                // What was found out on the way is part of the key.
                let key = CacheKey::of(&self.identity, &reply.parameters, request);
                reply.parameters = serde_json::Value::Null;
                let outcome = Outcome::Reply(reply);
                keep(&key, &outcome)?;
                let Outcome::Reply(reply) = outcome else { return Err(LlmError::NotCached) };
                Ok(Answered { reply, cached: false, cost, paid })
            }
            Err(error) => {
                self.add(Spent { paid, ..Spent::default() });
                if let LlmError::ContextLength(message) = &error {
                    // Kept too: a run that is taken up again, or offline, must come to the same shorter prompt.
                    let outcome = Outcome::TooLong(message.clone());
                    keep(key, &outcome)?;
                    keep(&self.key(request), &outcome)?;
                }
                Err(error)
            }
        }
    }

    /// Returns the key of a request, by what is known of the endpoint now.
    fn key(&self, request: &Request) -> CacheKey {
        CacheKey::of(&self.identity, &self.provider.parameters(request.schema.is_some()), request)
    }

    fn add(&self, spent: Spent) {
        *self.total.lock().unwrap_or_else(PoisonError::into_inner) += spent;
    }

    fn cost(&self, usage: Usage) -> f64 {
        self.price.map_or(0.0, |price| price.of(usage.prompt, usage.completion))
    }
}
