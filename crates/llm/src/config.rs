//! `[llm.generator]` and `[llm.judge]`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::error::LlmError;

/// One model and how to talk to it. Unknown keys are errors; keys of services are never part of it, only the names of
/// the environment variables that hold them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LlmConfig {
    /// `openai` (any server that speaks its API), `anthropic`, or `candle` (a GGUF file in this process).
    pub provider: String,
    /// Where the API is, with `/v1` where the server wants it; default: the provider's own service. Not for `candle`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The model's name, or for `candle` the path of its GGUF file.
    pub model: String,
    /// Environment variable that holds the key. Default: the provider's usual one where `base_url` is not set, no key
    /// where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// More headers for every request; `${NAME}` is replaced by the environment variable.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Calls under way at once, at least 1; default 4.
    #[serde(default = "four")]
    pub concurrency: usize,
    /// Tokens a minute that may be asked for (prompt and `max_tokens`); default: no limit of ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_per_minute: Option<u64>,
    /// Seconds until a call is given up; default 120.
    #[serde(default = "timeout")]
    pub timeout_seconds: f64,
    /// How often a failed call is repeated; default 6.
    #[serde(default = "retries")]
    pub retries: u32,
    /// The first wait after a failed call is at most so many seconds (anything from 0, by chance), doubled each time up to
    /// 30; a server's `retry-after` counts where it is longer. Default 0.5.
    #[serde(default = "retry_wait")]
    pub retry_wait_seconds: f64,
    /// Most tokens of an answer; default 1024.
    #[serde(default = "max_tokens")]
    pub max_tokens: u32,
    /// Sampling temperature; default 0. Left out where the model takes none.
    #[serde(default)]
    pub temperature: f64,
    /// Seed of the sampling; default 7. Votes count up from it.
    #[serde(default = "seed")]
    pub seed: u64,
    /// Prompt file; default: the one built in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<PathBuf>,
    /// `tokenizer.json` of the model. For `candle`, default: beside the GGUF file. For the others it makes estimates of
    /// tokens exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokenizer: Option<PathBuf>,
    /// What tokens cost; without it, calls are taken to cost nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
}

/// `[llm.*.price]`: per million tokens, in any currency.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// A million tokens read.
    pub input: f64,
    /// A million tokens written.
    pub output: f64,
}

impl Price {
    /// Price of so many tokens.
    #[must_use]
    pub fn of(&self, prompt: u64, completion: u64) -> f64 {
        (prompt as f64 * self.input + completion as f64 * self.output) / 1e6
    }
}

fn four() -> usize {
    4
}
fn timeout() -> f64 {
    120.0
}
fn retries() -> u32 {
    6
}
fn retry_wait() -> f64 {
    0.5
}
fn max_tokens() -> u32 {
    1024
}
fn seed() -> u64 {
    7
}

impl LlmConfig {
    /// A configuration with every default.
    #[must_use]
    pub fn new(provider: &str, model: &str) -> Self {
        Self {
            provider: provider.to_owned(),
            base_url: None,
            model: model.to_owned(),
            api_key_env: None,
            headers: BTreeMap::new(),
            concurrency: four(),
            tokens_per_minute: None,
            timeout_seconds: timeout(),
            retries: retries(),
            retry_wait_seconds: retry_wait(),
            max_tokens: max_tokens(),
            temperature: 0.0,
            seed: seed(),
            prompt: None,
            tokenizer: None,
            price: None,
        }
    }

    /// Reads and checks a table; `name` (`llm.judge`) is used in messages, which are one line.
    ///
    /// # Errors
    /// [`LlmError::Config`] names the table and the key.
    pub fn from_table(name: &str, table: &toml::Value) -> Result<Self, LlmError> {
        let config: Self = table.clone().try_into().map_err(|e: toml::de::Error| {
            // The message alone: the error's full text quotes the line, and someone may have put a key there.
            LlmError::Config(format!("[{name}]: {}", crate::error::short(e.message(), 400)))
        })?;
        config.check().map_err(|problem| LlmError::Config(format!("[{name}]: {problem}")))?;
        Ok(config)
    }

    /// Checks the values.
    ///
    /// # Errors
    /// In words, naming the key.
    pub fn check(&self) -> Result<(), String> {
        if !crate::providers::NAMES.contains(&self.provider.as_str()) {
            let known = crate::providers::NAMES.join(", ");
            return Err(format!("provider = \"{}\" is not known here: choose from {known}", self.provider));
        }
        if self.model.trim().is_empty() {
            return Err("model is empty".into());
        }
        if self.concurrency == 0 {
            return Err("concurrency must be at least 1".into());
        }
        if self.max_tokens == 0 {
            return Err("max_tokens must be at least 1".into());
        }
        if self.tokens_per_minute == Some(0) {
            return Err("tokens_per_minute must be at least 1".into());
        }
        if !(self.timeout_seconds > 0.0 && self.timeout_seconds <= 86_400.0) {
            return Err("timeout_seconds must be more than 0 and at most a day".into());
        }
        if !(0.0..=30.0).contains(&self.retry_wait_seconds) {
            return Err("retry_wait_seconds must be 0 to 30".into());
        }
        if !(0.0..=2.0).contains(&self.temperature) {
            return Err("temperature must be 0 to 2".into());
        }
        if let Some(price) = self.price
            && !(price.input >= 0.0 && price.output >= 0.0 && price.input.is_finite() && price.output.is_finite())
        {
            return Err("price.input and price.output must be 0 or more".into());
        }
        Ok(())
    }
}

/// Replaces `${NAME}` by the variable's value.
///
/// # Errors
/// In words: a variable that is not set, or a brace that is not closed.
pub(crate) fn expand(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, tail)) = rest.split_once("${") {
        out.push_str(before);
        let (name, after) = tail.split_once('}').ok_or("'${' without '}'")?;
        let value = variable(name).ok_or_else(|| format!("the environment variable {name} is not set"))?;
        out.push_str(value.trim());
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{LlmConfig, expand};

    fn parse(text: &str) -> Result<LlmConfig, String> {
        LlmConfig::from_table("llm.judge", &toml::Value::Table(text.parse().unwrap())).map_err(|e| e.to_string())
    }

    #[test]
    fn tables_are_checked() {
        let whole = parse(
            "provider = \"openai\"\nbase_url = \"http://127.0.0.1:8000/v1\"\nmodel = \"m\"\napi_key_env = \"K\"\n\
             concurrency = 8\nprompt = \"p.md\"\nprice = {input = 2.5, output = 10}\nheaders = {a = \"${B}\"}\n\
             timeout_seconds = 3\nmax_tokens = 9\ntokens_per_minute = 100\nseed = 1\ntokenizer = \"t.json\"",
        )
        .unwrap();
        assert_eq!((whole.concurrency, whole.seed, whole.temperature), (8, 1, 0.0));
        assert!((whole.price.unwrap().of(1_000_000, 100_000) - 3.5).abs() < 1e-12);
        let again: LlmConfig = toml::from_str(&toml::to_string(&whole).unwrap()).unwrap();
        assert_eq!(again, whole);
        let error = parse("provider = \"openai\"\nmodel = \"m\"\napi_key = \"sk-123456\"").unwrap_err();
        assert!(
            error.contains("[llm.judge]") && error.contains("`api_key`") && error.contains("api_key_env"),
            "{error}"
        );
        assert!(!error.contains("sk-123456") && !error.contains('\n'), "{error}");
        for (wrong, says) in [
            ("provider = \"opnai\"\nmodel = \"m\"", "choose from openai, anthropic, candle"),
            ("provider = \"openai\"\nmodel = \" \"", "model is empty"),
            ("provider = \"openai\"\nmodel = \"m\"\nconcurrency = 0", "concurrency"),
            ("provider = \"openai\"\nmodel = \"m\"\ntimeout_seconds = 0", "timeout_seconds"),
            ("provider = \"openai\"\nmodel = \"m\"\nprice = {input = -1, output = 0}", "price"),
            ("provider = \"openai\"\nmodel = \"m\"\nprice = {inputs = 1, output = 0}", "inputs"),
            ("provider = \"openai\"", "model"),
        ] {
            let error = parse(wrong).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn variables_are_expanded() {
        let variable = |name: &str| (name == "A").then(|| "x\n".to_owned());
        assert_eq!(expand("Bearer ${A}!", &variable).unwrap(), "Bearer x!");
        assert!(expand("${B}", &variable).unwrap_err().contains('B'));
    }
}
