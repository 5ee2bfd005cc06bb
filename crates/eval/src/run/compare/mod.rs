//! What a run decides: chunkers compared on the same questions, the documents being the units.
//!
//! One comparison was named before the run (`[compare]`): every chunker against the baseline, by one metric at one cutoff
//! in one mode. These are the primary family, corrected among themselves (Holm) and decided. All others, whatever else was
//! measured, are exploratory: an interval and a p-value as if each stood alone, and no verdict.

mod scores;
mod sentence;
mod verdict;

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;

use rayon::prelude::*;

pub(in crate::run) use scores::Scores;

use crate::cell::Setting;
use crate::config::Decision;
use crate::metric::Metric;
use crate::record::{Cell, ChunkerRow, Comparison, FEW_DOCUMENTS, Family, Outcome, Verdict};
use crate::stats::{self, ALPHA, Clustered, Draws, Flips, Interval, Replicates, Table};
use scores::Measured;

/// What came out.
#[derive(Default)]
pub(in crate::run) struct Compared {
    /// The primary comparisons, then the others by metric and setting.
    pub(in crate::run) comparisons: Vec<Comparison>,
    /// None where the primary metric was not measured.
    pub(in crate::run) verdict: Option<Verdict>,
}

/// What is compared.
pub(in crate::run) struct Plan<'a> {
    pub(in crate::run) chunkers: &'a [ChunkerRow],
    pub(in crate::run) settings: &'a [Setting],
    pub(in crate::run) decision: &'a Decision,
    pub(in crate::run) seed: u64,
}

/// Fills in the cells' means and intervals, compares all pairs of chunkers in each mode and setting, and decides.
pub(in crate::run) fn all(scores: &Scores, plan: &Plan<'_>, cells: &mut [Cell]) -> Compared {
    cells.iter_mut().for_each(|cell| scores.fill(cell));
    let names: Vec<&str> = plan.chunkers.iter().map(|row| row.name.as_str()).collect();
    let decision = plan.decision;
    let mut metrics: Vec<Metric> = Metric::compared().to_vec();
    if !metrics.contains(&decision.metric) {
        metrics.push(decision.metric.clone());
    }
    let mut random = Random { seed: plan.seed, last: None };
    let (mut found, mut primary) = (Compared::default(), Vec::new());
    for metric in &metrics {
        for setting in plan.settings {
            let Some(measured) = scores.measured(&names, setting, metric) else { continue };
            let Some(here) = Resampled::new(&measured, &mut random) else { continue };
            here.intervals(cells, setting, metric);
            let decides = *metric == decision.metric && *setting == decision.setting;
            let comparisons = here.comparisons(setting, metric, decides.then_some(decision), plan.seed);
            if decides {
                let (family, rest): (Vec<_>, Vec<_>) =
                    comparisons.into_iter().partition(|c| c.family == Some(Family::Primary));
                (primary, found.verdict) = here.decide(family, decision, plan.chunkers, cells);
                found.comparisons.extend(rest);
            } else {
                found.comparisons.extend(comparisons);
            }
        }
    }
    found.comparisons.splice(0..0, primary);
    found
}

/// The draws of the last set of documents: most metrics and all settings share it.
struct Random {
    seed: u64,
    last: Option<(usize, std::sync::Arc<(Draws, Flips)>)>,
}

impl Random {
    fn of(&mut self, documents: usize) -> std::sync::Arc<(Draws, Flips)> {
        match &self.last {
            Some((many, random)) if *many == documents => random.clone(),
            _ => {
                let random = std::sync::Arc::new((Draws::new(documents, self.seed), Flips::new(documents, self.seed)));
                self.last = Some((documents, random.clone()));
                random
            }
        }
    }
}

/// The chunkers of one metric and setting, in every resample.
struct Resampled<'a> {
    measured: &'a Measured<'a>,
    /// By question, the number of its document.
    documents: Vec<usize>,
    means: Vec<f64>,
    table: Table,
    resampled: Replicates,
    flipped: Replicates,
    random: std::sync::Arc<(Draws, Flips)>,
}

impl<'a> Resampled<'a> {
    fn new(measured: &'a Measured<'a>, random: &mut Random) -> Option<Self> {
        let documents = stats::numbered(&measured.documents);
        let table = Table::new(&measured.scores, &documents)?;
        let random = random.of(table.documents());
        Some(Self {
            measured,
            documents,
            means: table.means(),
            resampled: table.resampled(&random.0),
            flipped: table.flipped(&random.1),
            table,
            random,
        })
    }

    fn differences(&self, a: usize, b: usize) -> Vec<f64> {
        match (self.measured.scores.get(a), self.measured.scores.get(b)) {
            (Some(a), Some(b)) => a.iter().zip(b).map(|(x, y)| x - y).collect(),
            _ => Vec::new(),
        }
    }

    /// Writes the intervals of the means into their cells.
    fn intervals(&self, cells: &mut [Cell], setting: &Setting, metric: &Metric) {
        let chunkers = self.measured.chunkers.iter().zip(&self.measured.scores).enumerate();
        for (at, (chunker, scores)) in chunkers {
            let cell = cells.iter_mut().find(|cell| cell.chunker == **chunker && setting.is(&cell.mode, cell.cutoff));
            let Some((cell, clustered)) = cell.zip(Clustered::new(scores, &self.documents)) else { continue };
            let (low, high) = Interval::of(&clustered, &mut self.resampled.of(at)).ends(ALPHA);
            if low.is_finite() && high.is_finite() {
                cell.intervals.insert(metric.clone(), [low, high]);
            }
        }
    }

    /// Every pair; where this is the primary cell, those with the baseline are the family.
    fn comparisons(
        &self,
        setting: &Setting,
        metric: &Metric,
        decision: Option<&Decision>,
        seed: u64,
    ) -> Vec<Comparison> {
        let names = &self.measured.chunkers;
        let baseline = decision.and_then(|decision| names.iter().position(|name| *name == decision.baseline));
        let family = if baseline.is_some() { names.len() - 1 } else { 0 };
        // The chunker named later is the one that is argued for (fixed, same-size, semantic), whoever the baseline is.
        let pairs: Vec<(usize, usize)> = (0..names.len())
            .flat_map(|b| (b + 1..names.len()).map(move |a| (a, b)))
            .map(|(a, b)| if baseline == Some(a) { (b, a) } else { (a, b) })
            .collect();
        let compared = |(a, b): (usize, usize)| {
            let clustered = Clustered::new(&self.differences(a, b), &self.documents)?;
            let primary = baseline == Some(b);
            let mut comparison = if primary {
                let mut found = self.pair(a, b, &clustered, ALPHA / family as f64);
                found.p = stats::permutation_p(clustered.sums(), stats::resamples_for(family, ALPHA), seed);
                found
            } else {
                let mut found = self.pair(a, b, &clustered, ALPHA);
                found.p = self.flipped.flipped_p(a, b, &clustered, &self.random.1);
                found
            };
            comparison.family = Some(if primary { Family::Primary } else { Family::Exploratory });
            (comparison.mode, comparison.cutoff) = (setting.mode.clone(), setting.cutoff);
            comparison.metric = metric.clone();
            Some(comparison)
        };
        pairs.into_par_iter().filter_map(compared).collect()
    }

    /// Two chunkers, without their p-value.
    fn pair(&self, a: usize, b: usize, clustered: &Clustered, level: f64) -> Comparison {
        let differences = self.differences(a, b);
        let (low, high) = Interval::of(clustered, &mut self.resampled.difference(a, b)).ends(ALPHA);
        let (wins, ties, losses) = stats::counted(&differences);
        let name = |at: usize| self.measured.chunkers.get(at).map_or_else(String::new, |name| (*name).to_owned());
        Comparison {
            a: name(a),
            b: name(b),
            n: differences.len(),
            difference: clustered.estimate(),
            low,
            high,
            wins,
            ties,
            losses,
            detectable: stats::detectable(clustered, level),
            leave_one_out: stats::leave_one_out(&differences, &self.measured.documents),
            documents: Some(clustered.documents()),
            design_effect: clustered.design_effect(),
            ..Comparison::default()
        }
    }

    /// Corrects the family, says what each of its comparisons shows, and gives the verdict.
    fn decide(
        &self,
        mut family: Vec<Comparison>,
        decision: &Decision,
        rows: &[ChunkerRow],
        cells: &[Cell],
    ) -> (Vec<Comparison>, Option<Verdict>) {
        let raw: Vec<f64> = family.iter().map(|c| c.p).collect();
        let most = stats::resamples_for(family.len(), ALPHA);
        let smallest: Vec<f64> = family.iter().map(|c| self.smallest_p(c, most)).collect();
        for ((comparison, p), least) in family.iter_mut().zip(stats::holm(&raw)).zip(stats::holm(&smallest)) {
            comparison.p_holm = Some(p);
            comparison.outcome = Some(self.outcome(comparison, p, decision, least <= ALPHA));
        }
        let verdict = verdict::of(self, &family, decision, rows, cells);
        (family, verdict)
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.measured.chunkers.iter().position(|known| *known == name)
    }

    /// The smallest p-value that the documents in which two chunkers differ can give.
    fn smallest_p(&self, c: &Comparison, most: usize) -> f64 {
        let places = self.place(&c.a).zip(self.place(&c.b));
        let clustered = places.and_then(|(a, b)| Clustered::new(&self.differences(a, b), &self.documents));
        clustered.map_or(1.0, |clustered| stats::smallest_p_of(clustered.sums(), most))
    }

    fn outcome(&self, c: &Comparison, p: f64, decision: &Decision, resolvable: bool) -> Outcome {
        if p < ALPHA && c.low > 0.0 {
            return Outcome::Better;
        }
        if p < ALPHA && c.high < 0.0 {
            return Outcome::Worse;
        }
        let places = self.place(&c.a).zip(self.place(&c.b));
        let within = places.is_some_and(|(a, b)| self.within(a, b, decision.margin));
        match (within, resolvable) {
            (true, _) => Outcome::Equivalent,
            (false, true) => Outcome::Open,
            (false, false) => Outcome::Unresolvable,
        }
    }

    /// True where two one-sided tests at 5 % say that two chunkers differ by less than the margin. A handful of documents
    /// says nothing of the kind, least of all where none of them happens to differ.
    fn within(&self, a: usize, b: usize, margin: f64) -> bool {
        let clustered = Clustered::new(&self.differences(a, b), &self.documents);
        clustered.filter(|clustered| clustered.documents() >= FEW_DOCUMENTS).is_some_and(|clustered| {
            let interval = Interval::of(&clustered, &mut self.resampled.difference(a, b)).ends(2.0 * ALPHA);
            stats::equivalent(interval, margin)
        })
    }
}
