//! Opinions on answers: how good against the gold answer, how faithful to the context, how relevant the context.

mod check;
mod context;
mod score;

pub use check::{Pair, Transcript};
pub use context::{Claim, Faithfulness, Relevance};

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::budget::Spent;
use crate::client::{Client, Shared};
use crate::config::LlmConfig;
use crate::error::LlmError;
use crate::prompt::Prompt;
use crate::request::{Request, Schema};

/// The prompts built in.
pub const PROMPT: &str = include_str!("../../../../prompts/judge.md");
/// What a judge's prompt must and may hold.
pub const PLACEHOLDERS: &[&str] = &["question", "gold", "answer"];

/// One opinion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vote {
    /// 0 to 10.
    pub score: u8,
    /// Why.
    pub reason: String,
    /// Seed that it was asked for with.
    pub seed: u64,
}

/// All opinions on one answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// At least one.
    pub votes: Vec<Vote>,
    /// Votes that could not be had, and why; no part of the mean.
    pub failed: Vec<String>,
    /// Mean score, 0 to 10.
    pub mean: f64,
    /// Sample variance of the scores; `None` for a single vote.
    pub variance: Option<f64>,
    /// Votes that had to be asked for twice.
    pub repaired: usize,
    /// Tokens and money.
    pub spent: Spent,
}

/// Scores answers against gold answers.
pub struct LlmJudge {
    client: Arc<Client>,
    prompt: Prompt,
    faithfulness: Prompt,
    relevance: Prompt,
    votes: u32,
    max_tokens: u32,
    temperature: f64,
    seed: u64,
}

impl LlmJudge {
    /// The judge of `[llm.judge]`, asked `votes` times (at least once) for each answer.
    ///
    /// # Errors
    /// [`LlmError`] that aborts a run.
    pub fn from_config(config: &LlmConfig, votes: u32, shared: &Shared) -> Result<Self, LlmError> {
        Self::new(Arc::new(Client::from_config(config, shared)?), config, votes)
    }

    /// A judge that asks through `client`; prompt, tokens, temperature and seed are those of `config`.
    ///
    /// # Errors
    /// [`LlmError::Prompt`].
    pub fn new(client: Arc<Client>, config: &LlmConfig, votes: u32) -> Result<Self, LlmError> {
        let path: Option<&Path> = config.prompt.as_deref();
        Ok(Self {
            client,
            prompt: Prompt::load(path, "judge", PROMPT, PLACEHOLDERS)?,
            faithfulness: context::faithfulness_prompt(None)?,
            relevance: context::relevance_prompt(None)?,
            votes: votes.max(1),
            max_tokens: config.max_tokens,
            temperature: config.temperature,
            seed: config.seed,
        })
    }

    /// With other prompts for [`faithfulness`](LlmJudge::faithfulness) and [`relevance`](LlmJudge::relevance).
    ///
    /// # Errors
    /// [`LlmError::Prompt`].
    pub fn with_prompts(mut self, faithfulness: Option<&Path>, relevance: Option<&Path>) -> Result<Self, LlmError> {
        self.faithfulness = context::faithfulness_prompt(faithfulness)?;
        self.relevance = context::relevance_prompt(relevance)?;
        Ok(self)
    }

    /// The prompts as used: judge, faithfulness, context relevance.
    #[must_use]
    pub fn prompts(&self) -> [&Prompt; 3] {
        [&self.prompt, &self.faithfulness, &self.relevance]
    }

    /// The model behind it.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// What is asked for each vote; for estimates.
    #[must_use]
    pub fn requests(&self, question: &str, gold: &str, answer: &str) -> Vec<Request> {
        (0..self.votes).map(|vote| self.request(question, gold, answer, vote)).collect()
    }

    fn request(&self, question: &str, gold: &str, answer: &str, vote: u32) -> Request {
        let answer = if answer.trim().is_empty() { "(no answer)" } else { answer.trim() };
        let values = [("question", question.trim()), ("gold", gold.trim()), ("answer", answer)];
        // The reason comes first: a score is better that was reasoned for, than a reason that defends a score.
        let schema = object(&[("reason", json!({"type": "string"})), ("score", json!({"type": "integer"}))]);
        self.shaped(&self.prompt, &values, "judgement", schema, vote)
    }

    fn shaped(&self, prompt: &Prompt, values: &[(&str, &str)], name: &str, schema: Value, vote: u32) -> Request {
        let request = Request::new(prompt.fill(values), self.max_tokens);
        let seed = Some(self.seed.wrapping_add(vote.into()));
        let schema = Some(Schema { name: name.to_owned(), schema });
        Request { temperature: self.temperature, seed, vote, schema, ..request }
    }

    /// Scores an answer.
    ///
    /// # Errors
    /// [`LlmError`] where no vote could be had, or where the run must stop.
    pub fn judge(&self, question: &str, gold: &str, answer: &str) -> Result<Judgement, LlmError> {
        let mut votes = Vec::new();
        let (mut failed, mut last) = (Vec::new(), None);
        let (mut spent, mut repaired) = (Spent::default(), 0);
        for request in self.requests(question, gold, answer) {
            match self.client.structured(&request, score::verdict) {
                Ok(checked) => {
                    spent += checked.spent;
                    repaired += usize::from(checked.repaired);
                    let (score, reason) = checked.value;
                    votes.push(Vote { score, reason, seed: request.seed.unwrap_or_default() });
                }
                Err(error) if error.aborts_run() => return Err(error),
                Err(error) => {
                    failed.push(error.to_string());
                    last = Some(error);
                }
            }
        }
        if let Some(error) = last.filter(|_| votes.is_empty()) {
            return Err(error);
        }
        let n = votes.len() as f64;
        let mean = votes.iter().map(|vote| f64::from(vote.score)).sum::<f64>() / n;
        let squares: f64 = votes.iter().map(|vote| (f64::from(vote.score) - mean).powi(2)).sum();
        let variance = (votes.len() > 1).then(|| squares / (n - 1.0));
        Ok(Judgement { votes, failed, mean, variance, repaired, spent })
    }
}

/// A strict schema of an object.
fn object(properties: &[(&str, Value)]) -> Value {
    let names: Vec<&str> = properties.iter().map(|(name, _)| *name).collect();
    let fields: serde_json::Map<String, Value> =
        properties.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    json!({"type": "object", "properties": fields, "required": names, "additionalProperties": false})
}
