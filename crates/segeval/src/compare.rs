//! The first two segmenters of every set, compared document by document.

use std::collections::HashMap;

use serde::Serialize;

use super::evaluate::{DocumentRow, Evaluation};
use pericope_eval::stats;

/// Seed of the resampling.
const SEED: u64 = 7;

/// Two segmenters on the documents of a set that both have segmented. Lower Pk is better: a difference below 0 says
/// that `a` does better.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The data set.
    pub set: String,
    /// A segmenter.
    pub a: String,
    /// Another.
    pub b: String,
    /// Whether both were told the true number of segments.
    pub known_count: bool,
    /// The metric that is compared.
    pub metric: &'static str,
    /// Documents.
    pub n: usize,
    /// Mean over the documents of a's figure minus b's.
    pub difference: f64,
    /// Lower end of the 95 % bootstrap interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Two-sided p-value of the paired permutation test.
    pub p: f64,
    /// Documents on which a does better.
    pub wins: usize,
    /// Documents on which both do the same.
    pub ties: usize,
    /// Documents on which b does better.
    pub losses: usize,
}

/// One comparison a set where it has two segmenters: the first two that find the number of segments themselves, else
/// the first two that were told.
#[must_use]
pub fn comparisons(evaluation: &Evaluation) -> Vec<Comparison> {
    let mut sets: Vec<&str> = evaluation.rows.iter().map(|row| row.set.as_str()).collect();
    sets.dedup();
    sets.into_iter().filter_map(|set| compare(evaluation, set)).collect()
}

fn compare(evaluation: &Evaluation, set: &str) -> Option<Comparison> {
    let pair = |known: bool| {
        let mut rows = evaluation.rows.iter().filter(|row| row.set == set && row.known_count == known);
        Some((rows.next()?, rows.next()?))
    };
    let (a, b) = pair(false).or_else(|| pair(true))?;
    let of =
        |name: &str, row: &DocumentRow| row.set == set && row.segmenter == name && row.known_count == a.known_count;
    let first: HashMap<&str, f64> = evaluation
        .documents
        .iter()
        .filter(|row| of(&a.segmenter, row))
        .map(|row| (row.document.as_str(), row.pk))
        .collect();
    let (x, y): (Vec<f64>, Vec<f64>) = evaluation
        .documents
        .iter()
        .filter(|row| of(&b.segmenter, row))
        .filter_map(|row| Some((*first.get(row.document.as_str())?, row.pk)))
        .unzip();
    let paired = stats::compare(&x, &y, SEED)?;
    Some(Comparison {
        set: set.to_owned(),
        a: a.segmenter.clone(),
        b: b.segmenter.clone(),
        known_count: a.known_count,
        metric: "pk",
        n: paired.n,
        difference: paired.difference,
        low: paired.low,
        high: paired.high,
        p: paired.p,
        // A higher Pk loses.
        wins: paired.losses,
        ties: paired.ties,
        losses: paired.wins,
    })
}
