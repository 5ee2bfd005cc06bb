//! The weights of the evidence for boundaries, fitted on validation documents.

use std::collections::BTreeMap;

use pericope_api::{BoundaryError, Document};
use pericope_segment::fusion::{WordCosts, boundary_probabilities};
use rayon::prelude::*;

use crate::corpus::Record;
use crate::topic::{Amount, Evidence, Lengths, Objective, Opinion, Weights, evidence_of};

/// Weights of the sequence model's log-odds that are tried.
const SEQUENCES: [f64; 7] = [0.2, 0.35, 0.5, 0.65, 0.8, 1.0, 1.25];

/// Weights of the words of segments that are tried.
const WORDS: [f64; 10] = [0.0, 0.01, 0.02, 0.04, 0.07, 0.12, 0.2, 0.35, 0.6, 1.0];

/// Weights of the lengths of segments that are tried.
const PRIORS: [f64; 8] = [0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0];

/// Nats for every boundary that are tried, beyond and short of what there is: far and near.
const BIASES: [f64; 14] = [-4.0, -2.0, -1.5, -1.0, -0.75, -0.5, -0.25, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0];

/// The places from which weights are looked for, beside the one that is given: sequence, words, prior and bias.
const STARTS: [[f64; 4]; 2] = [[0.5, 0.2, 1.0, -1.0], [0.5, 1.0, 8.0, -4.0]];

/// Rounds over the weights at most.
const ROUNDS: usize = 4;

/// F1 that a weight must gain to be taken: the F1 of some hundred documents is no more exact than this.
const WORTH: f64 = 5e-4;

/// Readings of documents of a source that are looked at, at most: a document with paragraphs is read with and without them.
const READINGS: usize = 80;

/// The readings to look at, of all: the first [`READINGS`] of each source.
pub(super) fn looked_at<T>(all: &[T], source: impl Fn(&T) -> &str) -> Vec<&T> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut is_wanted = |one: &T| {
        let seen = seen.entry(source(one).to_owned()).or_default();
        *seen += 1;
        *seen <= READINGS
    };
    all.iter().filter(|one| is_wanted(one)).collect()
}

/// A document whose boundaries are known, as the segmenter sees it.
pub(super) struct Weighed<'a> {
    source: &'a str,
    odds: &'a [f64],
    ends: &'a [bool],
    words: WordCosts,
    /// What `fusion` says.
    fusion: Opinion,
}

impl<'a> Weighed<'a> {
    /// A document with the vectors of its sentences, row by row and each of `dimension` numbers, the log-odds at its gaps, and whether
    /// a segment ends at each of them. Without vectors `fusion` says nothing.
    pub(super) fn new(
        record: &'a Record,
        (vectors, dimension): (Vec<f32>, usize),
        odds: &'a [f64],
        ends: &'a [bool],
    ) -> Self {
        let document = Document::from_sentences("", &record.sentences);
        let sentences = (0..record.sentences.len()).collect();
        let fusion = boundary_probabilities(&document, sentences, vectors, dimension).unwrap_or_default();
        Self {
            source: &record.source,
            odds,
            ends,
            words: WordCosts::of(&document),
            fusion: Opinion::of_fusion(&fusion, odds),
        }
    }

    /// The F1 of its boundaries, as many as the commands' default objective finds: 1 where there is none and none is proposed.
    pub(super) fn f1(&self, weights: &Weights, lengths: Option<&Lengths>) -> Result<f64, BoundaryError> {
        let odds = evidence_of(self.odds, &[(&self.fusion, weights.fusion)], weights);
        let evidence = Evidence::weighted(&odds, Some(&self.words), lengths, weights);
        let found = evidence.cut(Amount::Best(Objective::Balanced))?;
        let is_end = |after: usize| after.checked_sub(1).and_then(|gap| self.ends.get(gap)).copied().unwrap_or(false);
        let hits = found.after().iter().filter(|&&after| is_end(after)).count();
        let known = self.ends.iter().take(self.odds.len()).filter(|&&end| end).count();
        let both = found.after().len() + known;
        Ok(if both == 0 { 1.0 } else { 2.0 * hits as f64 / both as f64 })
    }
}

/// The weights with the highest F1 where the number of segments is not known, and that F1 with the weights of `start` and with these.
/// Each source counts as much as any other: the mean of the means of their documents.
///
/// They are looked for from several places on, one weight after the other. The weights of `fusion` and of WeSWin stay as they are: what
/// `fusion` is worth shows on kinds of text that the model has not seen.
pub(super) fn weigh(
    documents: &[Weighed<'_>],
    start: Weights,
    lengths: Option<&Lengths>,
) -> Result<(Weights, [f64; 2]), BoundaryError> {
    let search = Search { documents, lengths };
    let before = search.f1(&start)?;
    let (mut best, mut f1) = search.climb(start, before)?;
    for [sequence, words, prior, bias] in STARTS {
        let prior = if lengths.is_some() { prior } else { 0.0 };
        let other = Weights { sequence, words, prior, bias, ..start };
        let (weights, here) = search.climb(other, search.f1(&other)?)?;
        if here > f1 + WORTH {
            (best, f1) = (weights, here);
        }
    }
    Ok((best, [before, f1]))
}

struct Search<'a> {
    documents: &'a [Weighed<'a>],
    lengths: Option<&'a Lengths>,
}

impl Search<'_> {
    /// The best weights that are found from `weights` on, whose F1 is `f1`, and theirs.
    fn climb(&self, weights: Weights, f1: f64) -> Result<(Weights, f64), BoundaryError> {
        let (mut best, mut most) = (weights, f1);
        let priors: &[f64] = if self.lengths.is_some() { &PRIORS } else { &[] };
        for _ in 0..ROUNDS {
            let earlier = best;
            for of in [
                &|from: Weights| BIASES.iter().map(|more| Weights { bias: from.bias + more, ..from }).collect(),
                &|from: Weights| WORDS.iter().map(|&words| Weights { words, ..from }).collect(),
                &|from: Weights| priors.iter().map(|&prior| Weights { prior, ..from }).collect(),
                &|from: Weights| SEQUENCES.iter().map(|&sequence| Weights { sequence, ..from }).collect(),
            ] as [&dyn Fn(Weights) -> Vec<Weights>; 4]
            {
                for tried in of(best) {
                    let here = self.f1(&tried)?;
                    if here > most + WORTH {
                        (best, most) = (tried, here);
                    }
                }
            }
            if best == earlier {
                break;
            }
        }
        Ok((best, most))
    }

    fn f1(&self, weights: &Weights) -> Result<f64, BoundaryError> {
        let all = self.documents.par_iter().map(|one| one.f1(weights, self.lengths)).collect::<Result<Vec<_>, _>>()?;
        let mut sources: BTreeMap<&str, (f64, usize)> = BTreeMap::new();
        for (one, f1) in self.documents.iter().zip(all) {
            let sum = sources.entry(one.source).or_default();
            *sum = (sum.0 + f1, sum.1 + 1);
        }
        let means = sources.values().map(|(sum, count)| sum / *count as f64);
        Ok(means.sum::<f64>() / sources.len().max(1) as f64)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::{Weighed, weigh};
    use crate::corpus::Record;
    use crate::topic::{Lengths, Weights};

    /// `fusion` says nothing.
    const NO_VECTORS: (Vec<f32>, usize) = (Vec::new(), 0);

    /// Two sections of four sentences about other things, as many times as asked for.
    fn record(source: &str, times: usize) -> Record {
        let section = ["Ships sail the sea.", "A ship has sails.", "Sails need wind at sea.", "Ships and sails."];
        let other = ["Bread of rye dough.", "Rye bread rises.", "Dough of rye is baked.", "Bread is baked."];
        let sentences: Vec<&str> = (0..times).flat_map(|_| section.iter().chain(&other)).copied().collect();
        Record {
            source: source.into(),
            boundaries: (1..2 * times).map(|i| 4 * i).collect(),
            sentences: sentences.into_iter().map(String::from).collect(),
            ..Record::default()
        }
    }

    fn ends(record: &Record) -> Vec<bool> {
        (1..=record.sentences.len()).map(|i| record.boundaries.contains(&i)).collect()
    }

    #[test]
    fn a_model_that_says_too_little_is_moved() {
        let record = record("a", 3);
        let ends = ends(&record);
        // Every other boundary is plain, the others are not sure.
        let odds: Vec<f64> = (0..ends.len() - 1).map(|i| if ends[i] { [2.0, -1.4][i / 4 % 2] } else { -5.0 }).collect();
        let documents = [Weighed::new(&record, NO_VECTORS, &odds, &ends)];
        let (weights, [before, after]) = weigh(&documents, Weights::default(), None).unwrap();
        assert!(before < 0.9 && after > 0.99, "{before} {after}");
        assert!(weights.bias > 0.0 || weights.words > 0.0);
        assert_eq!(weights.prior, 0.0);
        // Found once, it stays.
        let (again, [before, _]) = weigh(&documents, weights, None).unwrap();
        assert_eq!((again, before), (weights, after));
    }

    #[test]
    fn lengths_count_where_they_are_known() {
        let record = record("a", 4);
        let ends = ends(&record);
        // The model knows nothing but how many there are, and that some gaps are not boundaries.
        let odds: Vec<f64> = (0..ends.len() - 1).map(|i| [-2.5, -0.6, -2.5, -0.5][i % 4]).collect();
        let lengths = Lengths { median: 4.0, deviation: 0.2, growth: 0.0 };
        let documents = [Weighed::new(&record, NO_VECTORS, &odds, &ends)];
        let (weights, [before, after]) = weigh(&documents, Weights::default(), Some(&lengths)).unwrap();
        assert!(after > before && weights.prior + weights.words > 0.0, "{weights:?} {before} {after}");
    }

    #[test]
    fn every_source_counts_alike() {
        // One source has ten documents that a higher bias spoils, three others have one each that it mends.
        let spoilt = Record { boundaries: Vec::new(), ..record("many", 1) };
        let (none, mended) = (vec![false; 8], [record("b", 1), record("c", 1), record("d", 1)]);
        let ends = ends(&mended[0]);
        let low = vec![-3.0; 7];
        let right: Vec<f64> = (0..7).map(|i| if ends[i] { -1.2 } else { -9.0 }).collect();
        let mut documents: Vec<Weighed<'_>> = (0..10).map(|_| Weighed::new(&spoilt, NO_VECTORS, &low, &none)).collect();
        let (alone, _) = weigh(&documents, Weights::default(), None).unwrap();
        assert!(alone.bias <= 0.0);
        documents.extend(mended.iter().map(|one| Weighed::new(one, NO_VECTORS, &right, &ends)));
        let (together, [before, after]) = weigh(&documents, Weights::default(), None).unwrap();
        assert!(together.bias > 0.0 || together.words > 0.0, "{together:?}");
        assert!((before - 0.25).abs() < 1e-9 && after > 0.7, "{before} {after}");
    }
}
