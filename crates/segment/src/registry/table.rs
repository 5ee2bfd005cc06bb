use super::entry::SegmenterEntry;
use crate::{embedding, fixed, fusion, graph, lexical, structure};

const ENTRIES: &[SegmenterEntry] = &[
    fixed::FIXED,
    fixed::SAME_SIZE,
    structure::SENTENCE,
    structure::PARAGRAPH,
    structure::RECURSIVE,
    structure::STRUCTURE,
    embedding::WINDOW,
    embedding::KAMRADT,
    fusion::FUSION,
    embedding::VARIANCE,
    embedding::CLUSTER,
    graph::GRAPH,
    lexical::TEXTTILING,
    lexical::C99_ENTRY,
    lexical::U00_ENTRY,
    lexical::BAYESSEG,
    fixed::RANDOM,
];

/// Returns all segmenters of this crate.
#[must_use]
pub fn list() -> &'static [SegmenterEntry] {
    ENTRIES
}
