//! Segmenters that the calling program brings, as specs name them.

use std::sync::Arc;

use pericope_api::{Document, KnownCount, ModelUse, SegmentError, SegmentTrees, Segmentation, Segmenter};

use super::args::SpecArgs;
use super::entry::{BuiltSegmenter, Needs, SegmenterEntry, SettingKey};
use crate::Resources;
use crate::spec::SpecError;

/// A segmenter of the program that builds it, by the name that [`Resources::custom`] knows it by. No list holds it: a program that has
/// such segmenters puts it beside those that specs may name.
pub const CUSTOM: SegmenterEntry = SegmenterEntry {
    name: "custom",
    summary: "a segmenter that the calling program brings",
    keys: &[SettingKey { name: "name", default: "", doc: "the name that the program knows it by" }],
    example: "custom:name=mine",
    needs: Needs::None,
    needs_of: None,
    has_scores: true,
    build,
};

fn build(args: &SpecArgs<'_>, resources: &dyn Resources) -> Result<BuiltSegmenter, SpecError> {
    let segmenter = resources.custom(args.text("name", "")).map_err(|reason| args.unavailable(reason))?;
    Ok(BuiltSegmenter::new(Brought(segmenter)))
}

struct Brought(Arc<dyn Segmenter>);

impl Segmenter for Brought {
    fn segment(&self, document: &Document) -> Result<Segmentation, SegmentError> {
        self.0.segment(document)
    }

    fn check_documents(&self, documents: &[&Document]) -> Result<(), SegmentError> {
        self.0.check_documents(documents)
    }

    fn fingerprint(&self) -> String {
        self.0.fingerprint()
    }

    fn batch_size(&self) -> usize {
        self.0.batch_size()
    }

    fn segment_batch(&self, documents: &[&Document]) -> Vec<Result<Segmentation, SegmentError>> {
        self.0.segment_batch(documents)
    }

    fn known_count(&self) -> Option<&dyn KnownCount> {
        self.0.known_count()
    }

    fn trees(&self) -> Option<&dyn SegmentTrees> {
        self.0.trees()
    }

    fn tokens_read(&self) -> Option<u64> {
        self.0.tokens_read()
    }

    fn model_use(&self) -> Option<ModelUse> {
        self.0.model_use()
    }
}
