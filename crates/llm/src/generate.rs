//! Answers from retrieved excerpts.

use std::sync::Arc;

use crate::client::{Client, Shared};
use crate::config::LlmConfig;
use crate::error::LlmError;
use crate::fence::Material;
use crate::prompt::Prompt;
use crate::request::{Finish, Request};
use crate::spent::Spent;

const PROMPT: &str = include_str!("../prompts/answer.md");
/// Placeholders that a prompt must and may hold.
const PLACEHOLDERS: &[&str] = &["question", "context"];
/// The words of a model that finds no answer in the excerpts.
const NOT_IN_CONTEXT: &str = "NOT IN CONTEXT";

/// A model's answer to a question.
#[derive(Debug, Clone, PartialEq)]
pub struct LlmAnswer {
    /// The model's words.
    pub text: String,
    /// True where it said that the excerpts do not hold the answer (in the words of the prompt built in).
    pub abstained: bool,
    /// True where `max_tokens` cut it off.
    pub truncated: bool,
    /// The number of excerpts that were left out, from the end, so that the prompt fitted the model's context.
    pub dropped: usize,
    /// The tokens and the money that it took.
    pub spent: Spent,
    /// The model as the server names it.
    pub model: Option<String>,
    /// The number of tokens written a second, where the model runs in this process.
    pub tokens_per_second: Option<f64>,
}

/// Answers questions from excerpts, and from nothing else.
pub struct LlmGenerator {
    client: Arc<Client>,
    prompt: Prompt,
    max_tokens: u32,
    temperature: f64,
    seed: u64,
}

impl LlmGenerator {
    /// Opens the generator of `[llm.generator]`.
    ///
    /// # Errors
    /// [`LlmError`] that aborts a run.
    pub fn from_config(config: &LlmConfig, shared: &Shared) -> Result<Self, LlmError> {
        Self::new(Arc::new(Client::from_config(config, shared)?), config)
    }

    /// Creates a generator that asks through `client`; prompt, tokens, temperature and seed are those of `config`.
    ///
    /// # Errors
    /// [`LlmError::Prompt`].
    pub fn new(client: Arc<Client>, config: &LlmConfig) -> Result<Self, LlmError> {
        Ok(Self {
            client,
            prompt: Prompt::load(config.prompt.as_deref(), "answer", PROMPT, PLACEHOLDERS)?,
            max_tokens: config.max_tokens,
            temperature: config.temperature,
            seed: config.seed,
        })
    }

    /// Returns the prompt as used.
    #[must_use]
    pub fn prompt(&self) -> &Prompt {
        &self.prompt
    }

    /// Returns the model behind it.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.client
    }

    fn request(&self, question: &str, chunks: &[&str]) -> Request {
        let values = [("question", Material::Text(question)), ("context", Material::Excerpts(chunks))];
        let messages = self.prompt.fill_fenced(self.seed, &values);
        let request = Request::new(messages, self.max_tokens);
        Request { temperature: self.temperature, seed: Some(self.seed), ..request }
    }

    /// Answers from `chunks`, best first.
    ///
    /// # Errors
    /// [`LlmError`]: refusals and empty answers among them.
    pub fn answer(&self, question: &str, chunks: &[&str]) -> Result<LlmAnswer, LlmError> {
        let found = self.client.answer_with_context(chunks, |kept| self.request(question, kept))?;
        let text = found.answered.prose()?.to_owned();
        let reply = found.answered.reply;
        Ok(LlmAnswer {
            abstained: text.trim_matches(['.', '"', '*', ' ']).eq_ignore_ascii_case(NOT_IN_CONTEXT),
            text,
            truncated: reply.finish == Finish::Length,
            dropped: found.dropped,
            spent: found.spent,
            model: reply.model,
            tokens_per_second: reply.tokens_per_second,
        })
    }
}
