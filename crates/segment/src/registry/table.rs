use super::entry::SegmenterEntry;
use crate::{embedding, fixed, foreign, fusion, graph, lexical, structure};

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

const OUTSIDE: &[SegmenterEntry] = &[foreign::CHUNKS, foreign::COMMAND];

/// Returns the segmenters whose specs name a file or a program: those of [`foreign`]. They are no part of [`list()`], since nobody may build
/// a spec of theirs that a stranger wrote.
#[must_use]
pub fn outside() -> &'static [SegmenterEntry] {
    OUTSIDE
}

/// Returns the segmenters of this crate that read no file and start no program: the specs of these may come from anywhere.
#[must_use]
pub fn list() -> &'static [SegmenterEntry] {
    ENTRIES
}
