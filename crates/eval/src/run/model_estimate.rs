//! What asking one model comes to, and the sizes that it is estimated from.

use pericope_llm::LlmConfig;
use pericope_segment::Limits;
use pericope_segment::registry::is_finished;
use serde::Serialize;

use crate::config::{ChunkerConfig, Experiment};

/// Tokens that a chunk without a limit is counted with, where documents are as long; it may be longer.
pub const UNLIMITED_CHUNK: usize = 512;
/// Bytes a token has about, for texts that nothing has counted.
pub const BYTES_PER_TOKEN: usize = 4;

/// Requests to one model, in round numbers.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ModelEstimate {
    /// `generator`, `judge`, `segmenter`, `context`, `embedder` or `reranker`.
    pub role: &'static str,
    /// The model as the configuration names it.
    pub model: String,
    /// Requests at most; for `segmenter` and `context` as many as are likely: as if each group was cut in its middle, and chunks were
    /// half as long as they may be.
    pub calls: usize,
    /// Tokens of their prompts or texts, estimated.
    pub prompt_tokens: usize,
    /// Tokens of the answers at most; 0 for an embedder and a reranker.
    pub completion_tokens: usize,
    /// The price at most, where the configuration names prices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<f64>,
    /// Seconds that `tokens_per_minute` makes of it at least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds_at_least: Option<f64>,
}

impl ModelEstimate {
    /// Returns the estimate of so many calls of a configured model, with the tokens of all prompts and of all answers.
    #[must_use]
    pub fn of(role: &'static str, config: &LlmConfig, calls: usize, (prompt, completion): (usize, usize)) -> Self {
        let seconds = |rate: u64| 60.0 * (prompt as f64 + completion as f64) / rate as f64;
        Self {
            role,
            model: config.model.clone(),
            calls,
            prompt_tokens: prompt,
            completion_tokens: completion,
            price: config.price.map(|price| price.of(prompt as u64, completion as u64)),
            seconds_at_least: config.tokens_per_minute.map(seconds),
        }
    }
}

/// Tokens of a chunker's chunks at most, as far as can be told without cutting.
pub(super) fn chunk(experiment: &Experiment, chunker: &ChunkerConfig, corpus: &[usize]) -> usize {
    let number = |key: &str| chunker.spec.get(key).and_then(|text| text.parse::<usize>().ok());
    // A word has some 1.4 tokens.
    let own = number("tokens").or(number("words").map(|words| words.saturating_mul(7) / 5));
    let longest = corpus.iter().copied().max().unwrap_or(UNLIMITED_CHUNK);
    let limit = match limit(experiment, chunker) {
        Some(0) => UNLIMITED_CHUNK,
        Some(limit) => limit,
        None => experiment.known_limits().max_tokens.unwrap_or(Limits::LONGEST),
    };
    own.unwrap_or(limit).min(longest).max(1)
}

/// The limit in tokens that the configuration gives a chunker's chunks; 0 for none.
pub(super) fn limit(experiment: &Experiment, chunker: &ChunkerConfig) -> Option<usize> {
    let own = chunker.spec.get("max_tokens").and_then(|text| text.parse::<usize>().ok());
    // Chunks that others made are cut further only where their spec says so.
    let finished = is_finished(&chunker.spec.name).then_some(0);
    own.or(finished).or(experiment.max_tokens)
}
