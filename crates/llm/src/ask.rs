//! Questions about passages, with the answer quoted.

use std::ops::Range;
use std::sync::Arc;

use pericope_util::one_line;
use serde_json::{Value, json};

use crate::client::{Client, Shared};
use crate::config::LlmConfig;
use crate::error::LlmError;
use crate::fence::Material;
use crate::prompt::Prompt;
use crate::request::{Request, Schema};
use crate::spent::Spent;

const PROMPT: &str = include_str!("../prompts/question.md");
/// Characters of a question at most.
const LONGEST: usize = 300;

/// A question that a model wrote.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenQuestion {
    /// The question; empty where the model found nothing to ask for.
    pub question: String,
    /// The place of the quoted answer in the passage, in bytes; empty where there is no question.
    pub quote: Range<usize>,
    /// True where the model had to be asked a second time.
    pub repaired: bool,
    /// The tokens and the money that it took.
    pub spent: Spent,
}

/// Writes questions about passages.
pub struct LlmAsker {
    client: Arc<Client>,
    prompt: Prompt,
    max_tokens: u32,
    temperature: f64,
    seed: u64,
}

impl LlmAsker {
    /// Opens the model of a configuration. Its prompt is the one built in: `prompt` of the configuration is about answers.
    ///
    /// # Errors
    /// [`LlmError`] that aborts a run.
    pub fn from_config(config: &LlmConfig, shared: &Shared) -> Result<Self, LlmError> {
        Self::new(Arc::new(Client::from_config(config, shared)?), config)
    }

    /// Creates one that asks through `client`; tokens, temperature and seed are those of `config`.
    ///
    /// # Errors
    /// [`LlmError::Prompt`].
    pub fn new(client: Arc<Client>, config: &LlmConfig) -> Result<Self, LlmError> {
        Ok(Self {
            client,
            prompt: Prompt::load(None, "question", PROMPT, &["passage"])?,
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

    /// Asks for a question about a passage. The quoted answer is checked against the passage: but for blanks and line ends
    /// it must stand there letter by letter.
    ///
    /// # Errors
    /// [`LlmError`]: refusals, and answers that are no question with a quotation.
    pub fn ask(&self, passage: &str) -> Result<WrittenQuestion, LlmError> {
        let schema = json!({
            "type": "object",
            "properties": {"question": {"type": "string"}, "quote": {"type": "string"}},
            "required": ["question", "quote"],
            "additionalProperties": false,
        });
        let messages = self.prompt.fill_fenced(self.seed, &[("passage", Material::Text(passage))]);
        let request = Request {
            temperature: self.temperature,
            seed: Some(self.seed),
            schema: Some(Schema { name: "question".to_owned(), schema }),
            ..Request::new(messages, self.max_tokens)
        };
        let checked = self.client.structured(&request, |object| check(object, passage), PartialEq::eq)?;
        let (question, quote) = checked.value;
        Ok(WrittenQuestion { question, quote, repaired: checked.repaired, spent: checked.spent })
    }
}

/// The question of a reply, and where its quotation stands.
fn check(object: &Value, passage: &str) -> Result<(String, Range<usize>), String> {
    let text = |key: &str| {
        let value = object.get(key).and_then(Value::as_str);
        value.map(str::trim).ok_or_else(|| format!("\"{key}\" is missing or no text"))
    };
    let (question, quote) = (text("question")?, text("quote")?);
    if question.is_empty() && quote.is_empty() {
        return Ok((String::new(), 0..0));
    }
    if question.is_empty() {
        return Err("\"question\" is empty and \"quote\" is not".into());
    }
    if question.chars().count() > LONGEST {
        return Err(format!("\"question\" has more than {LONGEST} characters"));
    }
    let found = find(passage, quote).ok_or("\"quote\" does not stand in the passage word for word")?;
    Ok((one_line(question), found))
}

/// Where a quotation stands, whatever blanks and line ends are between its words. Takes time linear in the passage for
/// each word that the quotation begins with.
fn find(passage: &str, quote: &str) -> Option<Range<usize>> {
    let words: Vec<&str> = quote.split_whitespace().collect();
    let first = *words.first()?;
    let stands = |start: usize| {
        let mut at = start;
        for (number, word) in words.iter().enumerate() {
            let rest = passage.get(at..)?;
            let bare = rest.trim_start();
            if number > 0 && bare.len() == rest.len() {
                return None;
            }
            bare.strip_prefix(word)?;
            at += rest.len() - bare.len() + word.len();
        }
        Some(start..at)
    };
    passage.match_indices(first).find_map(|(start, _)| stands(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotations_are_found_across_line_ends_and_not_invented() {
        let passage = "Pumps leak. A pump\nthat   leaks is\treplaced at once. Pumps.";
        assert_eq!(find(passage, "A pump that leaks is replaced at once."), Some(12..52));
        assert_eq!(find(passage, "leaks is"), Some(26..34));
        assert_eq!(find(passage, "A pump that leaks is repaired"), None);
        assert_eq!(find(passage, "pump that leaks is re placed"), None);
        assert_eq!(find(passage, " "), None);
    }

    #[test]
    fn replies_are_checked() {
        let of = |reply: Value| check(&reply, "Pages stay for thirty days.");
        assert_eq!(
            of(json!({"question": "How  long?", "quote": "for thirty days."})),
            Ok(("How long?".into(), 11..27))
        );
        assert_eq!(of(json!({"question": "", "quote": ""})), Ok((String::new(), 0..0)));
        for (reply, says) in [
            (json!({"question": "How long?"}), "quote"),
            (json!({"question": "", "quote": "Pages"}), "empty"),
            (json!({"question": "How long?", "quote": "for forty days"}), "word for word"),
            (json!({"question": "x".repeat(301), "quote": "Pages"}), "300"),
        ] {
            assert!(of(reply).is_err_and(|problem| problem.contains(says)), "{says}");
        }
    }
}
