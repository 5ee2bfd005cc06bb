//! Encoders, token counters and segmenters by the names that the command line and configurations use.

use std::sync::{Arc, OnceLock};

use pericope_api::{SentenceEncoder, TokenCounter};
use pericope_segment::counters::WordCounter;
use pericope_segment::registry::{SegmenterEntry, build_from, check_in};
use pericope_segment::spec::{Spec, SpecError};
use pericope_segment::{Chunker, Resources};

use crate::models::{self, ModelError};
use crate::{MiniLm, WordPieceCounter, nsp, weswin};

/// All segmenters: those of `pericope-segment`, and this crate's.
#[must_use]
pub fn segmenters() -> &'static [SegmenterEntry] {
    static ALL: OnceLock<Vec<SegmenterEntry>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut all = pericope_segment::registry::list().to_vec();
        all.extend([weswin::WESWIN, nsp::NSP]);
        all
    })
}

/// Builds the chunker of a spec, whichever of all segmenters it names.
///
/// # Errors
/// [`SpecError`] for unknown names and keys, values out of range, and missing resources.
pub fn build(spec: &Spec, resources: &dyn Resources) -> Result<Chunker, SpecError> {
    build_from(segmenters(), spec, resources)
}

/// Checks a spec's name and keys without building anything.
///
/// # Errors
/// [`SpecError::UnknownName`] and [`SpecError::UnknownKey`], which list what is known.
pub fn check(spec: &Spec) -> Result<&'static SegmenterEntry, SpecError> {
    check_in(segmenters(), spec)
}

/// Why a name gives no encoder or counter.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// Nothing has this name.
    #[error("there is no {kind} {name:?}; known: {known}")]
    Unknown {
        /// `embedder` or `tokenizer`.
        kind: &'static str,
        /// The name asked for.
        name: String,
        /// The names that there are, with commas.
        known: String,
    },
    /// Its model is not installed or cannot be used.
    #[error(transparent)]
    Model(#[from] ModelError),
}

/// Names that [`embedder`] takes, with what they stand for.
pub const EMBEDDERS: &[(&str, &str)] = &[
    ("minilm", "all-MiniLM-L6-v2 on this machine, 384 numbers"),
    ("fastembed:MODEL", "a model of fastembed's or a folder with one in ONNX (cargo feature fastembed)"),
    ("none", "no vectors: BM25 search only"),
];

/// Names that [`counter`] takes, with what they stand for.
pub const COUNTERS: &[(&str, &str)] =
    &[("minilm", "WordPiece tokens of all-MiniLM-L6-v2"), ("words", "words; needs no model")];

/// The encoder of a spec; `None` for `none`.
///
/// # Errors
/// [`RegistryError::Unknown`], or [`RegistryError::Model`] where the model is not installed or damaged.
pub fn embedder(spec: &str) -> Result<Option<Arc<dyn SentenceEncoder>>, RegistryError> {
    match spec {
        "none" => Ok(None),
        "minilm" => Ok(Some(Arc::new(MiniLm::load(&models::locate("minilm")?)?))),
        _ => match spec.strip_prefix("fastembed:") {
            Some(model) => fastembed(model).map(Some).map_err(RegistryError::Model),
            None => Err(unknown("embedder", spec, EMBEDDERS)),
        },
    }
}

#[cfg(feature = "fastembed")]
fn fastembed(model: &str) -> Result<Arc<dyn SentenceEncoder>, ModelError> {
    Ok(Arc::new(crate::fastembed::Fastembed::open(model)?))
}

#[cfg(not(feature = "fastembed"))]
fn fastembed(model: &str) -> Result<Arc<dyn SentenceEncoder>, ModelError> {
    Err(ModelError::External(format!("fastembed:{model}: this program was built without it (cargo feature fastembed)")))
}

/// The token counter of a name.
///
/// # Errors
/// [`RegistryError::Unknown`], or [`RegistryError::Model`] where the model is not installed or damaged.
pub fn counter(name: &str) -> Result<Arc<dyn TokenCounter>, RegistryError> {
    match name {
        "minilm" => Ok(Arc::new(WordPieceCounter::load(&models::locate("minilm")?)?)),
        "words" => Ok(Arc::new(WordCounter)),
        _ => Err(unknown("tokenizer", name, COUNTERS)),
    }
}

fn unknown(kind: &'static str, name: &str, known: &[(&str, &str)]) -> RegistryError {
    let known = known.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    RegistryError::Unknown { kind, name: name.into(), known }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{counter, embedder};

    #[test]
    fn unknown_names_list_the_known_ones() {
        assert!(embedder("none").unwrap().is_none());
        let text = embedder("word2vec").err().unwrap().to_string();
        assert_eq!(text, "there is no embedder \"word2vec\"; known: minilm, fastembed:MODEL, none");
        #[cfg(not(feature = "fastembed"))]
        assert!(embedder("fastembed:x").err().unwrap().to_string().contains("cargo feature fastembed"));
        assert_eq!(counter("words").unwrap().count("two words"), 2);
        let text = counter("letters").err().unwrap().to_string();
        assert!(text.contains("no tokenizer \"letters\"") && text.contains("minilm, words"), "{text}");
    }
}
