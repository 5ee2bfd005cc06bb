use std::collections::BTreeMap;

use super::sentence::Reason;
use super::{Resampled, sentence};
use crate::config::Decision;
use crate::record::{Cell, ChunkerRow, Comparison, Outcome, PrimaryRecord, Verdict};
use crate::stats::{self, ALPHA, Clustered, SET_LEVEL};

/// Seconds up to which times do not count as different, beside twice the least.
const SECONDS: f64 = 1.0;

/// What may be more than the least of tokens and money and still count as the same.
const LIKE: f64 = 1.05;

/// What a chunker costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cost {
    /// To cut, and to index at the pace of the whole run; none where that is not known.
    pub(super) seconds: Option<f64>,
    /// Mean tokens given to the reader.
    pub(super) tokens: f64,
    /// Price of the models' answers at the primary cell.
    pub(super) money: f64,
}

pub(super) fn of(
    here: &Resampled<'_>,
    family: &[Comparison],
    decision: &Decision,
    rows: &[ChunkerRow],
    cells: &[Cell],
) -> Option<Verdict> {
    let names = &here.measured.chunkers;
    let mut order: Vec<usize> = (0..names.len()).collect();
    // Stable: the earlier of equals comes first.
    order.sort_by(|&a, &b| mean(here, b).total_cmp(&mean(here, a)));
    let best = *order.first()?;
    let documents = here.random.0.documents();
    let set = stats::confidence_set(&here.table, &here.random.1);
    let possible: Vec<usize> = (0..names.len()).filter(|&at| set.get(at).is_none_or(|p| *p >= SET_LEVEL)).collect();
    // What is to be told from the best is the next that may be it; the next of all where none is left.
    let next = order.iter().skip(1).find(|at| possible.contains(at)).or(order.get(1)).copied();
    let equivalent: Vec<usize> =
        possible.iter().copied().filter(|&at| at != best && here.within(at, best, decision.margin)).collect();
    let pace = indexing_pace(rows);
    let costs: Vec<Cost> = names.iter().map(|name| cost(name, decision, rows, cells, pace)).collect();
    let among = undecided(&possible, names, family, &decision.baseline);
    let (recommended, reason) = cheapest(&among, &costs, &here.means).unwrap_or((best, Reason::Highest));
    let apart = next.and_then(|next| Clustered::new(&here.differences(best, next), &here.documents));
    // At the level of a comparison of two: the level at which one of many leaves the set is that of no pair, since it depends on
    // who else is left. So the sentence says that these two alone are meant.
    let needed = |difference: f64| stats::documents_needed(apart.as_ref()?, difference, ALPHA);
    let name = |at: usize| names.get(at).map_or_else(String::new, |name| (*name).to_owned());
    // Every resample of a single document is that document.
    let shares = if documents > 1 { stats::p_best(&here.resampled) } else { Vec::new() };
    let mut verdict = Verdict {
        primary: PrimaryRecord {
            baseline: decision.baseline.clone(),
            metric: decision.metric.clone(),
            mode: decision.setting.mode.clone(),
            cutoff: decision.setting.cutoff,
            margin: decision.margin,
            comparisons: family.len(),
            questions: here.documents.len(),
            documents,
            design_effect: apart.as_ref().and_then(Clustered::design_effect),
        },
        best: name(best),
        p_best: (0..names.len()).map(name).zip(shares).collect(),
        possible: possible.iter().copied().map(name).collect(),
        equivalent: equivalent.into_iter().map(name).collect(),
        recommended: name(recommended),
        documents_needed: apart.as_ref().and_then(|apart| needed(apart.estimate())),
        documents_needed_for_margin: needed(decision.margin),
        sentence: String::new(),
    };
    let means: BTreeMap<String, f64> =
        names.iter().map(|name| (*name).to_owned()).zip(here.means.iter().copied()).collect();
    let next = next.map(name);
    verdict.sentence = sentence::of(&verdict, family, &sentence::About { means, next, reason, cells });
    Some(verdict)
}

/// Those that may be the best and are not known to be worse than another: by Holm's test a chunker may be worse than the
/// baseline that the set, which looks at all pairs, cannot rule out. All of them where none is left.
pub(super) fn undecided(possible: &[usize], names: &[&str], family: &[Comparison], baseline: &str) -> Vec<usize> {
    let beaten = |at: &usize| {
        let name = names.get(*at).copied().unwrap_or_default();
        let worse = |c: &Comparison| c.a == name && c.outcome == Some(Outcome::Worse);
        let better = |c: &Comparison| c.outcome == Some(Outcome::Better);
        family.iter().any(worse) || (name == baseline && family.iter().any(better))
    };
    let left: Vec<usize> = possible.iter().copied().filter(|at| !beaten(at)).collect();
    if left.is_empty() { possible.to_vec() } else { left }
}

fn mean(here: &Resampled<'_>, at: usize) -> f64 {
    here.means.get(at).copied().unwrap_or(f64::NEG_INFINITY)
}

/// Seconds a token that indexing took, over all chunkers. Chunkers of one run share the embedder, so that what one of them takes longer
/// for as many tokens is what else the machine did.
pub(super) fn indexing_pace(rows: &[ChunkerRow]) -> Option<f64> {
    let known = rows.iter().filter(|row| row.seconds().is_some_and(f64::is_finite));
    let (seconds, tokens) =
        known.fold((0.0, 0.0), |(seconds, tokens), row| (seconds + row.index_seconds, tokens + tokens_of(row)));
    (tokens > 0.0).then(|| seconds / tokens)
}

/// Seconds to cut, and to index at a pace; at its own where none is given. None where that is not known.
pub(super) fn seconds(row: &ChunkerRow, pace: Option<f64>) -> Option<f64> {
    let measured = row.seconds()?;
    Some(pace.map_or(measured, |pace| row.segment_seconds + pace * tokens_of(row)))
}

/// Tokens of all chunks.
fn tokens_of(row: &ChunkerRow) -> f64 {
    row.chunks as f64 * row.mean_tokens
}

fn cost(name: &str, decision: &Decision, rows: &[ChunkerRow], cells: &[Cell], pace: Option<f64>) -> Cost {
    let row = rows.iter().find(|row| row.name == name);
    let cell = cells.iter().find(|cell| cell.chunker == name && decision.setting.is(&cell.mode, cell.cutoff));
    Cost {
        seconds: row.and_then(|row| seconds(row, pace)),
        tokens: cell.map_or(0.0, |cell| cell.context_tokens),
        money: cell.and_then(|cell| cell.cost).map_or(0.0, |cost| cost.price),
    }
}

/// The cheapest of some chunkers, and why it is chosen: those that take at most twice the least seconds, or a second more;
/// of these, those that give the reader at most 5 % more tokens than the least; of these, those that cost at most 5 % more
/// money; of these, the one with the highest mean, and of equals the earliest. So times that waver from run to run seldom
/// change the choice. Where the time of some is known, one whose time is not known is not chosen.
pub(super) fn cheapest(among: &[usize], costs: &[Cost], means: &[f64]) -> Option<(usize, Reason)> {
    type Figure = (fn(&Cost) -> Option<f64>, fn(f64) -> f64);
    let figures: [Figure; 3] = [
        (|cost| cost.seconds, |least| 2.0 * least + SECONDS),
        (|cost| Some(cost.tokens), |least| LIKE * least),
        (|cost| Some(cost.money), |least| LIKE * least),
    ];
    let mut left = among.to_vec();
    let (mut dearer, mut unknown) = (false, false);
    for (of, most) in figures {
        let figure = |at: &usize| costs.get(*at).and_then(of).filter(|x| x.is_finite());
        let known: Vec<f64> = left.iter().filter_map(figure).collect();
        let least = known.iter().copied().fold(f64::INFINITY, f64::min);
        unknown |= known.len() < left.len();
        if !known.is_empty() {
            dearer |= known.iter().any(|x| *x > most(least));
            left.retain(|at| figure(at).is_some_and(|x| x <= most(least)));
        }
    }
    let mean = |at: &usize| means.get(*at).copied().unwrap_or(f64::NEG_INFINITY);
    let reason = match (unknown, dearer) {
        (true, _) => Reason::CheapestKnown(left.len()),
        (false, true) => Reason::Cheapest(left.len()),
        (false, false) => Reason::Highest,
    };
    left.into_iter().rev().max_by(|a, b| mean(a).total_cmp(&mean(b))).map(|chosen| (chosen, reason))
}
