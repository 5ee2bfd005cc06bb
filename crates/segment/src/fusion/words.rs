use std::ops::Range;

use crate::lexical::Words;

/// The words of a segment as draws from a multinomial of its own, which is itself drawn from a Dirichlet distribution around
/// the document's word frequencies and summed out: with concentration a and a word's share p of the document, a segment of
/// n words in which word w occurs f(w) times has the probability
///
/// ```text
/// G(a) / G(a + n)  *  product over words w of G(f(w) + a p(w)) / G(a p(w)),       G: the gamma function
/// ```
///
/// Beside the symmetric prior of Eisenstein and Barzilay (2008) this costs a segment little for words that the whole document is full of
/// (the names of a novel's characters), so that the price of a segment means the same in a text of long paragraphs and in one of short
/// sentences.
pub(super) struct Burstiness {
    words: Words,
    /// For word w from `start[w]` on: ln(a p(w) + i) for the counts i before.
    again: Vec<f64>,
    start: Vec<usize>,
    /// ln(a + n).
    any: Vec<f64>,
}

impl Burstiness {
    /// Tables for these words at this concentration (in words, above 0).
    pub fn new(words: Words, concentration: f64) -> Self {
        let mut counts = vec![0usize; words.vocabulary()];
        (0..words.sentences()).flat_map(|i| words.of(i)).for_each(|&word| counts[word as usize] += 1);
        let total = words.total().max(1) as f64;
        let (mut again, mut start) = (Vec::with_capacity(words.total()), Vec::with_capacity(counts.len()));
        for count in counts {
            let prior = concentration * count as f64 / total;
            start.push(again.len());
            again.extend((0..count).map(|i| (prior + i as f64).ln()));
        }
        let any = (0..words.total()).map(|n| (concentration + n as f64).ln()).collect();
        Self { words, again, start, any }
    }

    /// The number of sentences.
    pub fn sentences(&self) -> usize {
        self.words.sentences()
    }

    pub fn words(&self) -> &Words {
        &self.words
    }

    /// For every word ln(a p(w) + i), for the counts i before.
    pub fn again(&self) -> impl Iterator<Item = &[f64]> {
        let ends = self.start.iter().skip(1).copied().chain([self.again.len()]);
        self.start.iter().zip(ends).map(|(&start, end)| &self.again[start..end])
    }

    /// ln(a + n), by the number n of words before.
    pub fn any(&self) -> &[f64] {
        &self.any
    }

    /// Counts for [`row`](Self::row): zero for every word.
    pub fn counts(&self) -> Vec<u32> {
        vec![0; self.words.vocabulary()]
    }

    /// The cost, in nats, of the segment of these sentences. `counts` is zero for all words, before and after.
    pub fn cost(&self, sentences: Range<usize>, counts: &mut [u32]) -> f64 {
        let (mut cost, mut length) = (0.0, 0);
        for i in sentences.clone() {
            self.add(i, counts, &mut cost, &mut length);
        }
        self.clear(sentences, counts);
        cost
    }

    /// Adds the words of sentence `i` to a segment's counts, cost and length in words.
    fn add(&self, i: usize, counts: &mut [u32], cost: &mut f64, length: &mut usize) {
        for &word in self.words.of(i) {
            let count = &mut counts[word as usize];
            *cost += self.any[*length] - self.again[self.start[word as usize] + *count as usize];
            *count += 1;
            *length += 1;
        }
    }

    fn clear(&self, sentences: Range<usize>, counts: &mut [u32]) {
        for i in sentences {
            self.words.of(i).iter().for_each(|&word| counts[word as usize] = 0);
        }
    }

    /// Writes the costs, in nats, of the segments that begin at sentence `first` and are 1, 2, ... sentences long. `counts` is zero for
    /// all words, before and after.
    pub fn row(&self, first: usize, counts: &mut [u32], costs: &mut [f64]) {
        let (mut cost, mut length) = (0.0, 0);
        for (i, out) in costs.iter_mut().enumerate() {
            self.add(first + i, counts, &mut cost, &mut length);
            *out = cost;
        }
        self.clear(first..first + costs.len(), counts);
    }
}

#[cfg(test)]
mod tests {
    use pericope_api::Document;

    use super::Burstiness;
    use crate::lexical::Words;

    #[test]
    fn a_segment_is_as_probable_as_its_words_one_after_the_other() {
        let words = Words::read(&Document::from_sentences("d", &["Ships sail.", "Ships sink.", "Bread rises."]));
        let model = Burstiness::new(words, 3.0);
        // Shares: ship 2/6, the others 1/6; at concentration 3 they count as 1 and 1/2.
        let both = (1.0 / 3.0) * (0.5 / 4.0) * (2.0 / 5.0) * (0.5_f64 / 6.0);
        let (mut counts, mut costs) = (model.counts(), [0.0; 2]);
        model.row(0, &mut counts, &mut costs);
        assert!((costs[1] + both.ln()).abs() < 1e-12, "{costs:?}");
        assert!((costs[0] + ((1.0 / 3.0) * (0.5_f64 / 4.0)).ln()).abs() < 1e-12);
        assert!(counts.iter().all(|&count| count == 0));
    }
}
