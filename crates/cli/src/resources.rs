//! The library's engine, as the command's flags set it up.

use std::path::Path;
use std::sync::Arc;

use pericope::api::SentenceEncoder;
use pericope::segment::{Chunker, Limits};
use pericope::{Engine, EngineError, LoadingCounter};
use pericope_util::shown_path;

use crate::args::PolicyArgs;
use crate::status::Failure;

/// How documents are cut where nothing is said.
const SEGMENTER: &str = "structure";

/// The engine of flags that say how documents are cut.
pub fn engine(policy: &PolicyArgs) -> Engine<'static> {
    let flags = Limits {
        max_tokens: policy.max_tokens,
        min_tokens: policy.min_tokens,
        target_tokens: None,
        overlap: policy.overlap,
    };
    let engine = Engine::new().with_overrides(flags);
    match &policy.tokenizer {
        Some(name) => engine.with_tokenizer(name),
        None => engine,
    }
}

/// A token counter on its way, while its command does other things.
pub fn loading(policy: &PolicyArgs) -> LoadingCounter {
    LoadingCounter::begin(policy.tokenizer.clone())
}

/// The chunker that the flags ask for.
pub fn chunker(policy: &PolicyArgs, engine: &Engine<'_>) -> Result<Chunker, Failure> {
    engine
        .chunker(policy.segmenter.as_deref().unwrap_or(SEGMENTER))
        .map_err(|e| Failure::usage(format!("--segmenter: {e}")))
}

/// The embedder of that name; `none` gives none. With `offline`, an endpoint's vectors come from its cache alone.
pub fn embedder(name: &str, offline: bool) -> Result<Option<Arc<dyn SentenceEncoder>>, Failure> {
    #[cfg(feature = "testing")]
    if name == crate::hashed::NAME {
        return Ok(Some(Arc::new(crate::hashed::Hashed)));
    }
    Engine::new().offline(offline).embedder(name).map_err(failure)
}

/// What the user can mend before anything runs, and what went wrong while running.
pub fn failure(error: EngineError) -> Failure {
    match error {
        EngineError::Usage(_) => Failure::usage(error),
        _ => Failure::runtime(error),
    }
}

/// A path for messages: on one line, and with forward slashes on every system.
pub fn shown(path: &Path) -> String {
    let shown = shown_path(path);
    if cfg!(windows) { shown.replace('\\', "/") } else { shown }
}
