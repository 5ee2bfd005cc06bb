//! Encoders and token counters by name.

use std::sync::Arc;

use pericope_api::{SentenceEncoder, TokenCounter};
use pericope_segment::counters::WordCounter;

use crate::EngineError;

/// The encoder of semantic segmenters, and what embeds chunks where nothing else is named.
#[cfg(feature = "models")]
const DEFAULT_EMBEDDER: &str = "minilm";

/// The default encoder, loaded once however many ask for it.
#[cfg(feature = "models")]
pub(crate) fn default_encoder() -> Result<Arc<dyn SentenceEncoder>, String> {
    use std::sync::OnceLock;
    static LOADED: OnceLock<Result<Arc<dyn SentenceEncoder>, String>> = OnceLock::new();
    LOADED
        .get_or_init(|| match pericope_encode::registry::embedder(DEFAULT_EMBEDDER) {
            Ok(Some(encoder)) => Ok(encoder),
            Ok(None) => Err("there is no encoder".into()),
            Err(e) => Err(e.to_string()),
        })
        .clone()
}

#[cfg(not(feature = "models"))]
pub(crate) fn default_encoder() -> Result<Arc<dyn SentenceEncoder>, String> {
    Err("this program was built without encoders (cargo feature models)".into())
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
    let encoder = pericope_llm::OpenAiEmbeddings::from_spec(name, cache, offline).map_err(EngineError::usage)?;
    Ok(Arc::new(encoder))
}

#[cfg(not(all(feature = "llm", feature = "models")))]
fn endpoint(name: &str, _: bool) -> Result<Arc<dyn SentenceEncoder>, EngineError> {
    Err(EngineError::usage(format!("embedder {name}: this program was built without endpoints (cargo feature llm)")))
}

/// The token counter of a name; without a name that of MiniLM where the model is installed, else plain words.
#[cfg(feature = "models")]
pub(crate) fn counter(name: Option<&str>) -> Result<Arc<dyn TokenCounter>, String> {
    match name {
        Some("words") => Ok(Arc::new(WordCounter)),
        Some(name) => pericope_encode::registry::counter(name).map_err(|e| e.to_string()),
        None if pericope_encode::models::locate(DEFAULT_EMBEDDER).is_ok() => {
            pericope_encode::registry::counter(DEFAULT_EMBEDDER).map_err(|e| e.to_string())
        }
        None => Ok(Arc::new(WordCounter)),
    }
}

#[cfg(not(feature = "models"))]
pub(crate) fn counter(name: Option<&str>) -> Result<Arc<dyn TokenCounter>, String> {
    match name {
        Some("words") | None => Ok(Arc::new(WordCounter)),
        Some(name) => Err(format!("tokenizer {name}: this program was built without it (cargo feature models)")),
    }
}
