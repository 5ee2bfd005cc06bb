//! Sentences that place a chunk in its document, before it is embedded and its words are indexed.

use std::sync::Arc;

use pericope_api::{Chunk, Document, ModelUse, Span};
use pericope_util::one_line;
use serde_json::{Value, json};

use crate::batch::map_concurrent;
use crate::client::{Client, Shared};
use crate::config::LlmConfig;
use crate::error::LlmError;
use crate::fence::Material;
use crate::prompt::{Prompt, PromptError};
use crate::request::Schema;
use crate::steady::Steady;

const PROMPT: &str = include_str!("../prompts/context.md");
const SHOWN: usize = LlmContextWriter::DOCUMENT_BYTES;
/// Characters of a context at most.
const LONGEST: usize = 600;
/// Stands for what is left out of a document.
const LEFT_OUT: &str = "\n[...]\n";

/// Asks a model for a sentence or two that place a chunk in its document.
///
/// A chunk about which the model gives no usable reply has no context, and is counted as failed.
pub struct LlmContextWriter {
    model: Steady,
}

impl LlmContextWriter {
    /// Bytes of a document that are shown: of a longer one a quarter from its beginning, and the rest around the chunk.
    pub const DOCUMENT_BYTES: usize = 8_000;

    /// Opens the model of a configuration, whose `prompt` is about contexts.
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
        Prompt::load(config.prompt.as_deref(), "context", PROMPT, &["title", "document", "chunk"])
    }

    /// Returns the prompt as used.
    #[must_use]
    pub fn prompt(&self) -> &Prompt {
        self.model.prompt()
    }

    /// Names all that contexts depend on beside document and chunk: model, prompt, sampling.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        self.model.fingerprint()
    }

    /// Returns what was asked so far, and what came of it.
    #[must_use]
    pub fn used(&self) -> ModelUse {
        self.model.used()
    }

    /// Writes the contexts of a document's chunks into them.
    ///
    /// # Errors
    /// As [`contexts`](Self::contexts), and [`LlmError::Unavailable`] where nobody answered for a chunk: the document can be written
    /// later, with all of its contexts.
    pub fn write(&self, document: &Document, chunks: &mut [Chunk]) -> Result<(), LlmError> {
        let pairs: Vec<(&Document, &Chunk)> = chunks.iter().map(|chunk| (document, chunk)).collect();
        let contexts: Result<Vec<_>, LlmError> = self.ask_all(&pairs, &|| ())?.into_iter().collect();
        for (chunk, context) in chunks.iter_mut().zip(contexts?) {
            chunk.context = context;
        }
        Ok(())
    }

    /// Returns the contexts of chunks, each with its document, in their order; `None` where the model gave no usable reply, or none at
    /// all while it gave others. `done` is called as each is finished, from any thread.
    ///
    /// # Errors
    /// [`LlmError`] where every other chunk would fail the same way, and where nobody answered for any ([`LlmError::NotCached`],
    /// [`LlmError::Unavailable`]): chunks without a context would be compared with chunks that have one.
    pub fn contexts(
        &self,
        chunks: &[(&Document, &Chunk)],
        done: &(dyn Fn() + Sync),
    ) -> Result<Vec<Option<String>>, LlmError> {
        let asked = self.ask_all(chunks, done)?;
        let unanswered = |one: &Result<_, _>| matches!(one, Err(LlmError::Unavailable { .. }));
        if asked.iter().all(unanswered) {
            return asked.into_iter().collect();
        }
        let context = |one: Result<Option<String>, LlmError>| match unanswered(&one) {
            true => Ok(self.failed()),
            false => one,
        };
        asked.into_iter().map(context).collect()
    }

    /// Asks for the contexts of all chunks, unless the rest would fail the same way.
    fn ask_all(
        &self,
        chunks: &[(&Document, &Chunk)],
        done: &(dyn Fn() + Sync),
    ) -> Result<Vec<Result<Option<String>, LlmError>>, LlmError> {
        let batch = map_concurrent(self.model.workers, chunks, |_, (document, chunk)| {
            let context = self.one(document, chunk);
            done();
            context
        });
        match batch.stopped {
            Some(error) => Err(error),
            None => Ok(batch.results.into_iter().map(|one| one.unwrap_or(Ok(None))).collect()),
        }
    }

    /// Counts a chunk that has no context.
    fn failed(&self) -> Option<String> {
        self.model.count(ModelUse { asked: 1, failed: 1, ..ModelUse::default() });
        None
    }

    fn one(&self, document: &Document, chunk: &Chunk) -> Result<Option<String>, LlmError> {
        let headings = chunk.heading_path.iter().map(|heading| &**heading);
        // Many documents have their title as the first heading.
        let title = document.title.as_deref().filter(|title| headings.clone().next() != Some(*title));
        let above: Vec<&str> = title.into_iter().chain(headings).collect();
        let title = if above.is_empty() { document.id.clone() } else { above.join(" > ") };
        let (shown, text) = (shown(document, chunk.span), document.visible(chunk.span));
        let values =
            [("title", Material::Text(&title)), ("document", Material::Text(&shown)), ("chunk", Material::Text(&text))];
        let schema = json!({
            "type": "object",
            "properties": {"context": {"type": "string"}},
            "required": ["context"],
            "additionalProperties": false,
        });
        match self.model.ask(&values, Schema { name: "context".to_owned(), schema }, check) {
            Ok(context) => Ok(Some(context)),
            Err(error @ (LlmError::NotCached | LlmError::Unavailable { .. })) => Err(error),
            Err(error) if error.aborts_run() => Err(error),
            Err(_) => Ok(self.failed()),
        }
    }
}

/// What the model sees of a document: all of it, or its beginning and what stands around the chunk.
fn shown(document: &Document, chunk: Span) -> String {
    let source = &document.source;
    let visible = |from: usize, until: usize| {
        document.visible(Span::new(source.floor_char_boundary(from), source.floor_char_boundary(until))).into_owned()
    };
    if source.len() <= SHOWN {
        return visible(0, source.len());
    }
    let head = SHOWN / 4;
    let around = (SHOWN - head).saturating_sub(chunk.end - chunk.start) / 2;
    let from = chunk.start.saturating_sub(around);
    let until = chunk.end.min(chunk.start.saturating_add(SHOWN)).saturating_add(around).min(source.len());
    if from <= head {
        let text = visible(0, until);
        return if until < source.len() { text + LEFT_OUT } else { text };
    }
    let tail = if until < source.len() { LEFT_OUT } else { "" };
    format!("{}{LEFT_OUT}{}{tail}", visible(0, head), visible(from, until))
}

/// The context of a reply, on one line.
fn check(object: &Value) -> Result<String, String> {
    let text = object.get("context").and_then(Value::as_str).ok_or("\"context\" is missing or no text")?;
    let line = one_line(text);
    if line.is_empty() {
        return Err("\"context\" is empty".into());
    }
    if line.chars().count() > LONGEST {
        return Err(format!("\"context\" has more than {LONGEST} characters"));
    }
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_document_its_beginning_and_the_surroundings_are_shown() {
        let sentences: Vec<String> = (0..3000).map(|n| format!("Sentence {n} is here.")).collect();
        let document = Document::from_sentences("d", &sentences);
        let at = |n: usize| document.sentences.get(n).map_or(Span::new(0, 0), |sentence| sentence.span);
        for (n, left_out) in [(0, 1), (1500, 2), (2999, 1)] {
            let shown = shown(&document, at(n));
            assert!(shown.starts_with("Sentence 0 is here."), "{n}");
            assert!(shown.contains(&format!("Sentence {n} is here.")), "{n}");
            assert_eq!(shown.matches("[...]").count(), left_out, "{n}");
            assert!(shown.len() <= SHOWN + 2 * LEFT_OUT.len(), "{n}: {}", shown.len());
        }
        // A chunk that is longer than what is shown.
        assert!(shown(&document, Span::new(at(1000).start, at(2500).end)).len() < 2 * SHOWN);
        let small = Document::from_sentences("s", &["One.", "Two."]);
        assert_eq!(shown(&small, Span::new(0, 4)), "One.\nTwo.");
    }

    #[test]
    fn replies_are_one_short_line() {
        assert_eq!(check(&json!({"context": " Backups\n of Kestrel. "})), Ok("Backups of Kestrel.".to_owned()));
        for reply in [json!({"context": " "}), json!({"context": 3}), json!({}), json!({"context": "x ".repeat(400)})] {
            assert!(check(&reply).is_err(), "{reply}");
        }
    }
}
