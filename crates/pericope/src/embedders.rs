//! Encoders and token counters by name.

use std::sync::Arc;

use pericope_api::{SentenceEncoder, TokenCounter};
use pericope_segment::counters::WordCounter;

use crate::EngineError;

/// The encoder of semantic segmenters, and what embeds chunks where nothing else is named.
pub(crate) const DEFAULT_EMBEDDER: &str = "minilm";

/// The static vectors made of it: a table of tens of megabytes, which every segmenter that reads with it shares.
#[cfg(feature = "models")]
const STATIC: &str = "static";

/// The default encoder, loaded once however many ask for it.
#[cfg(feature = "models")]
pub(crate) fn default_encoder() -> Result<Arc<dyn SentenceEncoder>, String> {
    static LOADED: Loaded = Loaded::new(None);
    loaded(&LOADED, DEFAULT_EMBEDDER)
}

/// What was loaded. A failure is not kept: a model that is missing may be there the next time.
#[cfg(feature = "models")]
type Loaded = std::sync::Mutex<Option<Arc<dyn SentenceEncoder>>>;

#[cfg(feature = "models")]
fn loaded(kept: &Loaded, name: &str) -> Result<Arc<dyn SentenceEncoder>, String> {
    let mut kept = kept.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(encoder) = &*kept {
        return Ok(Arc::clone(encoder));
    }
    match pericope_encode::registry::embedder(name) {
        Ok(Some(encoder)) => Ok(Arc::clone(kept.insert(encoder))),
        Ok(None) => Err("there is no encoder".into()),
        Err(e) => Err(e.to_string()),
    }
}

#[cfg(not(feature = "models"))]
pub(crate) fn default_encoder() -> Result<Arc<dyn SentenceEncoder>, String> {
    Err("this program was built without encoders (cargo feature models)".into())
}

/// True for the name of the default encoder.
pub(crate) fn is_default(name: &str) -> bool {
    name == DEFAULT_EMBEDDER
}

/// The embedder of a name; `None` for `none`. With `offline`, the vectors of an endpoint come from its cache alone.
pub(crate) fn embedder(name: &str, offline: bool) -> Result<Option<Arc<dyn SentenceEncoder>>, EngineError> {
    if name == "none" {
        return Ok(None);
    }
    if name.starts_with("openai:") {
        return endpoint(name, offline).map(Some);
    }
    local(name)
}

#[cfg(feature = "models")]
fn local(name: &str) -> Result<Option<Arc<dyn SentenceEncoder>>, EngineError> {
    match name {
        DEFAULT_EMBEDDER => default_encoder().map(Some).map_err(EngineError::usage),
        STATIC => {
            static LOADED: Loaded = Loaded::new(None);
            loaded(&LOADED, STATIC).map(Some).map_err(EngineError::usage)
        }
        _ => pericope_encode::registry::embedder(name).map_err(EngineError::usage),
    }
}

#[cfg(not(feature = "models"))]
fn local(name: &str) -> Result<Option<Arc<dyn SentenceEncoder>>, EngineError> {
    Err(EngineError::usage(format!("embedder {name}: this program was built without encoders (cargo feature models)")))
}

/// An embeddings endpoint, whose answers are kept among the models: no text is paid for twice.
#[cfg(all(feature = "llm", feature = "models"))]
fn endpoint(name: &str, offline: bool) -> Result<Arc<dyn SentenceEncoder>, EngineError> {
    let file = pericope_encode::models::home().map_err(EngineError::usage)?.join("embeddings.sqlite");
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(EngineError::runtime)?;
    }
    let cache = Arc::new(pericope_llm::Cache::open(&file).map_err(EngineError::runtime)?);
    let served = pericope_encode::registry::Served::parse(name).map_err(EngineError::usage)?;
    let encoder = pericope_llm::OpenAiEmbeddings::from_spec(served.base(), cache, offline);
    let encoder = encoder.map_err(|e| {
        let problem = format!("embedder {name}: {e}");
        if e.is_usage() { EngineError::usage(problem) } else { EngineError::runtime(problem) }
    })?;
    served.over(Arc::new(encoder)).map_err(EngineError::usage)
}

#[cfg(not(all(feature = "llm", feature = "models")))]
fn endpoint(name: &str, _: bool) -> Result<Arc<dyn SentenceEncoder>, EngineError> {
    Err(EngineError::usage(format!("embedder {name}: this program was built without endpoints (cargo feature llm)")))
}

/// The tokenizer that counts where none is named, by what reads the chunks: that of the model which embeds them, else MiniLM's where
/// that places the cuts, else plain words. What is installed does not matter: a command cuts alike everywhere, or says what is missing.
pub(crate) fn tokenizer_beside(embedder: &str, places_cuts: bool) -> String {
    own_tokenizer(embedder).unwrap_or_else(|| if places_cuts { DEFAULT_EMBEDDER } else { WORDS }.to_owned())
}

#[cfg(feature = "models")]
fn own_tokenizer(embedder: &str) -> Option<String> {
    pericope_encode::registry::tokenizer_of(embedder)
}

#[cfg(not(feature = "models"))]
fn own_tokenizer(embedder: &str) -> Option<String> {
    is_default(embedder).then(|| embedder.to_owned())
}

/// Counts words, and needs no model.
const WORDS: &str = "words";

/// The token counter of a name; without a name plain words.
#[cfg(feature = "models")]
pub(crate) fn counter(name: Option<&str>) -> Result<Arc<dyn TokenCounter>, String> {
    match name {
        Some(WORDS) | None => Ok(Arc::new(WordCounter)),
        Some(name) => pericope_encode::registry::counter(name).map_err(|e| e.to_string()),
    }
}

#[cfg(not(feature = "models"))]
pub(crate) fn counter(name: Option<&str>) -> Result<Arc<dyn TokenCounter>, String> {
    match name {
        Some(WORDS) | None => Ok(Arc::new(WordCounter)),
        Some(name) => Err(format!("tokenizer {name}: this program was built without it (cargo feature models)")),
    }
}
