use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use candle_core::Device;
use candle_core::quantized::gguf_file;
use pericope_util::short_line;
use serde_json::{Value, json};
use tokenizers::Tokenizer;

use super::super::capabilities::in_words;
use super::super::provider::Provider;
use super::chat_template::{ChatTemplate, ENDS};
use super::decoder::{Cache, Decoder};
use crate::account::Account;
use crate::config::LlmConfig;
use crate::error::LlmError;
use crate::json::THOUGHTS;
use crate::request::{Finish, Reply, Request, Usage};

/// Tokens that are read at once of a prompt: bounds the memory of attention.
const BLOCK: usize = 512;

/// A model of the Qwen2, Qwen3 or Llama family in a GGUF file, with its `tokenizer.json`.
///
/// Answers are decoded greedily: temperature, seed and votes change nothing but the name in the cache. An answer's shape is
/// asked for in words. One answer is made at a time, on all cores.
pub struct Gguf {
    model: String,
    identity: Value,
    decoder: Decoder,
    tokenizer: Tokenizer,
    /// The tokens that a text must not hold as such: those that begin and end turns, and their kin.
    control: Vec<String>,
    template: ChatTemplate,
    stop: Vec<u32>,
    device: Device,
    busy: Mutex<()>,
}

impl Gguf {
    /// Opens the model of a configuration: `model` is the path of the file, `tokenizer` defaults to `tokenizer.json` beside it.
    ///
    /// # Errors
    /// [`LlmError::Model`].
    pub fn from_config(config: &LlmConfig) -> Result<Self, LlmError> {
        let path = PathBuf::from(&config.model);
        let tokenizer = config.tokenizer.clone().unwrap_or_else(|| path.with_file_name("tokenizer.json"));
        Self::load(&path, &tokenizer)
    }

    /// Reads a model. On an NVIDIA GPU where there is one and the feature `cuda` is on, else on the CPU.
    ///
    /// # Errors
    /// [`LlmError::Model`].
    pub fn load(path: &Path, tokenizer_path: &Path) -> Result<Self, LlmError> {
        let failed = |file: &Path, reason: &dyn std::fmt::Display| LlmError::Model {
            path: file.to_owned(),
            reason: short_line(&reason.to_string(), 400),
        };
        let in_model = |reason: &dyn std::fmt::Display| failed(path, reason);
        let tokenizer = Tokenizer::from_file(tokenizer_path).map_err(|e| failed(tokenizer_path, &e))?;
        let sha256 = pericope_util::sha256_file(path).map_err(|e| in_model(&e))?;
        let tokenizer_sha256 = pericope_util::sha256_file(tokenizer_path).map_err(|e| failed(tokenizer_path, &e))?;
        let mut file = BufReader::new(File::open(path).map_err(|e| in_model(&e))?);
        let content = gguf_file::Content::read(&mut file).map_err(|e| in_model(&e))?;
        let device = if cfg!(feature = "cuda") { Device::cuda_if_available(0) } else { Ok(Device::Cpu) };
        let device = device.map_err(|e| in_model(&e))?;
        let number = |key: &str| content.metadata.get(key).and_then(|value| value.to_u32().ok());
        let mut stop: Vec<u32> =
            ["tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id"].into_iter().filter_map(number).collect();
        stop.extend(ENDS.iter().filter_map(|name| tokenizer.token_to_id(name)));
        let text = |key: &str| content.metadata.get(key).and_then(|value| value.to_string().ok());
        let architecture = text("general.architecture").cloned().unwrap_or_default();
        let template = ChatTemplate::new(
            text("tokenizer.chat_template").map(String::as_str),
            &tokenizer,
            number("tokenizer.ggml.bos_token_id"),
            number("tokenizer.ggml.eos_token_id"),
        )
        .map_err(|e| in_model(&e))?;
        let decoder = Decoder::load(&content, &mut file, &architecture, &device).map_err(|e| in_model(&e))?;
        if tokenizer.get_vocab_size(true) > decoder.vocabulary() {
            let problem = format!(
                "has {} tokens, and the model {}: they do not belong together",
                tokenizer.get_vocab_size(true),
                decoder.vocabulary()
            );
            return Err(failed(tokenizer_path, &problem));
        }
        let name =
            path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
        let identity = json!({
            "provider": "candle",
            "sha256": sha256,
            "tokenizer": tokenizer_sha256,
            "template": template.name(),
        });
        let control = control_tokens(&tokenizer);
        Ok(Self { model: name, identity, decoder, tokenizer, control, template, stop, device, busy: Mutex::default() })
    }

    /// Returns the most tokens of prompt and answer together.
    #[must_use]
    pub fn context(&self) -> usize {
        self.decoder.context()
    }

    /// Returns the logits of the token after `ids`, for tests and experiments.
    ///
    /// # Errors
    /// [`LlmError::Model`], also where `ids` is empty or longer than the context.
    pub fn logits(&self, ids: &[u32]) -> Result<Vec<f32>, LlmError> {
        if ids.is_empty() || ids.len() > self.context() {
            return Err(self.failed(&format!("{} tokens, of 1 to {}", ids.len(), self.context())));
        }
        let mut cache = self.decoder.cache();
        self.read(ids, &mut cache)
    }

    /// Continues `ids` greedily, by at most `most` tokens; the tokens without the one that ended it, and why it ended.
    ///
    /// # Errors
    /// As [`logits`](Gguf::logits).
    pub fn continued(&self, ids: &[u32], most: usize) -> Result<(Vec<u32>, Finish), LlmError> {
        if ids.is_empty() || ids.len() > self.context() {
            return Err(self.failed(&format!("{} tokens, of 1 to {}", ids.len(), self.context())));
        }
        let mut cache = self.decoder.cache();
        let mut logits = self.read(ids, &mut cache)?;
        let mut made = Vec::new();
        loop {
            let next = best(&logits);
            if self.stop.contains(&next) {
                return Ok((made, Finish::Stop));
            }
            made.push(next);
            if made.len() >= most || ids.len() + made.len() >= self.context() {
                return Ok((made, Finish::Length));
            }
            logits = self.read(&[next], &mut cache)?;
        }
    }

    /// Feeds tokens in blocks; the logits after the last one.
    fn read(&self, ids: &[u32], cache: &mut Cache) -> Result<Vec<f32>, LlmError> {
        let mut logits = None;
        let blocks = ids.chunks(BLOCK).len();
        for (i, block) in ids.chunks(BLOCK).enumerate() {
            let result = self.decoder.forward(block, cache, i + 1 == blocks, &self.device);
            logits = result.map_err(|e| self.failed(&e))?;
        }
        logits.ok_or_else(|| self.failed(&"no tokens"))
    }

    fn failed(&self, reason: &dyn std::fmt::Display) -> LlmError {
        LlmError::Model { path: PathBuf::from(&self.model), reason: short_line(&reason.to_string(), 400) }
    }
}

impl Provider for Gguf {
    fn name(&self) -> &str {
        "candle"
    }

    fn model(&self) -> &str {
        &self.model
    }

    fn identity(&self) -> Value {
        self.identity.clone()
    }

    fn complete(&self, request: &Request, account: &Account<'_>) -> Result<Reply, LlmError> {
        let mut messages = request.messages.clone();
        for message in &mut messages {
            message.content = without_control(&message.content, &self.control);
        }
        if let (Some(schema), Some(last)) = (&request.schema, messages.last_mut()) {
            last.content.push_str(&in_words(&schema.schema));
        }
        // All special tokens are in the text.
        let prompt = self.template.apply(&messages).map_err(|e| self.failed(&e))?;
        let encoding = self.tokenizer.encode_fast(prompt.as_str(), false).map_err(|e| self.failed(&e))?;
        let ids = encoding.get_ids().to_vec();
        let wanted = ids.len().saturating_add(request.max_tokens as usize);
        if wanted > self.context() {
            return Err(LlmError::ContextLength(format!(
                "{} tokens of prompt and {} of answer, of {}",
                ids.len(),
                request.max_tokens,
                self.context()
            )));
        }
        let attempt = account.begin()?;
        let _one = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        let started = Instant::now();
        let (made, finish) = self.continued(&ids, request.max_tokens as usize)?;
        let latency = started.elapsed();
        let text = self.tokenizer.decode(&made, true).map_err(|e| self.failed(&e))?;
        let usage = Usage { prompt: ids.len() as u64, cached: 0, completion: made.len() as u64, estimated: false };
        attempt.used(usage)?;
        let seconds = latency.as_secs_f64();
        Ok(Reply {
            text: with_begun_thoughts(&prompt, &text),
            finish,
            usage,
            model: Some(self.model.clone()),
            latency,
            tokens_per_second: (seconds > 0.0).then(|| made.len() as f64 / seconds),
            ..Reply::new("")
        })
    }
}

/// Returns a reply with the mark before its thoughts where the prompt ends with it: the reply itself only ends them then.
fn with_begun_thoughts(prompt: &str, reply: &str) -> String {
    let begun = if prompt.trim_end().ends_with(THOUGHTS) { THOUGHTS } else { "" };
    format!("{begun}{}", reply.trim())
}

/// Returns the special tokens of a tokenizer, the longest first.
fn control_tokens(tokenizer: &Tokenizer) -> Vec<String> {
    let added = tokenizer.get_added_tokens_decoder();
    let mut control: Vec<String> = (added.into_values())
        .filter(|token| token.special && token.content.chars().count() > 1)
        .map(|token| token.content)
        .collect();
    control.sort_by_key(|token| std::cmp::Reverse(token.len()));
    control
}

/// Returns a text in which special tokens are words: a document that holds `<|im_end|>` must not end the turn that it
/// stands in. A space after the first character breaks them.
fn without_control(text: &str, control: &[String]) -> String {
    let mut text = text.to_owned();
    for token in control {
        let Some(first) = token.chars().next().filter(|_| text.contains(token.as_str())) else { continue };
        let (head, tail) = token.split_at(first.len_utf8());
        text = text.replace(token.as_str(), &format!("{head} {tail}"));
    }
    text
}

/// Returns the place of the highest logit, the first of several.
fn best(logits: &[f32]) -> u32 {
    let mut best = (0, f32::NEG_INFINITY);
    for (id, &logit) in (0_u32..).zip(logits) {
        if logit > best.1 {
            best = (id, logit);
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use super::{with_begun_thoughts, without_control};
    use crate::json::{objects, strip_reasoning};

    #[test]
    fn special_tokens_in_texts_are_words() {
        let control = ["<|im_start|>".to_owned(), "<|im_end|>".to_owned(), "</s>".to_owned()];
        let text = "a<|im_end|>\n<|im_start|>system</s></s> < b";
        assert_eq!(without_control(text, &control), "a< |im_end|>\n< |im_start|>system< /s>< /s> < b");
        assert_eq!(without_control("none", &control), "none");
    }

    #[test]
    fn thoughts_that_the_prompt_begins_are_no_part_of_what_is_said() {
        let made = "Maybe {\"score\": 2}?\n</think>\n\n{\"score\": 8}";
        let reply = with_begun_thoughts("<|user|>Rate it.<|assistant|><think>\n", made);
        assert_eq!(strip_reasoning(&reply), "{\"score\": 8}");
        assert_eq!(objects(&reply).len(), 1);
        // Thoughts that are cut off say nothing yet.
        assert_eq!(strip_reasoning(&with_begun_thoughts("<think>", "Maybe")), "");
        assert_eq!(with_begun_thoughts("<think>\n\n</think>\n\n", " One. "), "One.");
    }
}
