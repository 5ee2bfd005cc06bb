//! The encoder that a spec names for its segmenter.

use std::sync::Arc;

use pericope_api::{SentenceEncoder, TokenCounter};

use super::entry::{EMBEDDER, SegmenterEntry};
use crate::foreign::Originals;
use crate::resources::{Limits, LoadEncoder, Resources};
use crate::spec::Spec;

/// True for segmenters that read with an encoder, which the setting `embedder` names.
#[must_use]
pub fn takes_embedder(entry: &SegmenterEntry) -> bool {
    entry.keys.iter().any(|key| key.name == EMBEDDER.name)
}

/// The name of the encoder that a spec of this segmenter asks for.
pub(super) fn asked<'a>(entry: &SegmenterEntry, spec: &'a Spec) -> Option<&'a str> {
    spec.get(EMBEDDER.name).filter(|_| takes_embedder(entry))
}

/// Resources whose encoder is another one: that of a name.
pub(super) struct WithEncoder<'a> {
    pub(super) base: &'a dyn Resources,
    pub(super) name: &'a str,
}

impl Resources for WithEncoder<'_> {
    fn encoder(&self) -> Result<Arc<dyn SentenceEncoder>, String> {
        self.base.named_encoder(self.name)
    }

    fn named_encoder(&self, name: &str) -> Result<Arc<dyn SentenceEncoder>, String> {
        self.base.named_encoder(name)
    }

    fn changed_encoder(&self, base: &str, load: LoadEncoder<'_>) -> Result<Arc<dyn SentenceEncoder>, String> {
        self.base.changed_encoder(base, load)
    }

    fn counter(&self) -> Result<Arc<dyn TokenCounter>, String> {
        self.base.counter()
    }

    fn mean_words(&self, reference: &str) -> Result<f64, String> {
        self.base.mean_words(reference)
    }

    fn matched_bound(&self, reference: &str, fixed: &Spec, most: usize) -> Result<usize, String> {
        self.base.matched_bound(reference, fixed, most)
    }

    fn originals(&self) -> Arc<Originals> {
        self.base.originals()
    }

    fn overrides(&self) -> Limits {
        self.base.overrides()
    }

    fn defaults(&self) -> Limits {
        self.base.defaults()
    }
}
