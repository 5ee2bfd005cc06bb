//! How well trees and boundary probabilities fit documents whose boundaries are known.

use pericope_api::{Boundaries, SegmentError};
use pericope_segment::metrics::{BoundaryCounts, pk, window_diff, window_size};

use super::options::Metric;
use super::trees::TreeDocument;
use crate::hiercrf::{Cut, HierCrf, Reading, mixed};
use crate::training::options::TrainError;
use crate::training::over_vectors::VectorSource;

/// The better way to cut, and how well it does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Chosen {
    pub(super) cut: Cut,
    /// The best threshold of boundary probabilities.
    pub(super) threshold: f64,
    /// The best share of the head of gaps in them.
    pub(super) gap_share: f64,
    /// The best level of the tree.
    pub(super) level: usize,
    /// F1 of the better of both.
    pub(super) f1: f64,
    /// The metric as a number that is better where it is higher.
    pub(super) goodness: f64,
}

/// What a model finds in documents whose paragraphs it knows, or not.
pub(super) fn readings(
    model: &HierCrf,
    documents: &[TreeDocument],
    paragraphs: bool,
    vectors: &dyn VectorSource,
) -> Result<Vec<Reading>, TrainError> {
    let read = |one: &TreeDocument| {
        let document = one.run(paragraphs).document();
        if document.len() != one.sentences.len() {
            return Err(TrainError::Options(format!("a sentence of the document {:?} is blank", one.id)));
        }
        let mut own = |sentences: &[usize]| {
            let texts = sentences.iter().map(|&i| one.sentences.get(i).map_or("", String::as_str));
            vectors.vectors(&texts.collect::<Vec<&str>>()).map_err(SegmentError::Unsupported)
        };
        model.read_document(&document, &mut own).map_err(|e| TrainError::Options(e.to_string()))
    };
    documents.iter().map(read).collect()
}

/// The thresholds that are tried.
fn thresholds() -> impl Iterator<Item = f64> {
    (1..100).map(|percent| f64::from(percent) / 100.0)
}

/// Shares of the head of gaps that are tried, where there is one.
const SHARES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// Levels that are tried.
const LEVELS: usize = 6;

/// Documents in one way, and what a model found in them.
pub(super) type Found<'a> = (&'a [TreeDocument], Vec<Reading>);

/// Tries all shares, thresholds and levels: the mean over the ways in which documents are read counts. Of equals the lower share and
/// threshold, the coarser level and the scores are chosen. Scores are those of trees alone.
pub(super) fn measure(ways: &[Found<'_>], metric: Metric) -> Chosen {
    let has_head = ways.iter().flat_map(|(_, found)| found).any(|reading| !reading.gaps.is_empty());
    let shares = if has_head { &SHARES[..] } else { &SHARES[..1] };
    let scores = shares.iter().flat_map(|&share| {
        let ways = with_share(ways, share);
        let above = |threshold| move |reading: &Reading| Boundaries::above(&reading.scores, threshold).after().to_vec();
        let measured = thresholds().map(|threshold| ((share, threshold), mean(&ways, metric, above(threshold))));
        measured.collect::<Vec<_>>()
    });
    let levels = (1..=LEVELS).map(|level| (level, mean(ways, metric, |reading: &Reading| reading.tree.level(level))));
    let ((gap_share, threshold), by_scores) = first_best(scores).unwrap_or(((0.0, 0.5), (0.0, 0.0)));
    let (level, by_level) = first_best(levels).unwrap_or((1, (0.0, 0.0)));
    let cut = if by_level.0 > by_scores.0 { Cut::Level } else { Cut::Scores };
    let (goodness, f1) = if cut == Cut::Level { by_level } else { by_scores };
    Chosen { cut, threshold, gap_share, level, f1, goodness }
}

/// The readings with this share of the head of gaps in their scores.
fn with_share<'a>(ways: &[Found<'a>], share: f64) -> Vec<Found<'a>> {
    let one = |reading: &Reading| Reading { scores: mixed(&reading.scores, &reading.gaps, share), ..reading.clone() };
    ways.iter().map(|(documents, found)| (*documents, found.iter().map(one).collect())).collect()
}

fn first_best<T>(all: impl Iterator<Item = (T, (f64, f64))>) -> Option<(T, (f64, f64))> {
    all.reduce(|a, b| if b.1.0 > a.1.0 { b } else { a })
}

/// How good the cuts are by the metric, higher being better, and their F1: the means over the ways.
fn mean(ways: &[Found<'_>], metric: Metric, cut: impl Fn(&Reading) -> Vec<usize>) -> (f64, f64) {
    let judged = ways.iter().map(|(documents, found)| judge(documents, found, metric, &cut));
    let (goodness, f1) = judged.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let ways = ways.len().max(1) as f64;
    (goodness / ways, f1 / ways)
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

    use super::{Chosen, Found};
    use crate::hiercrf::{Cut, Node, Reading, Tree};
    use crate::training::{Metric, TreeDocument};

    fn measure(documents: &[TreeDocument], found: &[Reading], metric: Metric) -> Chosen {
        super::measure(&[(documents, found.to_vec())], metric)
    }

    fn document(boundaries: &[usize]) -> TreeDocument {
        TreeDocument {
            id: "d".into(),
            sentences: (0..12).map(|i| i.to_string()).collect(),
            headings: vec![0; 12],
            boundaries: boundaries.to_vec(),
            paragraphs: None,
            tree: Tree::flat(12),
            topics: Vec::new(),
        }
    }

    fn reading(scores: &[(usize, f64)], nodes: &[(usize, usize)]) -> Reading {
        let mut all = vec![0.05; 11];
        scores.iter().for_each(|&(after, score)| all[after - 1] = score);
        let nodes = nodes.iter().map(|&(start, end)| Node { start, end, level: 0 });
        Reading { tree: Tree::new(12, nodes).unwrap(), scores: all, gaps: Vec::new(), topics: Vec::new() }
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

    #[test]
    fn the_head_of_gaps_counts_where_it_knows_more() {
        let documents = [document(&[4, 5])];
        // Trees see nothing of a section of one sentence.
        let trees = reading(&[(4, 0.9), (9, 0.2)], &[]);
        assert_eq!(measure(&documents, std::slice::from_ref(&trees), Metric::F1).gap_share, 0.0);
        let mut gaps = vec![0.0; 11];
        (gaps[3], gaps[4], gaps[8]) = (0.6, 0.6, 0.1);
        let chosen = measure(&documents, &[Reading { gaps, ..trees }], Metric::F1);
        assert!(chosen.gap_share > 0.0 && chosen.f1 == 1.0, "{chosen:?}");
    }

    #[test]
    fn the_mean_over_the_ways_counts() {
        let documents = [document(&[4, 8])];
        let one = |scores: &[(usize, f64)]| vec![reading(scores, &[])];
        // One way is read well at a high threshold, the other at a low one and not at all above it.
        let ways: [Found<'_>; 2] =
            [(&documents, one(&[(4, 0.9), (8, 0.9), (2, 0.4)])), (&documents, one(&[(4, 0.3), (8, 0.3)]))];
        let chosen = super::measure(&ways, Metric::F1);
        assert!(chosen.threshold < 0.3 && (chosen.f1 - 0.9).abs() < 1e-9, "{chosen:?}");
    }
}
