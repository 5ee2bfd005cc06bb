use super::entry::SegmenterEntry;
use crate::spec::Spec;
use crate::{blocks, embedding, fixed, foreign, fusion, graph, lexical, llm, structure};

const ENTRIES: &[SegmenterEntry] = &[
    fixed::FIXED,
    fixed::SAME_SIZE,
    structure::SENTENCE,
    structure::PARAGRAPH,
    structure::RECURSIVE,
    blocks::COGLTX_BLOCKS,
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

const OUTSIDE: &[SegmenterEntry] = &[llm::LLM, foreign::CHUNKS, foreign::COMMAND];

/// The names of those whose chunks somebody else has finished.
const FINISHED: [&str; 2] = [foreign::CHUNKS.name, foreign::COMMAND.name];

/// Returns the segmenters whose specs name a file, a program or a service: [`llm`] and those of [`foreign`]. They are no part of
/// [`list()`], since nobody may build a spec of theirs that a stranger wrote.
#[must_use]
pub fn outside() -> &'static [SegmenterEntry] {
    OUTSIDE
}

/// Returns true for the name of a segmenter whose chunks are finished: no limit in tokens applies to them unless their spec names one.
#[must_use]
pub fn is_finished(name: &str) -> bool {
    FINISHED.contains(&name)
}

/// Returns true for a spec that names a file, a program or a service, itself or in a segmenter that it [refers to](Spec::references): one
/// that comes out of a request, or out of an index that somebody else made, must not be built.
///
/// ```
/// use pericope_segment::registry::is_outside;
/// use pericope_segment::spec::Spec;
///
/// assert!(is_outside(&Spec::parse("same-size:reference=(command:/bin/sh x.sh)")?));
/// assert!(is_outside(&Spec::parse("llm:model=m,base_url=http://127.0.0.1:8000/v1")?));
/// assert!(!is_outside(&Spec::parse("same-size:reference=sentence")?));
/// # Ok::<(), pericope_segment::spec::SpecError>(())
/// ```
#[must_use]
pub fn is_outside(spec: &Spec) -> bool {
    outside().iter().any(|entry| entry.name == spec.name) || spec.references().iter().any(is_outside)
}

/// Returns the segmenters of this crate that read no file, start no program and ask no service: the specs of these may come from anywhere.
#[must_use]
pub fn list() -> &'static [SegmenterEntry] {
    ENTRIES
}
