use std::ops::Range;

use pericope_api::Document;

use super::words::Burstiness;
use crate::language;
use crate::lexical::Words;

/// Concentration of the word model, in words: that of `fusion`.
const CONCENTRATION: f64 = 200.0;

/// What segments cost by their words, in nats: the word model of [`Fusion`](super::Fusion) on its own, for a model that weighs it
/// beside evidence of its own. A segmentation gains what it costs less than the whole document as one segment.
///
/// Sentences are those that are language ([`language::sentences`]), counted from 0.
///
/// ```
/// use pericope_api::Document;
/// use pericope_segment::fusion::WordCosts;
///
/// let sentences = ["Ships sail the sea.", "Ships and sails.", "Bread of rye dough.", "Rye bread rises."];
/// let costs = WordCosts::of(&Document::from_sentences("d", &sentences));
/// let (mut counts, mut ships, mut bread) = (costs.counts(), [0.0; 4], [0.0; 2]);
/// costs.row(0, &mut counts, &mut ships);
/// costs.row(2, &mut counts, &mut bread);
/// assert!(ships[1] + bread[1] < ships[3]);
/// ```
pub struct WordCosts(Burstiness);

impl WordCosts {
    /// Reads the words of a document.
    #[must_use]
    pub fn of(document: &Document) -> Self {
        let words = Words::read(document).only(&language::sentences(document));
        Self(Burstiness::new(words, CONCENTRATION))
    }

    /// What [`row`](Self::row) counts with: zero for every word.
    #[must_use]
    pub fn counts(&self) -> Vec<u32> {
        self.0.counts()
    }

    /// Writes the costs of the segments that begin at sentence `first` and are 1, 2, ... sentences long, as many as there is room in
    /// `costs`: at most the sentences from there on. `counts` is zero for all words, before and after.
    pub fn row(&self, first: usize, counts: &mut [u32], costs: &mut [f64]) {
        self.0.row(first, counts, costs);
    }

    /// What the segment of these sentences gains by a boundary in front of sentence `gap`.
    pub(super) fn gain(&self, sentences: Range<usize>, gap: usize, counts: &mut [u32]) -> f64 {
        let whole = self.0.cost(sentences.clone(), counts);
        whole - self.0.cost(sentences.start..gap, counts) - self.0.cost(gap..sentences.end, counts)
    }

    /// The number of sentences.
    pub(super) fn sentences(&self) -> usize {
        self.0.sentences()
    }
}
