//! The library's engine, as the command's flags set it up.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pericope::api::{Reranker, SentenceEncoder};
use pericope::encode::rerankers::{RerankerEntry, RerankerSpec, check_in};
use pericope::segment::foreign::{check_programs, program_time};
use pericope::segment::llm::LanguageModel;
use pericope::segment::registry;
use pericope::segment::spec::{Spec, SpecError};
use pericope::segment::{Chunker, Limits, Resources};
use pericope::{Engine, EngineError, LoadingCounter, tokenizer_for};
use pericope_util::shown_path;

use crate::args::PolicyArgs;
use crate::status::Failure;

/// How documents are cut where nothing is said.
const SEGMENTER: &str = "structure";
/// What embeds where nothing is said.
pub const EMBEDDER: &str = "minilm";

/// The engine of flags that say how documents are cut. Without a tokenizer among them, tokens are counted as they are by what
/// reads the chunks.
pub fn engine(policy: &PolicyArgs, embedder: &str) -> Engine<'static> {
    let flags = Limits {
        max_tokens: policy.max_tokens,
        min_tokens: policy.min_tokens,
        target_tokens: None,
        overlap: policy.overlap,
    };
    let engine = Engine::new()
        .with_overrides(flags)
        .offline(policy.offline)
        .with_segment_embedder(policy.segment_embedder.clone());
    engine.with_tokenizer(tokenizer(policy, embedder))
}

/// What counts tokens.
pub fn tokenizer(policy: &PolicyArgs, embedder: &str) -> String {
    // With the encoder that the flags name for the segmenter, where it takes one. What it refers to takes that encoder too.
    let is_other = policy.segment_embedder.as_deref().is_some_and(|name| name != EMBEDDER);
    let spec = checked_spec(policy).ok().filter(|spec| !is_other || spec.references().is_empty());
    policy.tokenizer.clone().unwrap_or_else(|| tokenizer_for(embedder, &spec))
}

/// The spec that the flags name; `None` for one that is none.
fn spec(policy: &PolicyArgs) -> Option<Spec> {
    Spec::parse(policy.segmenter.as_deref().unwrap_or(SEGMENTER)).ok()
}

/// The spec that the flags name, its name and keys checked, with the encoder that they name for it; nothing is opened.
pub fn checked_spec(policy: &PolicyArgs) -> Result<Spec, Failure> {
    /// The setting that names the encoder.
    const EMBEDDER_KEY: &str = "embedder";
    let wrong = |error: SpecError| Failure::usage(format!("--segmenter: {error}"));
    let spec = Spec::parse(policy.segmenter.as_deref().unwrap_or(SEGMENTER)).map_err(wrong)?;
    let entry = registry::check_in(pericope::segmenters(), &spec).map_err(wrong)?;
    match &policy.segment_embedder {
        Some(name) if spec.get(EMBEDDER_KEY).is_none() && registry::takes_embedder(entry) => {
            spec.with(EMBEDDER_KEY, name).map_err(wrong)
        }
        _ => Ok(spec),
    }
}

/// The time for a document, where a language model may be asked about it, or a program of the user's cuts it: these have limits of
/// their own.
pub fn patient(time: Duration, policy: &PolicyArgs, asks_model: bool) -> Duration {
    /// So many times as long.
    const PATIENCE: u32 = 60;
    let time = if asks_model { time.saturating_mul(PATIENCE) } else { time };
    match spec(policy).as_ref().and_then(program_time) {
        None => time,
        Some(own) if own.is_zero() || time.is_zero() => Duration::ZERO,
        // A program has one document at a time: that of each core may wait for those of all others.
        Some(own) => {
            let cores = std::thread::available_parallelism().map_or(1, usize::from);
            time.saturating_add(own.saturating_mul(u32::try_from(cores).unwrap_or(u32::MAX)))
        }
    }
}

/// Whether the flags ask for a segmenter that asks a language model.
pub fn asks_model(policy: &PolicyArgs) -> bool {
    spec(policy).is_some_and(|spec| !LanguageModel::all_of(&spec).is_empty())
}

/// A token counter on its way, while its command does other things.
pub fn loading(policy: &PolicyArgs, embedder: &str) -> LoadingCounter {
    LoadingCounter::begin(Some(tokenizer(policy, embedder)))
}

/// The chunker that the flags ask for.
pub fn chunker(policy: &PolicyArgs, engine: &Engine<'_>) -> Result<Chunker, Failure> {
    // Else a tokenizer that cannot be used would be called a fault of the segmenter.
    if policy.tokenizer.is_some() {
        Resources::counter(engine).map_err(|e| Failure::usage(format!("--tokenizer: {e}")))?;
    }
    // Else every document would be left out for it.
    if let Some(spec) = spec(policy) {
        check_programs(&spec).map_err(|e| Failure::usage(format!("--segmenter: {e}")))?;
    }
    engine
        .chunker(policy.segmenter.as_deref().unwrap_or(SEGMENTER))
        .map_err(|e| Failure::usage(format!("--segmenter: {e}")))
}

/// The embedder of that name; `none` gives none. With `offline`, an endpoint's vectors come from its cache alone.
pub fn embedder(name: &str, offline: bool) -> Result<Option<Arc<dyn SentenceEncoder>>, Failure> {
    if let Some(encoder) = of_tests(name) {
        return Ok(Some(encoder));
    }
    Engine::new().offline(offline).embedder(name).map_err(failure)
}

/// Whether an embedder is a table of vectors, which is quick enough for every sentence.
pub fn is_static(embedder: &str) -> bool {
    embedder == "static" || embedder.starts_with("static:")
}

/// The encoder that tests need no model for.
#[cfg_attr(not(feature = "testing"), allow(clippy::missing_const_for_fn, unused_variables))]
pub fn of_tests(name: &str) -> Option<Arc<dyn SentenceEncoder>> {
    #[cfg(feature = "testing")]
    if name == crate::hashed::NAME {
        return Some(Arc::new(crate::hashed::Hashed));
    }
    None
}

/// The spec of a reranker, its name and keys checked, and its line of the table; nothing is opened.
pub fn reranker_spec(spec: &str) -> Result<(RerankerSpec, &'static RerankerEntry), Failure> {
    let spec = RerankerSpec::parse(spec).map_err(Failure::usage)?;
    let entry = check_in(pericope::rerankers(), &spec).map_err(Failure::usage)?;
    Ok((spec, entry))
}

/// The reranker of a spec; `none` gives none.
pub fn reranker(spec: &RerankerSpec) -> Result<Option<Arc<dyn Reranker>>, Failure> {
    Engine::new().reranker(&spec.to_string()).map_err(failure)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_reading_gives_way_to_those_of_others() {
        let of = |segmenter: &str, seconds: u64| {
            let policy = PolicyArgs {
                segmenter: Some(segmenter.to_owned()),
                max_tokens: None,
                min_tokens: None,
                overlap: None,
                tokenizer: None,
                segment_embedder: None,
                offline: false,
            };
            patient(Duration::from_secs(seconds), &policy, asks_model(&policy)).as_secs()
        };
        assert_eq!((of("structure", 60), of("llm:model=m", 60)), (60, 3600));
        assert!(of("command:cat", 60) >= 60 + 60 + 120 && of("command:cat,time=600", 1) >= 1 + 600 + 120);
        assert!(of("same-size:reference=(command:cat,time=600)", 1) >= 1 + 600 + 120);
        // No limit of either is none for both.
        assert_eq!((of("command:cat,time=0", 60), of("command:cat,time=9", 0)), (0, 0));
    }
}
