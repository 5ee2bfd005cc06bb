use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pericope_api::{Embeddings, EncodeError, SentenceEncoder};
use serde_json::{Value, json};

use super::answer::{LONGEST, rows, told};
use crate::account::Account;
use crate::batch::map_concurrent;
use crate::budget::Budget;
use crate::cache::{Cache, CacheKey};
use crate::client::Shared;
use crate::config::{LlmConfig, Price, ProviderKind};
use crate::error::LlmError;
use crate::http::{Api, ApiError, Call, Endpoint, Failed};
use crate::notices::tell;
use crate::providers::{identity, tokens};
use crate::request::Usage;
use crate::tokens::Tokens;

const API: Api = Api {
    base: "https://api.openai.com/v1",
    path: "/embeddings",
    key_env: "OPENAI_API_KEY",
    key_header: None,
    headers: &[],
};

/// Texts of one request; OpenAI takes 2048.
const MOST_TEXTS: usize = 256;
/// Tokens of one request, estimated; OpenAI takes 300,000.
const MOST_TOKENS: usize = 100_000;
/// Tokens of a text that OpenAI's models read; taken for every model.
const MAX_TOKENS: usize = 8191;
/// Bytes of a number in JSON, at most: 17 digits, sign, point, exponent, comma, indentation.
const BYTES_A_NUMBER: usize = 40;
/// Bytes of an answer beside its vectors, at most.
const AROUND: usize = 1 << 20;
/// A text that is too long for the server is cut to three quarters, so often at most.
const CUTS: usize = 12;

/// Lengths of the vectors of models that everyone knows; other models are asked once.
const KNOWN: &[(&str, usize)] =
    &[("text-embedding-3-large", 3072), ("text-embedding-3-small", 1536), ("text-embedding-ada-002", 1536)];

/// Sentence vectors from any endpoint that speaks OpenAI's embeddings API.
///
/// Texts are sent in batches by count and tokens, several batches at once; vectors are normalised and kept in the cache by
/// model and text, so nothing is paid for twice. A text that is longer than the model reads is cut off, which the listener of
/// [`on_notice`](crate::on_notice) hears.
pub struct OpenAiEmbeddings {
    endpoint: Option<Endpoint>,
    identity: Value,
    name: String,
    model: String,
    asked_dimensions: Option<usize>,
    dimension: usize,
    workers: usize,
    tokens: Tokens,
    cache: Arc<Cache>,
    price: Option<Price>,
    budget: Arc<Budget>,
    cut: AtomicU64,
}

/// A vector, and whether it stands for the beginning of its text alone.
type Row = (Vec<f32>, bool);

impl OpenAiEmbeddings {
    /// Opens the encoder `openai:MODEL`, or `openai:MODEL:DIMENSIONS` for shorter vectors where the model has them. The base URL
    /// is in `OPENAI_BASE_URL` (default: OpenAI's), the key in `OPENAI_API_KEY` (needed where the base URL is OpenAI's).
    ///
    /// # Errors
    /// [`LlmError`], as for [`OpenAiEmbeddings::new`].
    pub fn from_spec(spec: &str, cache: Arc<Cache>, offline: bool) -> Result<Self, LlmError> {
        let wrong = || LlmError::Config(format!("'{spec}': expected openai:MODEL or openai:MODEL:DIMENSIONS"));
        let rest = spec.strip_prefix("openai:").filter(|rest| !rest.is_empty()).ok_or_else(wrong)?;
        let (model, dimensions) = split(rest);
        if model.is_empty() || dimensions == Some(0) {
            return Err(wrong());
        }
        let mut config = LlmConfig::new(ProviderKind::OpenAi, model);
        config.base_url = std::env::var("OPENAI_BASE_URL").ok().filter(|url| !url.trim().is_empty());
        if std::env::var_os("OPENAI_API_KEY").is_some_and(|key| !key.is_empty()) {
            config.api_key_env = Some(API.key_env.to_owned());
        }
        Self::new(&config, dimensions, &Shared { cache, budget: Arc::default(), offline })
    }

    /// True where the length of the vectors of `MODEL` or `MODEL:DIMENSIONS` is known. Where it is not, opening the encoder
    /// embeds one short text.
    #[must_use]
    pub fn knows_length(model: &str) -> bool {
        let (model, dimensions) = split(model);
        dimensions.is_some() || KNOWN.iter().any(|(name, _)| *name == model)
    }

    /// Opens the encoder of a configuration, of which prompt, seed and the like are not used. `dimensions` asks the model for
    /// shorter vectors. Where the length of the vectors is not known, one short text is embedded to find out. What the
    /// vectors cost, by the price of tokens read in the configuration, is paid from the budget in `shared`.
    ///
    /// # Errors
    /// [`LlmError`].
    pub fn new(config: &LlmConfig, dimensions: Option<usize>, shared: &Shared) -> Result<Self, LlmError> {
        if dimensions.is_some_and(|n| n == 0 || n > LONGEST) {
            return Err(LlmError::Config(format!("dimensions must be 1 to {LONGEST}")));
        }
        let mut identity = identity("openai-embeddings", config, &API)?;
        if let Some(dimensions) = dimensions {
            identity["dimensions"] = json!(dimensions);
        }
        // An index opens its embedder by this name.
        let length = dimensions.map(|n| format!(":{n}")).unwrap_or_default();
        let known = KNOWN.iter().find(|(name, _)| *name == config.model).map(|(_, dimension)| *dimension);
        let mut encoder = Self {
            endpoint: if shared.offline { None } else { Some(Endpoint::new(config, &API)?) },
            identity,
            name: format!("openai:{}{length}", config.model),
            model: config.model.clone(),
            asked_dimensions: dimensions,
            dimension: dimensions.or(known).unwrap_or(0),
            workers: config.concurrency,
            tokens: tokens(config)?,
            cache: Arc::clone(&shared.cache),
            price: config.price,
            budget: Arc::clone(&shared.budget),
            cut: AtomicU64::new(0),
        };
        if encoder.dimension == 0 {
            encoder.dimension = encoder.vectors(&["dimension"])?.first().map_or(0, Vec::len);
        }
        Ok(encoder)
    }

    /// Counts a text that was cut, and tells of the first.
    fn count_cut(&self, text: &str) {
        if self.cut.fetch_add(1, Ordering::Relaxed) == 0 {
            tell(&format!(
                "{}: a text of {} bytes is longer than the model reads, and its end is left out, as with all such texts \
                 (--max-tokens makes chunks smaller)",
                self.name,
                text.len()
            ));
        }
    }

    /// Returns one vector a text, at length 1; one of zeros stays.
    ///
    /// # Errors
    /// [`LlmError`]; [`LlmError::NotCached`] offline.
    pub fn vectors(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, LlmError> {
        let keys: Vec<CacheKey> = texts.iter().map(|text| CacheKey::of_text(&self.identity, text)).collect();
        let mut found: HashMap<&CacheKey, Vec<f32>> = HashMap::new();
        let mut missing: Vec<(&CacheKey, &str)> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for (key, text) in keys.iter().zip(texts) {
            if !seen.insert(key) {
                continue;
            }
            // A vector of another length, or with numbers that are none, is damaged: it is fetched again.
            match self.cache.vector(key)?.filter(|vector| self.fits(vector)) {
                Some(vector) => drop(found.insert(key, vector)),
                None => missing.push((key, text)),
            }
        }
        if !missing.is_empty() {
            let endpoint = self.endpoint.as_ref().ok_or(LlmError::NotCached)?;
            let batches = self.batches(&missing);
            let done = map_concurrent(self.workers, &batches, |_, batch| {
                let texts: Vec<&str> = batch.iter().map(|(_, text)| *text).collect();
                let (vectors, cut): (Vec<_>, Vec<_>) = self.fetch(endpoint, &texts, CUTS)?.into_iter().unzip();
                let rows: Vec<_> = (batch.iter().zip(vectors))
                    .map(|((key, text), vector)| ((*key).clone(), self.tokens.count(text) as u64, vector))
                    .collect();
                self.cache.put_vectors(&self.model, &rows)?;
                // A text whose request failed is asked for again, and counts then.
                let cut = texts.iter().zip(cut).filter(|(text, cut)| *cut || is_longer(text));
                cut.for_each(|(text, _)| self.count_cut(text));
                Ok(rows)
            });
            if let Some(error) = done.stopped {
                return Err(error);
            }
            for (batch, result) in batches.iter().zip(done.results) {
                let rows = result.unwrap_or(Err(LlmError::NotCached))?;
                found.extend(batch.iter().map(|(key, _)| *key).zip(rows.into_iter().map(|(_, _, vector)| vector)));
            }
        }
        keys.iter().map(|key| found.get(key).cloned().ok_or(LlmError::NotCached)).collect()
    }

    fn fits(&self, vector: &[f32]) -> bool {
        let length = if self.dimension == 0 { 1..=LONGEST } else { self.dimension..=self.dimension };
        length.contains(&vector.len()) && vector.iter().all(|x| x.is_finite())
    }

    fn batches<'a>(&self, missing: &[(&'a CacheKey, &'a str)]) -> Vec<Vec<(&'a CacheKey, &'a str)>> {
        let mut batches: Vec<Vec<(&CacheKey, &str)>> = Vec::new();
        let mut tokens = 0;
        for (key, text) in missing {
            let count = self.tokens.count(text).min(MAX_TOKENS);
            match batches.last_mut() {
                Some(batch) if batch.len() < MOST_TEXTS && tokens + count <= MOST_TOKENS => {
                    batch.push((key, text));
                    tokens += count;
                }
                _ => {
                    batches.push(vec![(key, text)]);
                    tokens = count;
                }
            }
        }
        batches
    }

    /// Embeds one batch; one that the server finds too long is halved, and a single text cut shorter.
    fn fetch(&self, endpoint: &Endpoint, texts: &[&str], cuts: usize) -> Result<Vec<Row>, LlmError> {
        // Blank texts are refused by some servers.
        let input: Vec<&str> =
            texts.iter().map(|text| if text.trim().is_empty() { " " } else { fitting(text) }).collect();
        let most: usize = input.iter().map(|text| self.tokens.count(text)).sum();
        let mut body = json!({"model": self.model, "input": input, "encoding_format": "float"});
        if let Some(dimensions) = self.asked_dimensions {
            body["dimensions"] = json!(dimensions);
        }
        let longest = if self.dimension == 0 { LONGEST } else { self.dimension };
        let bytes = AROUND + texts.len().saturating_mul(longest).saturating_mul(BYTES_A_NUMBER);
        let estimate = Usage { prompt: most as u64, estimated: true, ..Usage::default() };
        let call = Call {
            body: &body,
            tokens: most,
            completion: 0,
            bytes: bytes as u64,
            account: &Account::new(&self.budget, self.price, most as u64, 0),
            told: &told,
            estimate: &|_| Some(estimate),
        };
        let sent = match endpoint.post(&call) {
            Ok(received) => Ok(received),
            Err(Failed::Error(LlmError::ContextLength(message))) => Err(message),
            Err(Failed::Refused(ApiError { status: 400 | 413 | 422, message, .. })) if texts.len() > 1 => Err(message),
            Err(Failed::Refused(ApiError { status, message, .. })) => {
                return Err(LlmError::Rejected { status, message });
            }
            Err(Failed::Error(error)) => return Err(error),
        };
        let received = match (sent, texts) {
            (Ok(received), _) => received,
            (Err(_), [_, _, ..]) => {
                let (first, second) = texts.split_at(texts.len() / 2);
                let mut vectors = self.fetch(endpoint, first, cuts)?;
                vectors.extend(self.fetch(endpoint, second, cuts)?);
                return Ok(vectors);
            }
            (Err(message), _) if cuts == 0 => return Err(LlmError::ContextLength(message)),
            (Err(_), _) => {
                let shorter: Vec<&str> = input.iter().map(|text| head(text, text.len() / 4 * 3)).collect();
                let vectors = self.fetch(endpoint, &shorter, cuts - 1)?;
                return Ok(vectors.into_iter().map(|(vector, _)| (vector, true)).collect());
            }
        };
        endpoint.settle(most, received.usage);
        let vectors = rows(&received.body, texts.len(), self.dimension)?;
        Ok(vectors.into_iter().map(|vector| (vector, false)).collect())
    }
}

/// Splits `MODEL:DIMENSIONS`.
fn split(text: &str) -> (&str, Option<usize>) {
    // Ollama's names hold colons too ("bge-m3:latest"): only a number is dimensions.
    let split = text.rsplit_once(':').and_then(|(model, n)| Some((model, n.parse::<usize>().ok()?)));
    split.map_or((text, None), |(model, n)| (model, Some(n)))
}

/// Returns the beginning of a text that surely holds what the model reads of it, where the text is much longer.
fn fitting(text: &str) -> &str {
    // No tokenizer makes tokens of more than 8 bytes on average of running text.
    head(text, MAX_TOKENS * 8)
}

/// True for a text of which [`fitting`] leaves something out.
fn is_longer(text: &str) -> bool {
    fitting(text).len() < text.len()
}

impl Drop for OpenAiEmbeddings {
    /// Says how many texts were cut, where it was more than the one that was told of.
    fn drop(&mut self) {
        let cut = self.texts_cut();
        if cut > 1 {
            tell(&format!("{}: {cut} texts were longer than the model reads, and were cut", self.name));
        }
    }
}

impl SentenceEncoder for OpenAiEmbeddings {
    fn name(&self) -> &str {
        &self.name
    }

    fn fingerprint(&self) -> String {
        format!("openai-embeddings {}", CacheKey::of_text(&self.identity, "").as_str())
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn max_tokens(&self) -> usize {
        MAX_TOKENS
    }

    /// Texts of which the server reads no more than the beginning. Vectors that an earlier encoder kept are not counted.
    fn texts_cut(&self) -> u64 {
        self.cut.load(Ordering::Relaxed)
    }

    fn encode(&self, texts: &[&str]) -> Result<Embeddings, EncodeError> {
        let vectors = self.vectors(texts).map_err(|e| EncodeError::Run(Box::new(e)))?;
        Ok(Embeddings::new(self.dimension, vectors.concat()))
    }
}

/// Returns the first `bytes` of a text, or a little less.
fn head(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::head;

    #[test]
    fn heads_end_between_characters() {
        assert_eq!(head("aéb", 2), "a");
        assert_eq!(head("aéb", 3), "aé");
        assert_eq!(head("ab", 9), "ab");
    }
}
