use super::{Resampled, sentence};
use crate::config::Decision;
use crate::record::{Cell, ChunkerRow, Comparison, PrimaryRecord, Verdict};
use crate::stats::{self, ALPHA, Clustered};

/// The level of the model confidence set: it holds the best with 90 % confidence.
const SET: f64 = 0.1;

/// Seconds up to which times do not count as different, beside twice the least.
const SECONDS: f64 = 1.0;

/// What may be more than the least of tokens and money and still count as the same.
const LIKE: f64 = 1.05;

/// What a chunker costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cost {
    /// To cut and to index.
    pub(super) seconds: f64,
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
    let next = order.get(1).copied();
    let documents = here.random.0.documents();
    let set = stats::confidence_set(&here.table, &here.random.1);
    let possible: Vec<usize> = (0..names.len()).filter(|&at| set.get(at).is_none_or(|p| *p >= SET)).collect();
    let equivalent: Vec<usize> =
        possible.iter().copied().filter(|&at| at != best && here.within(at, best, decision.margin)).collect();
    let costs: Vec<Cost> = names.iter().map(|name| cost(name, decision, rows, cells)).collect();
    let recommended = cheapest(&possible, &costs, &here.means).unwrap_or(best);
    let apart = next.and_then(|next| Clustered::new(&here.differences(best, next), &here.documents));
    let needed = |difference: f64| stats::documents_needed(apart.as_ref()?, difference, ALPHA);
    let name = |at: usize| names.get(at).map_or_else(String::new, |name| (*name).to_owned());
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
        p_best: (0..names.len()).map(name).zip(stats::p_best(&here.resampled)).collect(),
        possible: possible.iter().copied().map(name).collect(),
        equivalent: equivalent.into_iter().map(name).collect(),
        recommended: name(recommended),
        documents_needed: apart.as_ref().and_then(|apart| needed(apart.estimate())),
        documents_needed_for_margin: needed(decision.margin),
        sentence: String::new(),
    };
    let means = names.iter().map(|name| (*name).to_owned()).zip(here.means.iter().copied()).collect();
    verdict.sentence = sentence::of(&verdict, family, &means, next.map(name).as_deref(), cells);
    Some(verdict)
}

fn mean(here: &Resampled<'_>, at: usize) -> f64 {
    here.means.get(at).copied().unwrap_or(f64::NEG_INFINITY)
}

fn cost(name: &str, decision: &Decision, rows: &[ChunkerRow], cells: &[Cell]) -> Cost {
    let row = rows.iter().find(|row| row.name == name);
    let cell = cells.iter().find(|cell| cell.chunker == name && decision.setting.is(&cell.mode, cell.cutoff));
    Cost {
        seconds: row.map_or(0.0, |row| row.segment_seconds + row.index_seconds),
        tokens: cell.map_or(0.0, |cell| cell.context_tokens),
        money: cell.and_then(|cell| cell.cost).map_or(0.0, |cost| cost.price),
    }
}

/// The cheapest of some chunkers: those that take at most twice the least seconds, or a second more; of these, those that
/// give the reader at most 5 % more tokens than the least; of these, those that cost at most 5 % more money; of these, the
/// one with the highest mean, and of equals the earliest. So times that waver from run to run seldom change the choice.
pub(super) fn cheapest(among: &[usize], costs: &[Cost], means: &[f64]) -> Option<usize> {
    type Figure = (fn(&Cost) -> f64, fn(f64) -> f64);
    let figures: [Figure; 3] = [
        (|cost| cost.seconds, |least| 2.0 * least + SECONDS),
        (|cost| cost.tokens, |least| LIKE * least),
        (|cost| cost.money, |least| LIKE * least),
    ];
    let mut left = among.to_vec();
    for (of, most) in figures {
        // What is not known counts as nothing.
        let figure = |at: &usize| costs.get(*at).map(of).filter(|x| x.is_finite()).unwrap_or(0.0);
        let least = left.iter().map(figure).fold(f64::INFINITY, f64::min);
        left.retain(|at| figure(at) <= most(least));
    }
    let mean = |at: &usize| means.get(*at).copied().unwrap_or(f64::NEG_INFINITY);
    left.into_iter().rev().max_by(|a, b| mean(a).total_cmp(&mean(b)))
}
