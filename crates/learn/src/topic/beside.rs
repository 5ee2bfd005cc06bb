//! What `fusion`, which needs no training, says of the gaps that the sequence model reads.

use pericope_api::{Document, SegmentError};
use pericope_segment::fusion::boundary_probabilities;

/// Sentences that are looked at together: a dynamic programme over their vectors, some 13 MB of them.
const WINDOW: usize = 8192;

/// Sentences on either side of what is taken from a window: longer than any segment that it looks for.
const MARGIN: usize = 512;

/// Probability beyond which a reading says no more: its odds are not that sure.
const SUREST: f64 = 1e-4;

/// By how much the log-odds of probabilities exceed those of their mean.
///
/// The mean is what they say before they have read anything. Without it every gap would seem the less probable the more
/// models have read it.
pub(crate) fn beyond_mean(probabilities: &[f64]) -> impl Iterator<Item = f64> {
    let log_odds = |p: f64| {
        let p = p.clamp(SUREST, 1.0 - SUREST);
        (p / (1.0 - p)).ln()
    };
    let sum: f64 = probabilities.iter().map(|p| p.clamp(SUREST, 1.0 - SUREST)).sum();
    let usual = log_odds(sum / probabilities.len().max(1) as f64);
    probabilities.iter().map(move |&p| log_odds(p) - usual)
}

/// The probabilities of [`boundary_probabilities`] at the gaps of a document, from vectors that come in order, a window of them in
/// memory at a time.
pub(super) struct Beside<'a> {
    document: &'a Document,
    dimension: usize,
    /// The sentences whose vectors are in memory, and these.
    sentences: Vec<usize>,
    vectors: Vec<f32>,
    /// Gaps whose probabilities are known, and how many of them lie behind the sentences in memory.
    found: Vec<f64>,
    taken: usize,
}

impl<'a> Beside<'a> {
    pub(super) fn new(document: &'a Document, dimension: usize) -> Self {
        Self { document, dimension, sentences: Vec::new(), vectors: Vec::new(), found: Vec::new(), taken: 0 }
    }

    /// The vectors of the next sentences, row by row.
    pub(super) fn push(&mut self, sentences: &[usize], vectors: &[f32]) -> Result<(), SegmentError> {
        let rows = vectors.chunks_exact(self.dimension);
        if rows.len() != sentences.len() {
            return Err(self.wrong());
        }
        for (&sentence, row) in sentences.iter().zip(rows) {
            self.sentences.push(sentence);
            self.vectors.extend_from_slice(row);
            if self.sentences.len() == WINDOW {
                self.take(WINDOW - MARGIN)?;
            }
        }
        Ok(())
    }

    /// Takes the probabilities of the gaps behind the first `until` sentences in memory, and forgets those sentences but for a margin.
    fn take(&mut self, until: usize) -> Result<(), SegmentError> {
        let sentences = self.sentences.clone();
        let found = boundary_probabilities(self.document, sentences, self.vectors.clone(), self.dimension);
        let found = found.ok_or_else(|| self.wrong())?;
        self.found.extend(found.iter().take(until).skip(self.taken));
        let forgotten = until.saturating_sub(MARGIN);
        self.sentences.drain(..forgotten);
        self.vectors.drain(..forgotten * self.dimension);
        self.taken = until - forgotten;
        Ok(())
    }

    /// The probabilities at all gaps between the sentences.
    pub(super) fn finish(mut self) -> Result<Vec<f64>, SegmentError> {
        self.take(self.sentences.len())?;
        Ok(self.found)
    }

    fn wrong(&self) -> SegmentError {
        let dimension = self.dimension;
        SegmentError::Unsupported(format!("the encoder gave no vectors of {dimension} numbers for all sentences"))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use pericope_api::Document;
    use pericope_segment::fusion::boundary_probabilities;

    use super::{Beside, WINDOW, beyond_mean};

    #[test]
    fn log_odds_beyond_those_of_the_mean() {
        let odds: Vec<f64> = beyond_mean(&[0.2, 0.2, 0.2, 0.9]).collect();
        let usual = (0.375f64 / 0.625).ln();
        assert!((odds[0] - (0.25f64.ln() - usual)).abs() < 1e-9 && (odds[3] - (9f64.ln() - usual)).abs() < 1e-9);
        assert!(beyond_mean(&[0.3; 4]).all(|odds| odds.abs() < 1e-9));
        assert!(beyond_mean(&[0.0, 1.0]).all(f64::is_finite));
        assert_eq!(beyond_mean(&[]).count(), 0);
    }

    fn document(n: usize) -> (Document, Vec<f32>) {
        let sentences: Vec<String> = (0..n).map(|i| format!("topic{} and word{}", i / 11 % 5, i % 13)).collect();
        let vectors = (0..n).flat_map(|i| {
            let angle = (i / 11 % 5) as f32 + 0.1 * (i % 3) as f32;
            [angle.cos(), angle.sin()]
        });
        (Document::from_sentences("d", &sentences), vectors.collect())
    }

    fn read(document: &Document, vectors: &[f32], part: usize) -> Vec<f64> {
        let mut beside = Beside::new(document, 2);
        let all: Vec<usize> = (0..document.len()).collect();
        for (sentences, vectors) in all.chunks(part).zip(vectors.chunks(2 * part)) {
            beside.push(sentences, vectors).unwrap();
        }
        beside.finish().unwrap()
    }

    #[test]
    fn a_document_of_one_window_is_read_as_a_whole() {
        let (document, vectors) = document(60);
        let whole = boundary_probabilities(&document, (0..60).collect(), vectors.clone(), 2).unwrap();
        assert_eq!(read(&document, &vectors, 7), whole);
        assert_eq!(whole.len(), 59);
        for n in [0, 1, 2] {
            let (document, vectors) = self::document(n);
            assert_eq!(read(&document, &vectors, 7).len(), n.saturating_sub(1));
        }
        let mut beside = Beside::new(&document, 2);
        assert!(beside.push(&[0, 1], &[1.0, 0.0]).is_err());
    }

    #[test]
    fn every_gap_of_a_long_document_is_read_once() {
        let n = WINDOW + 700;
        let (document, vectors) = document(n);
        let found = read(&document, &vectors, 1000);
        assert_eq!(found.len(), n - 1);
        // Boundaries stand out on both sides of the seam.
        for gap in [WINDOW - 520, WINDOW - 10, WINDOW + 300].map(|near| near / 11 * 11 - 1) {
            assert!(found[gap] > 2.0 * found[gap - 4], "{gap}: {} {}", found[gap], found[gap - 4]);
        }
    }
}
