use pericope_api::{Heading, Span};

use crate::ChunkRecord;

/// The best hits of a ranking that speak for what stands around them, at least: where most of a section is among them, the
/// section was found.
const EVIDENCE_DEPTH: usize = 20;

/// So many times as many hits are asked for as expanded ones are wanted.
pub(super) const DEPTH: usize = 4;

/// What an expansion needs to know of a chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The byte range in the document's source.
    pub span: Span,
    /// The number of its tokens.
    pub tokens: usize,
    /// The headings above it, outermost first.
    pub heading_path: Vec<Heading>,
}

impl From<&ChunkRecord> for Part {
    fn from(chunk: &ChunkRecord) -> Self {
        Self { span: chunk.span(), tokens: chunk.tokens, heading_path: chunk.heading_path.clone() }
    }
}

/// A chunk of a document that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    /// The place in the ranking, from 0.
    pub rank: usize,
    /// The place of the chunk among the document's chunks.
    pub part: usize,
    /// Its weight, above 0 and at most 1; `None` for one that is found too far down to speak for others. See [`rank_weights`].
    pub weight: Option<f64>,
}

/// What is given back in place of hits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The place of its best hit in the ranking, from 0.
    pub rank: usize,
    /// The places of its chunks among the document's chunks, in the order of the document.
    pub parts: Vec<usize>,
    /// The byte range in the document's source. It may be less than that of the chunks, where these overlap those of a
    /// better run.
    pub span: Span,
    /// The tokens of its chunks together.
    pub tokens: usize,
}

/// Returns the number of hits, best first, that speak for what stands around them where `k` are asked for.
#[must_use]
pub fn evidence_depth(k: usize) -> usize {
    k.max(EVIDENCE_DEPTH)
}

/// Returns the number of hits to ask a store for, at first, where `k` expanded ones are wanted: hits collapse.
#[must_use]
pub fn depth(k: usize) -> usize {
    k.saturating_mul(DEPTH).max(evidence_depth(k))
}

/// Returns the weights of the hits of a ranking, best first: exp(-rank / 10) for the first `depth`, `None` for the others.
///
/// Scores of words, vectors and fused lists have no common scale. The places in the ranking have.
pub fn rank_weights(depth: usize) -> impl Iterator<Item = Option<f64>> {
    (0..depth).map(|rank| Some((-(rank as f64) / DECAY).exp())).chain(std::iter::repeat(None))
}

/// The number of places after which a hit weighs 1 / e of the best.
const DECAY: f64 = 10.0;
