//! Where the content of passages shifts.

use std::sync::Arc;

use pericope_api::{ModelUse, SegmentError, ShiftFinder};
use pericope_util::one_line;
use serde_json::{Value, json};

use crate::client::{Client, Shared};
use crate::config::LlmConfig;
use crate::error::LlmError;
use crate::fence::Material;
use crate::prompt::{Prompt, PromptError};
use crate::request::Schema;
use crate::steady::Steady;

const PROMPT: &str = include_str!("../prompts/shift.md");

/// Asks a model where the content of numbered passages shifts (Duarte et al. 2024, section 3).
///
/// A reply without a number, or with one that is no passage's, is asked for once more. If that is no better, or the model
/// declines, there is no shift, and the group is counted as failed. Whatever else goes wrong is an error.
pub struct LlmShiftFinder {
    model: Steady,
}

impl LlmShiftFinder {
    /// Opens the model of a configuration, whose `prompt` is about shifts.
    ///
    /// # Errors
    /// [`LlmError`] that aborts a run.
    pub fn from_config(config: &LlmConfig, shared: &Shared) -> Result<Self, LlmError> {
        Self::new(Arc::new(Client::from_config(config, shared)?), config)
    }

    /// Creates one that asks through `client`; prompt, tokens, temperature, seed and concurrency are those of `config`.
    ///
    /// # Errors
    /// [`LlmError::Prompt`].
    pub fn new(client: Arc<Client>, config: &LlmConfig) -> Result<Self, LlmError> {
        Ok(Self { model: Steady::new(client, config, Self::prompt_of(config)?) })
    }

    /// Reads the prompt of a configuration.
    ///
    /// # Errors
    /// [`PromptError`] for a file that cannot be used.
    pub fn prompt_of(config: &LlmConfig) -> Result<Prompt, PromptError> {
        Prompt::load(config.prompt.as_deref(), "shift", PROMPT, &["passages"])
    }

    /// Returns the prompt as used.
    #[must_use]
    pub fn prompt(&self) -> &Prompt {
        self.model.prompt()
    }

    fn ask(&self, passages: &[&str]) -> Result<Option<usize>, LlmError> {
        // A line each, so that no passage can number another.
        let line = |(at, text): (usize, &&str)| format!("{}: {}", at + 1, one_line(text));
        let numbered = passages.iter().enumerate().map(line).collect::<Vec<_>>().join("\n");
        let schema = json!({
            "type": "object",
            "properties": {"id": {"type": "integer"}},
            "required": ["id"],
            "additionalProperties": false,
        });
        let schema = Schema { name: "shift".to_owned(), schema };
        self.model.ask(&[("passages", Material::Text(&numbered))], schema, |object| check(object, passages.len()))
    }
}

impl ShiftFinder for LlmShiftFinder {
    fn fingerprint(&self) -> String {
        self.model.fingerprint()
    }

    fn first_shift(&self, passages: &[&str]) -> Result<Option<usize>, SegmentError> {
        match self.ask(passages) {
            Ok(shift) => Ok(shift),
            Err(LlmError::Invalid { .. } | LlmError::Refused(_) | LlmError::Empty(_)) => {
                self.model.count(ModelUse { asked: 1, failed: 1, ..ModelUse::default() });
                Ok(None)
            }
            Err(error) => Err(SegmentError::Model { stops: error.aborts_run(), problem: error.to_string() }),
        }
    }

    fn workers(&self) -> usize {
        self.model.workers
    }

    fn used(&self) -> ModelUse {
        self.model.used()
    }
}

/// The index of the passage that a reply names among `count`; `None` for 0.
fn check(object: &Value, count: usize) -> Result<Option<usize>, String> {
    let id = object.get("id").ok_or("\"id\" is missing")?;
    let number = id.as_u64().or_else(|| id.as_str().and_then(|text| text.trim().parse().ok()));
    match number.and_then(|number| usize::try_from(number).ok()) {
        Some(0) => Ok(None),
        Some(1) => Err("\"id\" is 1, which is the first passage: name a later one, or 0".into()),
        Some(number) if number <= count => Ok(Some(number - 1)),
        _ => Err(format!("\"id\" is none of the numbers 2 to {count}, and not 0")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_name_a_passage_behind_the_first() {
        for (reply, found) in
            [(json!({"id": 2}), Ok(Some(1))), (json!({"id": " 3 "}), Ok(Some(2))), (json!({"id": 0}), Ok(None))]
        {
            assert_eq!(check(&reply, 3), found);
        }
        for (reply, says) in [
            (json!({"id": 1}), "first passage"),
            (json!({"id": 4}), "2 to 3"),
            (json!({"id": -1}), "2 to 3"),
            (json!({"id": 2.5}), "2 to 3"),
            (json!({"id": "none"}), "2 to 3"),
            (json!({"passage": 2}), "missing"),
        ] {
            assert!(check(&reply, 3).is_err_and(|problem| problem.contains(says)), "{reply}");
        }
    }
}
