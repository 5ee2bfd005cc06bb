//! The segmenters of every set, compared document by document: each with the first of the set, and which of all may be
//! the best.

use std::collections::HashMap;

use serde::Serialize;

use super::evaluate::{DocumentRow, Evaluation, SegmentationRow};
use pericope_eval::record::Outcome;
use pericope_eval::stats::{self, ALPHA, Clustered, Draws, Flips, SET_LEVEL, Table};

/// Seed of the resampling.
const SEED: u64 = 7;

/// A segmenter and the first of its set, on the documents that both have segmented. Lower Pk is better: a difference
/// below 0 says that `a` does better.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The data set.
    pub set: String,
    /// A segmenter.
    pub a: String,
    /// The first segmenter of the set, with which all others are compared.
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
    /// The same after Holm's correction over the comparisons of the set.
    pub p_holm: f64,
    /// What it shows of `a`: better or worse where `p_holm` is below 0.05 and the interval excludes 0.
    pub outcome: Outcome,
    /// Where it is open: documents in all that would decide it with 80 % power, were the difference the one that was seen,
    /// at the strictest level that the correction asks for. None where nothing can be said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documents_needed: Option<usize>,
    /// Documents on which a does better.
    pub wins: usize,
    /// Documents on which both do the same.
    pub ties: usize,
    /// Documents on which b does better.
    pub losses: usize,
}

/// How a segmenter stands among all that are compared on a set, by the documents that every one of them has segmented.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Standing {
    /// The data set.
    pub set: String,
    /// The segmenter.
    pub segmenter: String,
    /// Whether all were told the true number of segments.
    pub known_count: bool,
    /// Documents.
    pub n: usize,
    /// Share of resamples of the documents in which its mean Pk is the lowest; none for a single document.
    pub p_best: Option<f64>,
    /// Whether it may be the best: it is in the model confidence set at 90 %.
    pub possible: bool,
}

/// Each segmenter of a set with the first of it: those that find the number of segments themselves where there are two
/// of them, else those that were told.
#[must_use]
pub fn comparisons(evaluation: &Evaluation) -> Vec<Comparison> {
    sets(evaluation).into_iter().flat_map(|set| with_the_first(evaluation, &systems(evaluation, set))).collect()
}

/// How the segmenters that [`comparisons`] compares stand on every set, in their order.
#[must_use]
pub fn standings(evaluation: &Evaluation) -> Vec<Standing> {
    let of_set = |set| among_all(evaluation, &systems(evaluation, set)).unwrap_or_default();
    sets(evaluation).into_iter().flat_map(of_set).collect()
}

/// The sets in their order.
fn sets(evaluation: &Evaluation) -> Vec<&str> {
    let mut sets: Vec<&str> = evaluation.rows.iter().map(|row| row.set.as_str()).collect();
    sets.dedup();
    sets
}

/// The segmenters of a set that are compared.
fn systems<'a>(evaluation: &'a Evaluation, set: &str) -> Vec<&'a SegmentationRow> {
    let told = |known: bool| -> Vec<&'a SegmentationRow> {
        evaluation.rows.iter().filter(|row| row.set == set && row.known_count == known).collect()
    };
    let themselves = told(false);
    if themselves.len() > 1 { themselves } else { told(true) }
}

/// A segmenter's Pk by document, in the order of the documents.
fn pk_of<'a>(evaluation: &'a Evaluation, of: &SegmentationRow) -> Vec<(&'a str, f64)> {
    let its =
        |row: &&DocumentRow| row.set == of.set && row.known_count == of.known_count && row.segmenter == of.segmenter;
    evaluation.documents.iter().filter(its).map(|row| (row.document.as_str(), row.pk)).collect()
}

fn with_the_first(evaluation: &Evaluation, rows: &[&SegmentationRow]) -> Vec<Comparison> {
    let Some((first, others)) = rows.split_first() else { return Vec::new() };
    let base: HashMap<&str, f64> = pk_of(evaluation, first).into_iter().collect();
    let most = stats::resamples_for(others.len(), ALPHA);
    // With each comparison its differences by document.
    let compare = |row: &&SegmentationRow| -> Option<(Comparison, Clustered)> {
        let shared = pk_of(evaluation, row).into_iter();
        let (a, b): (Vec<f64>, Vec<f64>) = shared.filter_map(|(id, pk)| Some((pk, *base.get(id)?))).unzip();
        let paired = stats::compare(&a, &b, SEED)?;
        let differences: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
        let clustered = Clustered::new(&differences, &(0..differences.len()).collect::<Vec<usize>>())?;
        let p = stats::permutation_p(&differences, most, SEED);
        let comparison = Comparison {
            set: row.set.clone(),
            a: row.segmenter.clone(),
            b: first.segmenter.clone(),
            known_count: row.known_count,
            metric: "pk",
            n: paired.n,
            difference: paired.difference,
            low: paired.low,
            high: paired.high,
            p,
            p_holm: p,
            outcome: Outcome::Open,
            documents_needed: None,
            // A higher Pk loses.
            wins: paired.losses,
            ties: paired.ties,
            losses: paired.wins,
        };
        Some((comparison, clustered))
    };
    let (mut found, clustered): (Vec<Comparison>, Vec<Clustered>) = others.iter().filter_map(compare).unzip();
    let raw: Vec<f64> = found.iter().map(|c| c.p).collect();
    // The smallest p-value that the documents of each can give.
    let smallest: Vec<f64> = clustered.iter().map(|of| stats::smallest_p_of(of.sums(), most)).collect();
    let level = ALPHA / found.len().max(1) as f64;
    let corrected = stats::holm(&raw).into_iter().zip(stats::holm(&smallest));
    for ((comparison, of), (p, least)) in found.iter_mut().zip(&clustered).zip(corrected) {
        comparison.p_holm = p;
        // Else no p-value of so few documents is small enough after the correction, whatever they show.
        comparison.outcome = shows(comparison, least <= ALPHA);
        if comparison.outcome == Outcome::Open {
            comparison.documents_needed = stats::documents_needed(of, of.estimate(), level);
        }
    }
    found
}

/// What a comparison shows of its first segmenter; a lower Pk is better.
fn shows(c: &Comparison, resolvable: bool) -> Outcome {
    if c.p_holm < ALPHA && c.high < 0.0 {
        Outcome::Better
    } else if c.p_holm < ALPHA && c.low > 0.0 {
        Outcome::Worse
    } else if resolvable {
        Outcome::Open
    } else {
        Outcome::Unresolvable
    }
}

/// None where there are no two segmenters, or no document that all of them have segmented.
fn among_all(evaluation: &Evaluation, rows: &[&SegmentationRow]) -> Option<Vec<Standing>> {
    // One that failed on every document says nothing of the others.
    let rows: Vec<&SegmentationRow> = rows.iter().copied().filter(|row| row.documents > 0).collect();
    let (first, others) = rows.split_first().filter(|(_, others)| !others.is_empty())?;
    let others: Vec<HashMap<&str, f64>> =
        others.iter().map(|row| pk_of(evaluation, row).into_iter().collect()).collect();
    let (mut scores, mut documents) = (vec![Vec::new(); rows.len()], 0);
    for (id, pk) in pk_of(evaluation, first) {
        let theirs: Vec<f64> = others.iter().filter_map(|of| of.get(id).copied()).collect();
        if theirs.len() < others.len() {
            continue;
        }
        documents += 1;
        // The statistics call the highest the best.
        let all = std::iter::once(pk).chain(theirs).map(|pk| 1.0 - pk);
        scores.iter_mut().zip(all).for_each(|(of, score)| of.push(score));
    }
    let table = Table::new(&scores, &(0..documents).collect::<Vec<usize>>())?;
    let set = stats::confidence_set(&table, &Flips::new(documents, SEED));
    // Every resample of a single document is that document.
    let shares = if documents > 1 { stats::p_best(&table.resampled(&Draws::new(documents, SEED))) } else { Vec::new() };
    let stands = |(at, row): (usize, &&SegmentationRow)| Standing {
        set: row.set.clone(),
        segmenter: row.segmenter.clone(),
        known_count: row.known_count,
        n: documents,
        p_best: shares.get(at).copied(),
        possible: set.get(at).is_none_or(|p| *p >= SET_LEVEL),
    };
    Some(rows.iter().enumerate().map(stands).collect())
}
