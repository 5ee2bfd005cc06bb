use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::prompts::{faithfulness_prompt, judge_prompt, pairwise_prompt, relevance_prompt};
use super::schema::object;
use super::score;
use crate::client::{Client, Shared};
use crate::config::LlmConfig;
use crate::error::LlmError;
use crate::fence::Material;
use crate::prompt::Prompt;
use crate::request::{Request, Schema};
use crate::spent::Spent;

/// One opinion on an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vote {
    /// The score, 0 to 10.
    pub score: u8,
    /// The reason that was given for it; may be empty.
    pub reason: String,
    /// The seed that it was asked for with.
    pub seed: u64,
}

/// All opinions on one answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// The votes, at least one.
    pub votes: Vec<Vote>,
    /// The errors of votes that could not be had; no part of the mean.
    pub failed: Vec<String>,
    /// The mean score, 0 to 10.
    pub mean: f64,
    /// The sample variance of the scores; `None` for a single vote.
    pub variance: Option<f64>,
    /// The number of votes that had to be asked for twice.
    pub repaired: usize,
    /// The tokens and the money that it took.
    pub spent: Spent,
}

/// Scores answers against gold answers.
pub struct LlmJudge {
    pub(super) client: Arc<Client>,
    prompt: Prompt,
    pub(super) faithfulness: Prompt,
    pub(super) relevance: Prompt,
    pub(super) pairwise: Prompt,
    votes: u32,
    max_tokens: u32,
    temperature: f64,
    seed: u64,
}

impl LlmJudge {
    /// Opens the judge of `[llm.judge]`, asked `votes` times (at least once) for each answer.
    ///
    /// # Errors
    /// [`LlmError`] that aborts a run.
    pub fn from_config(config: &LlmConfig, votes: u32, shared: &Shared) -> Result<Self, LlmError> {
        Self::new(Arc::new(Client::from_config(config, shared)?), config, votes)
    }

    /// Creates a judge that asks through `client`; prompts, tokens, temperature and seed are those of `config`.
    ///
    /// # Errors
    /// [`LlmError::Prompt`].
    pub fn new(client: Arc<Client>, config: &LlmConfig, votes: u32) -> Result<Self, LlmError> {
        Ok(Self {
            client,
            prompt: judge_prompt(config.prompt.as_deref())?,
            faithfulness: faithfulness_prompt(config.faithfulness_prompt.as_deref())?,
            relevance: relevance_prompt(config.context_relevance_prompt.as_deref())?,
            pairwise: pairwise_prompt(config.pairwise_prompt.as_deref())?,
            votes: votes.max(1),
            max_tokens: config.max_tokens,
            temperature: config.temperature,
            seed: config.seed,
        })
    }

    /// Returns the prompts as used: judge, faithfulness, context relevance, pairwise.
    #[must_use]
    pub fn prompts(&self) -> [&Prompt; 4] {
        [&self.prompt, &self.faithfulness, &self.relevance, &self.pairwise]
    }

    /// Returns the model behind it.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.client
    }

    fn request(&self, question: &str, gold: &str, answer: &str, vote: u32) -> Request {
        let answer = if answer.trim().is_empty() { "(no answer)" } else { answer };
        let text = Material::Text;
        let values = [("question", text(question)), ("gold", text(gold)), ("answer", text(answer))];
        // The reason comes first: a score is better that was reasoned for, than a reason that defends a score.
        let schema = object(&[("reason", json!({"type": "string"})), ("score", json!({"type": "integer"}))]);
        self.shaped(&self.prompt, &values, "judgement", schema, vote)
    }

    /// Returns a request for JSON of the shape `schema`.
    pub(super) fn shaped(
        &self,
        prompt: &Prompt,
        values: &[(&str, Material<'_>)],
        name: &str,
        schema: Value,
        vote: u32,
    ) -> Request {
        let request = Request::new(prompt.fill_fenced(self.seed, values), self.max_tokens);
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
        for vote in 0..self.votes {
            let request = self.request(question, gold, answer, vote);
            match self.client.structured(&request, score::verdict, score::same) {
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
