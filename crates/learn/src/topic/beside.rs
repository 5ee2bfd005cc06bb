//! What `fusion`, which needs no training, says of the gaps that the sequence model reads.

use pericope_api::{Document, SegmentError};
use pericope_segment::fusion::boundary_probabilities;

use super::checkpoint::Weights;
use super::decode::best_boundaries;
use crate::probability::probability;

/// Sentences that are looked at together: a dynamic programme over their vectors, some 13 MB of them.
const WINDOW: usize = 8192;

/// Sentences on either side of what is taken from a window: longer than any segment that it looks for.
const MARGIN: usize = 512;

/// Probability beyond which a reading says no more: its odds are not that sure.
const SUREST: f64 = 1e-4;

/// Names the rule by which `fusion` counts, in the fingerprints of segmenters.
pub(super) const FUSION_RULE: &str = "fusion-2";

// The share of `fusion` rises from 0 at the first number of each of these pairs to its full value at the second.

/// The F1 that `fusion` expects of its own boundaries.
const EXPECTED_F1: [f64; 2] = [0.42, 0.46];

/// The share of the uncertainty about a gap that is left when `fusion` has read the document.
const UNCERTAINTY_LEFT: [f64; 2] = [0.9, 0.85];

/// The F1 that `fusion` expects less the one that the sequence model expects of its own boundaries.
const BEYOND_SEQUENCE: [f64; 2] = [-0.27, -0.21];

/// Gaps of the documents of which `fusion` can be sure at least: in short ones a few boundaries promise much by chance.
const FEWEST_GAPS: usize = 32;

/// The share of the log-odds that are those of `fusion` where it is sure.
const SURE_SHARE: f64 = 0.7;

/// The weight of `fusion` from which on its share is whole.
const WHOLE_WEIGHT: f64 = 0.5;

fn log_odds(p: f64) -> f64 {
    let p = p.clamp(SUREST, 1.0 - SUREST);
    (p / (1.0 - p)).ln()
}

/// The share of the log-odds that are those of `fusion`, by its probabilities of boundaries and the log-odds of the sequence model: 0 but for
/// documents of which it is sure, such as those of parts about unrelated things. What a model learnt of sections inside one text is
/// worth less there.
fn share(probabilities: &[f64], sequence: &[f64]) -> f64 {
    if probabilities.len() < FEWEST_GAPS {
        return 0.0;
    }
    let entropy = |p: f64| {
        let p = p.clamp(SUREST, 1.0 - SUREST);
        -p * p.ln() - (1.0 - p) * (1.0 - p).ln()
    };
    let mean = |of: &dyn Fn(f64) -> f64| probabilities.iter().map(|&p| of(p)).sum::<f64>() / probabilities.len() as f64;
    let left = mean(&entropy) / entropy(mean(&|p| p));
    let sequence: Vec<f64> = sequence.iter().map(|&odds| probability(odds)).collect();
    let (own, other) = (best_boundaries(probabilities).1, best_boundaries(&sequence).1);
    let rise = |[from, to]: [f64; 2], here: f64| ((here - from) / (to - from)).clamp(0.0, 1.0);
    SURE_SHARE * rise(EXPECTED_F1, own) * rise(UNCERTAINTY_LEFT, left) * rise(BEYOND_SEQUENCE, own - other)
}

/// What another than the sequence model says of the gaps of a document; nothing of each where nobody asked it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Opinion {
    /// Its log-odds of a boundary at each gap.
    log_odds: Vec<f64>,
    /// Those of its mean probability: what it says before it has read anything. Without them every gap would seem the less probable the
    /// more models have read it.
    usual: f64,
    /// The share of the evidence that its own log-odds are.
    share: f64,
}

impl Opinion {
    /// By the probabilities of `fusion` at the gaps of which the sequence model has these log-odds; none where nobody asked it.
    pub(crate) fn of_fusion(probabilities: &[f64], sequence: &[f64]) -> Self {
        debug_assert!(probabilities.is_empty() || probabilities.len() == sequence.len(), "one number a gap");
        Self { share: share(probabilities, sequence), ..Self::of_weswin(probabilities) }
    }

    /// By the probabilities of WeSWin.
    pub(super) fn of_weswin(probabilities: &[f64]) -> Self {
        let sum: f64 = probabilities.iter().map(|p| p.clamp(SUREST, 1.0 - SUREST)).sum();
        let usual = log_odds(sum / probabilities.len().max(1) as f64);
        Self { log_odds: probabilities.iter().map(|&p| log_odds(p)).collect(), usual, share: 0.0 }
    }

    /// By how much its log-odds exceed those of its mean.
    fn beyond(&self) -> impl Iterator<Item = f64> {
        self.log_odds.iter().map(|odds| odds - self.usual)
    }
}

/// The evidence for a boundary at each gap: the sequence model's log-odds and what others say beside it, each with its weight; then, where
/// one of the others is sure, its own log-odds in part; and the bias.
pub(crate) fn evidence_of(odds: &[f64], beside: &[(&Opinion, f64)], weights: &Weights) -> Vec<f64> {
    let mut found: Vec<f64> = odds.iter().map(|odds| weights.sequence * odds).collect();
    for (opinion, weight) in beside {
        found.iter_mut().zip(opinion.beyond()).for_each(|(odds, more)| *odds += weight * more);
    }
    for (opinion, weight) in beside.iter().filter(|(opinion, _)| opinion.share > 0.0) {
        let share = opinion.share * (weight / WHOLE_WEIGHT).min(1.0);
        found.iter_mut().zip(&opinion.log_odds).for_each(|(odds, own)| *odds += share * (own - *odds));
    }
    found.iter_mut().for_each(|odds| *odds += weights.bias);
    found
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

    use super::super::checkpoint::Weights;
    use super::{Beside, Opinion, SURE_SHARE, WINDOW, evidence_of, log_odds, share};

    fn beyond_mean(probabilities: &[f64]) -> Vec<f64> {
        Opinion::of_weswin(probabilities).beyond().collect()
    }

    #[test]
    fn log_odds_beyond_those_of_the_mean() {
        let odds = beyond_mean(&[0.2, 0.2, 0.2, 0.9]);
        let usual = (0.375f64 / 0.625).ln();
        assert!((odds[0] - (0.25f64.ln() - usual)).abs() < 1e-9 && (odds[3] - (9f64.ln() - usual)).abs() < 1e-9);
        assert!(beyond_mean(&[0.3; 4]).iter().all(|odds| odds.abs() < 1e-9));
        assert!(beyond_mean(&[0.0, 1.0]).iter().all(|odds| odds.is_finite()));
        assert!(beyond_mean(&[]).is_empty());
    }

    /// Every tenth gap has one probability, the others another.
    fn every_tenth(gaps: usize, one: f64, other: f64) -> Vec<f64> {
        (1..=gaps).map(|gap| if gap % 10 == 0 { one } else { other }).collect()
    }

    #[test]
    fn what_is_sure_of_a_whole_document_has_most_of_the_evidence() {
        let sequence = vec![-1.0; 60];
        let share = |p: &[f64]| share(p, &sequence);
        let sure = every_tenth(60, 0.9, 0.02);
        assert!((share(&sure) - SURE_SHARE).abs() < 1e-9);
        for unsure in [
            // A short document; no F1 to speak of; much uncertainty left; the same everywhere, or nothing.
            every_tenth(31, 0.9, 0.02),
            every_tenth(60, 0.3, 0.02),
            every_tenth(60, 0.7, 0.45),
            vec![0.6; 60],
            vec![0.0; 60],
            Vec::new(),
            // One doubtful boundary in a document that most likely has none.
            (0..40).map(|gap| if gap == 7 { 0.25 } else { 0.003 }).collect(),
        ] {
            assert!(share(&unsure).abs() < 1e-9, "{unsure:?}");
        }
        let between = every_tenth(60, 0.5, 0.08);
        assert!((share(&between) - 0.39).abs() < 0.01, "{}", share(&between));
        // A sequence model that is far surer is not passed over, one that sees nothing is.
        let beside = |odds: &[f64]| super::share(&between, odds);
        assert!(beside(&every_tenth(60, 9.0, -9.0)).abs() < 1e-9);
        assert!((beside(&[-6.0; 60]) - share(&between)).abs() < 1e-9);
        assert!((super::share(&sure, &every_tenth(60, 9.0, -9.0)) - SURE_SHARE).abs() < 1e-9);
    }

    #[test]
    fn evidence_adds_up() {
        let weights = Weights { sequence: 2.0, bias: 0.25, ..Weights::default() };
        let odds = vec![-1.0; 60];
        let (unsure, sure) = (every_tenth(60, 0.3, 0.1), every_tenth(60, 0.9, 0.02));
        let found = |p: &[f64]| evidence_of(&odds, &[(&Opinion::of_fusion(p, &odds), 0.5)], &weights)[9];
        assert!((found(&unsure) - (-2.0 + 0.5 * beyond_mean(&unsure)[9] + 0.25)).abs() < 1e-9);
        let joint = -2.0 + 0.5 * beyond_mean(&sure)[9];
        assert!((found(&sure) - ((1.0 - SURE_SHARE) * joint + SURE_SHARE * log_odds(0.9) + 0.25)).abs() < 1e-9);
        // The less it weighs, the less is its share: without a weight it has none.
        let light = evidence_of(&odds, &[(&Opinion::of_fusion(&sure, &odds), 1e-9)], &weights)[9];
        assert!((light - -1.75).abs() < 1e-6, "{light}");
        // WeSWin was trained on text of the same kinds: it is never as sure.
        let weswin = evidence_of(&odds, &[(&Opinion::of_weswin(&sure), 0.5)], &weights)[9];
        assert!((weswin - (joint + 0.25)).abs() < 1e-9);
        assert_eq!(evidence_of(&odds, &[], &weights), vec![-1.75; 60]);
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
