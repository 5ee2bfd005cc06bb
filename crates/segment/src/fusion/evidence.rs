use pericope_api::{Document, SegmentError, SentenceEncoder};

use crate::band::Band;
use crate::embedding::Vectors;
use crate::lexical::{BayesSeg, Costs, Words, costs};

/// Characters from which on a sentence's embedding counts in full: shorter ones say less than their vector claims.
const FULL: f32 = 40.0;

/// The cost of every segment, in nats.
///
/// Words: minus the logarithm of their probability under a Dirichlet compound multinomial, as [`BayesSeg`] has it. A segment
/// of its own pays for its own vocabulary, so this part has a price a segment in it.
///
/// Embeddings: they scatter normally around a segment's mean, which scatters around the document's mean; with the
/// segment's mean summed out, the cost is `weight` times the sum of squared distances from the document's mean less the part
/// that the segment's own mean explains, |sum|^2 / (m + `shrinkage`). A sentence alone explains nothing away by itself: that is what the
/// shrinkage is for.
///
/// Length: minus the logarithm of a log-normal density (median and deviation below), times [`LENGTH`].
pub(super) struct Evidence<'a> {
    words: Words,
    vectors: Vectors,
    weights: Vec<f32>,
    model: &'a Model,
}

/// What the costs are made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Model {
    /// Nats for a squared distance of 1 between unit vectors.
    pub weight: f64,
    /// Sentences' worth of pull towards the document's mean.
    pub shrinkage: f64,
    /// Prior of the Dirichlet distribution.
    pub prior: f64,
    /// Median of the prior on a segment's length, in sentences.
    pub median: f64,
}

/// Deviation of the logarithm of a segment's length.
const DEVIATION: f64 = 0.9;
/// Nats for a nat of the prior on length. The sentences of a text depend on each other, which makes the other two parts too
/// sure of themselves; this keeps the prior from being drowned.
const LENGTH: f64 = 3.0;

impl<'a> Evidence<'a> {
    /// Reads words and embeddings of what is language in a document.
    pub fn of(document: &Document, encoder: &dyn SentenceEncoder, model: &'a Model) -> Result<Self, SegmentError> {
        let mut vectors = Vectors::of(document, encoder)?;
        vectors.centre();
        let words = Words::read(document).only(&vectors.sentences);
        let length = |&i: &usize| document.visible(document.sentences[i].span).chars().take(FULL as usize).count();
        let weights = vectors.sentences.iter().map(|i| length(i) as f32 / FULL).collect();
        Ok(Self { words, vectors, weights, model })
    }

    /// The sentences that count.
    pub fn vectors(&self) -> &Vectors {
        &self.vectors
    }

    /// The table of costs, for segments of up to `longest` sentences.
    pub fn band(&self, longest: usize) -> Band {
        let lexical = BayesSeg { prior: self.model.prior, cost: 0.0, max: longest };
        let lexical: Costs<'_> = costs(&lexical, &self.words, longest);
        let n = self.vectors.len();
        let longest = Band::reach(n, longest);
        let prior: Vec<f64> = (1..=longest).map(|m| LENGTH * self.length(m as f64)).collect();
        let state = || (vec![0u32; self.words.vocabulary()], Vec::new(), vec![0f64; longest]);
        Band::new(n, longest, state, |(counts, words, scatter), first, row| {
            lexical.row(first, counts, words);
            let scatter = &mut scatter[..row.len()];
            self.vectors.scatter(first, &self.weights, self.model.shrinkage, scatter);
            for (cost, ((words, scatter), length)) in row.iter_mut().zip(words.iter().zip(&*scatter).zip(&prior)) {
                *cost = words + self.model.weight * scatter + length;
            }
        })
    }

    /// Minus the logarithm of the log-normal density, without its constant.
    fn length(&self, m: f64) -> f64 {
        let z = (m / self.model.median).ln() / DEVIATION;
        z * z / 2.0 + m.ln()
    }
}
