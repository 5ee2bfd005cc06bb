//! Answers from retrieved excerpts.

use std::path::Path;
use std::sync::Arc;

use crate::budget::Spent;
use crate::client::{Client, Shared};
use crate::config::LlmConfig;
use crate::error::LlmError;
use crate::prompt::Prompt;
use crate::request::{Finish, Request};

/// The prompt built in.
pub const PROMPT: &str = include_str!("../../../prompts/answer.md");
/// What a prompt must and may hold.
pub const PLACEHOLDERS: &[&str] = &["question", "context"];
/// What a model is told to say where the excerpts do not answer the question.
pub const NOT_IN_CONTEXT: &str = "NOT IN CONTEXT";

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub struct LlmAnswer {
    /// What the model said.
    pub text: String,
    /// It said that the excerpts do not hold the answer (in the words of the prompt built in).
    pub abstained: bool,
    /// `max_tokens` cut it off.
    pub truncated: bool,
    /// Excerpts that were left out, from the end, so that the prompt fitted the model's context.
    pub dropped: usize,
    /// Tokens and money.
    pub spent: Spent,
    /// The model as the server names it.
    pub model: Option<String>,
    /// Tokens written a second, where the model runs in this process.
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
    /// The generator of `[llm.generator]`.
    ///
    /// # Errors
    /// [`LlmError`] that aborts a run.
    pub fn from_config(config: &LlmConfig, shared: &Shared) -> Result<Self, LlmError> {
        Self::new(Arc::new(Client::from_config(config, shared)?), config)
    }

    /// A generator that asks through `client`; prompt, tokens, temperature and seed are those of `config`.
    ///
    /// # Errors
    /// [`LlmError::Prompt`].
    pub fn new(client: Arc<Client>, config: &LlmConfig) -> Result<Self, LlmError> {
        let path: Option<&Path> = config.prompt.as_deref();
        Ok(Self {
            client,
            prompt: Prompt::load(path, "answer", PROMPT, PLACEHOLDERS)?,
            max_tokens: config.max_tokens,
            temperature: config.temperature,
            seed: config.seed,
        })
    }

    /// The prompt as used.
    #[must_use]
    pub fn prompt(&self) -> &Prompt {
        &self.prompt
    }

    /// The model behind it.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// What is asked; for estimates.
    #[must_use]
    pub fn request(&self, question: &str, chunks: &[&str]) -> Request {
        let messages = self.prompt.fill(&[("question", question.trim()), ("context", &numbered(chunks))]);
        let request = Request::new(messages, self.max_tokens);
        Request { temperature: self.temperature, seed: Some(self.seed), ..request }
    }

    /// Answers from `chunks`, best first.
    ///
    /// # Errors
    /// [`LlmError`]: refusals and empty answers among them.
    pub fn answer(&self, question: &str, chunks: &[&str]) -> Result<LlmAnswer, LlmError> {
        let found = self.client.answer_with_context(chunks, |kept| self.request(question, kept))?;
        let text = found.answered.text()?.to_owned();
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

/// Excerpts with their numbers, from 1.
pub(crate) fn numbered(chunks: &[&str]) -> String {
    if chunks.is_empty() {
        return "(no excerpts)".to_owned();
    }
    let numbered: Vec<String> =
        chunks.iter().enumerate().map(|(i, chunk)| format!("[{}]\n{}", i + 1, chunk.trim())).collect();
    numbered.join("\n\n")
}
