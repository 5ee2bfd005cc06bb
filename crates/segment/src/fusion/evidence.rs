use pericope_api::{Document, SegmentError, SentenceEncoder};

use super::rows::Rows;
use super::words::Burstiness;
use crate::embedding::Vectors;
use crate::lexical::Words;
use crate::segment_costs::SegmentCosts;

/// Characters from which on a sentence's embedding counts in full: shorter ones say less than their vector claims.
const FULL: f32 = 40.0;

/// Long documents have longer sections: over the documents of fifteen collections (articles, chapters, novels, software documentation) the
/// number of segments grows as the 0.36th power of the number of sentences, and so their length as the 0.64th; 0.4 does better as a prior, beside
/// the evidence.
const GROWTH: f64 = 0.4;
/// Deviation of the logarithm of a segment's length.
const DEVIATION: f64 = 0.8;

/// What the costs are made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Model {
    /// Nats for a squared distance of 1 between unit vectors.
    pub weight: f64,
    /// Concentration of the prior on a segment's words, in words.
    pub concentration: f64,
    /// Median of the prior on a segment's length, in sentences, in a document of 100 sentences.
    pub median: f64,
    /// Nats for a nat of that prior. The sentences of a text depend on each other, which makes words and embeddings far too sure of
    /// themselves; this keeps the prior from being drowned.
    pub length: f64,
}

/// The cost of every segment, in nats: of its words ([`Burstiness`]); of the squared distances of its sentences' embeddings from
/// their mean, times [`Model::weight`]; and of its length.
pub(super) struct Evidence<'a> {
    words: Burstiness,
    vectors: Vectors,
    weights: Vec<f32>,
    model: &'a Model,
}

impl<'a> Evidence<'a> {
    /// Reads words and embeddings of what is language in a document.
    pub fn of(document: &Document, encoder: &dyn SentenceEncoder, model: &'a Model) -> Result<Self, SegmentError> {
        Ok(Self::new(document, Vectors::of(document, encoder)?, model))
    }

    /// Reads the words of the sentences of a document whose vectors are at hand.
    pub fn new(document: &Document, vectors: Vectors, model: &'a Model) -> Self {
        let words = Words::read(document).only(&vectors.sentences);
        let length = |&i: &usize| document.visible(document.sentences[i].span).chars().take(FULL as usize).count();
        let weights = vectors.sentences.iter().map(|i| length(i) as f32 / FULL).collect();
        Self { words: Burstiness::new(words, model.concentration), vectors, weights, model }
    }

    /// The sentences that count.
    pub fn vectors(&self) -> &Vectors {
        &self.vectors
    }

    /// The table of costs, for segments of up to `longest` sentences.
    pub fn band(&self, longest: usize) -> SegmentCosts {
        let n = self.vectors.len();
        let longest = SegmentCosts::reach(n, longest);
        let median = self.model.median * (n as f64 / 100.0).powf(GROWTH);
        let prior: Vec<f64> = (1..=longest).map(|m| self.model.length * unusual(m as f64, median)).collect();
        let mut words = Rows::new(&self.words);
        let costs = self.vectors.scatters(&self.weights, longest, |first, row| {
            let words = words.row(first, row.len());
            for (cost, (words, length)) in row.iter_mut().zip(words.zip(&prior)) {
                *cost = words + (self.model.weight * *cost + length);
            }
        });
        SegmentCosts::of(n, longest, costs)
    }
}

/// Minus the logarithm of the log-normal density of a length, without its constant.
fn unusual(m: f64, median: f64) -> f64 {
    let z = (m / median).ln() / DEVIATION;
    z * z / 2.0 + m.ln()
}
