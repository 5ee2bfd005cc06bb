//! `[llm.generator]`, `[llm.judge]`, `[llm.segmenter]` and `[llm.context]`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The kinds of providers, spelled in lower case: `provider = "openai"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub enum ProviderKind {
    /// Any server that speaks OpenAI's chat completions.
    OpenAi,
    /// Anthropic's messages API.
    Anthropic,
    /// A GGUF file in this process.
    Candle,
}

impl ProviderKind {
    const ALL: [Self; 3] = [Self::OpenAi, Self::Anthropic, Self::Candle];

    /// Returns the name as it is written in a configuration.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Candle => "candle",
        }
    }
}

impl From<ProviderKind> for &'static str {
    fn from(kind: ProviderKind) -> Self {
        kind.name()
    }
}

impl TryFrom<String> for ProviderKind {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
            let known = Self::ALL.map(Self::name).join(", ");
            format!("provider = \"{name}\" is not known here: choose from {known}")
        })
    }
}

/// One model and how to talk to it. Unknown keys are errors; keys of services are never part of it, only the names of
/// the environment variables that hold them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LlmConfig {
    /// `openai` (any server that speaks its API), `anthropic`, or `candle` (a GGUF file in this process).
    pub provider: ProviderKind,
    /// The address of the API, with `/v1` where the server wants it; default: the provider's own service. Not for `candle`. In a
    /// file `${NAME}` and `${NAME:-default}` are expanded, as in `model`.
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
    /// Seconds until a call is given up, up to a day; default 120.
    #[serde(default = "timeout")]
    pub timeout_seconds: f64,
    /// The number of times that a failed call is repeated; default 6.
    #[serde(default = "retries")]
    pub retries: u32,
    /// The first wait after a failed call is at most so many seconds (anything from 0, by chance), doubled each time up to
    /// 30; a server's `retry-after` counts where it is longer. Default 0.5.
    #[serde(default = "retry_wait")]
    pub retry_wait_seconds: f64,
    /// Seconds that a run waits in all because the server asks it to (`retry-after`), up to a day; then it stops and can be
    /// resumed. One item waits 600 s at most, and one pause is 300 s at most. Default 3600.
    #[serde(default = "max_wait")]
    pub max_wait_seconds: f64,
    /// Most tokens of an answer, at least 1; default 1024.
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
    /// Prompt file of a judge's faithfulness; default: the one built in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faithfulness_prompt: Option<PathBuf>,
    /// Prompt file of a judge's context relevance; default: the one built in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_relevance_prompt: Option<PathBuf>,
    /// Prompt file of a judge's comparison of two answers; default: the one built in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairwise_prompt: Option<PathBuf>,
    /// `tokenizer.json` of the model. For `candle`, default: beside the GGUF file. For the others it makes estimates of
    /// tokens exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokenizer: Option<PathBuf>,
    /// The price of tokens; without it, calls are taken to cost nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
}

/// `[llm.*.price]`: prices of a million tokens, in any currency.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// The price of a million tokens read, 0 or more.
    pub input: f64,
    /// The price of a million tokens written, 0 or more.
    pub output: f64,
}

impl Price {
    /// Returns the price of a call with so many tokens.
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
fn max_wait() -> f64 {
    3600.0
}
fn max_tokens() -> u32 {
    1024
}
fn seed() -> u64 {
    7
}

impl LlmConfig {
    /// Returns a configuration with every default.
    #[must_use]
    pub fn new(provider: ProviderKind, model: &str) -> Self {
        Self {
            provider,
            base_url: None,
            model: model.to_owned(),
            api_key_env: None,
            headers: BTreeMap::new(),
            concurrency: four(),
            tokens_per_minute: None,
            timeout_seconds: timeout(),
            retries: retries(),
            retry_wait_seconds: retry_wait(),
            max_wait_seconds: max_wait(),
            max_tokens: max_tokens(),
            temperature: 0.0,
            seed: seed(),
            prompt: None,
            faithfulness_prompt: None,
            context_relevance_prompt: None,
            pairwise_prompt: None,
            tokenizer: None,
            price: None,
        }
    }

    /// Checks the values.
    ///
    /// # Errors
    /// One line that names the key.
    pub fn check(&self) -> Result<(), String> {
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
        if !(0.0..=86_400.0).contains(&self.max_wait_seconds) {
            return Err("max_wait_seconds must be 0 to a day".into());
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::LlmConfig;

    fn parse(text: &str) -> Result<LlmConfig, String> {
        let config: LlmConfig = toml::from_str(text).map_err(|e| e.message().to_owned())?;
        config.check().map(|()| config)
    }

    #[test]
    fn tables_are_checked() {
        let whole = parse(
            "provider = \"openai\"\nbase_url = \"http://127.0.0.1:8000/v1\"\nmodel = \"m\"\napi_key_env = \"K\"\n\
             concurrency = 8\nprompt = \"p.md\"\nprice = {input = 2.5, output = 10}\nheaders = {a = \"${B}\"}\n\
             timeout_seconds = 3\nmax_tokens = 9\ntokens_per_minute = 100\nseed = 1\ntokenizer = \"t.json\"\n\
             faithfulness_prompt = \"f.md\"\ncontext_relevance_prompt = \"c.md\"",
        )
        .unwrap();
        assert_eq!((whole.concurrency, whole.seed, whole.temperature), (8, 1, 0.0));
        assert!((whole.price.unwrap().of(1_000_000, 100_000) - 3.5).abs() < 1e-12);
        let again: LlmConfig = toml::from_str(&toml::to_string(&whole).unwrap()).unwrap();
        assert_eq!(again, whole);
        let error = parse("provider = \"openai\"\nmodel = \"m\"\napi_key = \"sk-123456\"").unwrap_err();
        assert!(error.contains("`api_key`") && error.contains("api_key_env"), "{error}");
        assert!(!error.contains("sk-123456") && !error.contains('\n'), "{error}");
        for (wrong, says) in [
            ("provider = \"opnai\"\nmodel = \"m\"", "choose from openai, anthropic, candle"),
            ("provider = \"openai\"\nmodel = \" \"", "model is empty"),
            ("provider = \"openai\"\nmodel = \"m\"\nconcurrency = 0", "concurrency"),
            ("provider = \"openai\"\nmodel = \"m\"\ntimeout_seconds = 0", "timeout_seconds"),
            ("provider = \"openai\"\nmodel = \"m\"\nmax_wait_seconds = nan", "max_wait_seconds"),
            ("provider = \"openai\"\nmodel = \"m\"\nprice = {input = -1, output = 0}", "price"),
            ("provider = \"openai\"\nmodel = \"m\"\nprice = {inputs = 1, output = 0}", "inputs"),
            ("provider = \"openai\"", "model"),
        ] {
            let error = parse(wrong).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }
}
