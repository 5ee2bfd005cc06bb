//! Language models that segmenters and contexts ask.

use std::sync::Arc;

use pericope_api::ShiftFinder;
use pericope_segment::llm::LanguageModel;

/// The file of the response cache, among the models: no reply is paid for twice.
#[cfg(all(feature = "eval", feature = "models"))]
pub(crate) fn cache() -> Result<std::path::PathBuf, String> {
    pericope_encode::models::home().map(|home| home.join("responses.sqlite")).map_err(|e| e.to_string())
}

#[cfg(all(feature = "eval", not(feature = "models")))]
pub(crate) fn cache() -> Result<std::path::PathBuf, String> {
    Err("this program was built without a place for models (cargo feature models)".into())
}

/// The model that a spec of the segmenter `llm` asks. With `offline`, the cache alone.
#[cfg(feature = "eval")]
pub(crate) fn shift_finder(wanted: &LanguageModel, offline: bool) -> Result<Arc<dyn ShiftFinder>, String> {
    let finder = pericope_eval::asking::lone_shift_finder(wanted, &cache()?, offline).map_err(|e| e.to_string())?;
    Ok(Arc::new(finder))
}

#[cfg(not(feature = "eval"))]
pub(crate) fn shift_finder(_: &LanguageModel, _: bool) -> Result<Arc<dyn ShiftFinder>, String> {
    Err("this program was built without language models (cargo feature eval)".into())
}
