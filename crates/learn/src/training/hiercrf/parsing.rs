//! How well trees and boundary probabilities fit documents whose boundaries are known.

use std::ops::Range;

use pericope_api::{Boundaries, SegmentError};
use pericope_segment::metrics::{BoundaryCounts, pk, window_diff, window_size};

use super::options::Metric;
use super::trees::TreeDocument;
use crate::hiercrf::{Cut, HierCrf, Reading};
use crate::training::options::TrainError;
use crate::training::over_vectors::VectorSource;

/// The better way to cut, and how well it does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Chosen {
    pub(super) cut: Cut,
    /// The best threshold of boundary probabilities.
    pub(super) threshold: f64,
    /// The best level of the tree.
    pub(super) level: usize,
    /// F1 of the better of both.
    pub(super) f1: f64,
    /// The metric as a number that is better where it is higher.
    pub(super) goodness: f64,
}

/// What a model finds in documents.
pub(super) fn readings(
    model: &HierCrf,
    documents: &[TreeDocument],
    vectors: &dyn VectorSource,
) -> Result<Vec<Reading>, TrainError> {
    let read = |document: &TreeDocument| {
        let mut own = |range: Range<usize>| {
            let texts: Vec<&str> =
                document.sentences.get(range).unwrap_or_default().iter().map(String::as_str).collect();
            vectors.vectors(&texts).map_err(SegmentError::Unsupported)
        };
        model.read(document.sentences.len(), &mut own).map_err(|e| TrainError::Options(e.to_string()))
    };
    documents.iter().map(read).collect()
}

/// The thresholds that are tried.
fn thresholds() -> impl Iterator<Item = f64> {
    (1..100).map(|percent| f64::from(percent) / 100.0)
}

/// Levels that are tried.
const LEVELS: usize = 6;

/// Tries all thresholds and levels. Of equals the lower threshold, the coarser level and the scores are chosen.
pub(super) fn measure(documents: &[TreeDocument], found: &[Reading], metric: Metric) -> Chosen {
    let scores = thresholds().map(|threshold| {
        let cut = |reading: &Reading| Boundaries::above(&reading.scores, threshold).after().to_vec();
        (threshold, judge(documents, found, metric, cut))
    });
    let levels =
        (1..=LEVELS).map(|level| (level, judge(documents, found, metric, |reading| reading.tree.level(level))));
    let (threshold, by_scores) = first_best(scores).unwrap_or((0.5, (0.0, 0.0)));
    let (level, by_level) = first_best(levels).unwrap_or((1, (0.0, 0.0)));
    let cut = if by_level.0 > by_scores.0 { Cut::Level } else { Cut::Scores };
    let (goodness, f1) = if cut == Cut::Level { by_level } else { by_scores };
    Chosen { cut, threshold, level, f1, goodness }
}

fn first_best<T>(all: impl Iterator<Item = (T, (f64, f64))>) -> Option<(T, (f64, f64))> {
    all.reduce(|a, b| if b.1.0 > a.1.0 { b } else { a })
}

/// How good the cuts are by the metric, higher being better, and their F1.
fn judge(
    documents: &[TreeDocument],
    found: &[Reading],
    metric: Metric,
    cut: impl Fn(&Reading) -> Vec<usize>,
) -> (f64, f64) {
    let (mut counts, mut errors, mut judged) = (BoundaryCounts::default(), 0.0, 0usize);
    for (document, reading) in documents.iter().zip(found) {
        let n = document.sentences.len();
        let known = Boundaries::new(n, document.boundaries.clone());
        let (Ok(known), Ok(own)) = (known, Boundaries::new(n, cut(reading))) else { continue };
        let Ok(one) = BoundaryCounts::of(&known, &own) else { continue };
        counts += one;
        let k = window_size(&known);
        let error = match metric {
            Metric::F1 => Ok(0.0),
            Metric::WindowDiff => window_diff(&known, &own, k),
            Metric::Pk => pk(&known, &own, k),
        };
        errors += error.unwrap_or(1.0);
        judged += 1;
    }
    let f1 = counts.f1();
    (if metric == Metric::F1 { f1 } else { 1.0 - errors / judged.max(1) as f64 }, f1)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::measure;
    use crate::hiercrf::{Cut, Node, Reading, Tree};
    use crate::training::{Metric, TreeDocument};

    fn document(boundaries: &[usize]) -> TreeDocument {
        TreeDocument {
            id: "d".into(),
            sentences: (0..12).map(|i| i.to_string()).collect(),
            boundaries: boundaries.to_vec(),
            tree: Tree::flat(12),
            topics: Vec::new(),
        }
    }

    fn reading(scores: &[(usize, f64)], nodes: &[(usize, usize)]) -> Reading {
        let mut all = vec![0.05; 11];
        scores.iter().for_each(|&(after, score)| all[after - 1] = score);
        let nodes = nodes.iter().map(|&(start, end)| Node { start, end, level: 0 });
        Reading { tree: Tree::new(12, nodes).unwrap(), scores: all, topics: Vec::new() }
    }

    #[test]
    fn the_better_of_threshold_and_level_is_chosen() {
        let documents = [document(&[4, 8]), document(&[6])];
        let nested = [(0, 6), (6, 12), (6, 9), (9, 12)];
        let found =
            [reading(&[(4, 0.6), (8, 0.4)], &[(0, 4), (4, 8), (8, 12)]), reading(&[(6, 0.5), (9, 0.2)], &nested)];
        let chosen = measure(&documents, &found, Metric::F1);
        assert_eq!((chosen.cut, chosen.level, chosen.f1), (Cut::Scores, 1, 1.0));
        assert!((0.2..0.4).contains(&chosen.threshold));
        // Where the scores are no help, the tree is.
        let blind = found.clone().map(|reading| Reading { scores: vec![0.5; 11], ..reading });
        let chosen = measure(&documents, &blind, Metric::F1);
        assert_eq!((chosen.cut, chosen.level, chosen.goodness), (Cut::Level, 1, 1.0));
        for metric in [Metric::WindowDiff, Metric::Pk] {
            let chosen = measure(&documents, &found, metric);
            assert_eq!((chosen.cut, chosen.goodness), (Cut::Scores, 1.0));
        }
    }

    #[test]
    fn metrics_disagree_about_caution() {
        // One true boundary among doubtful ones: F1 takes them all, WindowDiff punishes each.
        let documents = [document(&[6])];
        let found = [reading(&[(2, 0.6), (4, 0.6), (6, 0.6), (8, 0.6), (10, 0.6)], &[])];
        let f1 = measure(&documents, &found, Metric::F1);
        let window = measure(&documents, &found, Metric::WindowDiff);
        assert!(f1.threshold < 0.6 && f1.f1 > 0.0, "{f1:?}");
        assert!(window.f1 == 0.0 && window.goodness > 0.5, "{window:?}");
    }
}
