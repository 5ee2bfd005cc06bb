use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::cell::{CellKey, Setting};
use crate::metric::Metric;
use crate::record::{Agreement, Cell, Item, Metrics, Status};
use crate::stats;

/// Every question's scores, by chunker, mode and setting.
#[derive(Default)]
pub(in crate::run) struct Scores {
    /// The number of each question.
    questions: HashMap<String, usize>,
    /// By question, the document that answers it.
    documents: Vec<String>,
    /// By cell and question.
    cells: BTreeMap<CellKey, BTreeMap<usize, Scored>>,
    /// The metrics that some item has.
    measured: BTreeSet<Metric>,
    /// By chunker, what its items that did not fail say.
    succeeded: HashMap<String, Succeeded>,
    /// Questions without a gold answer: metrics of answers do not apply to them.
    unanswered: HashSet<String>,
    /// By question, whether it has one.
    answered: Vec<bool>,
}

/// What the items of a chunker that did not fail say of it.
#[derive(Default)]
struct Succeeded {
    /// The metrics that some of them have.
    metrics: BTreeSet<Metric>,
    /// Whether there are any,
    any: bool,
    /// and any of a question with a gold answer.
    answered: bool,
}

/// What an item scored.
struct Scored {
    metrics: Metrics,
    failed: bool,
}

/// The scores of several chunkers on the questions that all of them have a score of: a failure is one.
pub(super) struct Measured<'a> {
    /// The chunkers, in the order of the configuration.
    pub(super) chunkers: Vec<&'a str>,
    /// By question, the document that answers it.
    pub(super) documents: Vec<&'a str>,
    /// By chunker, then by question.
    pub(super) scores: Vec<Vec<f64>>,
}

impl Scores {
    /// `unanswered`: ids of the questions without a gold answer.
    pub(in crate::run) fn new<'a>(unanswered: impl IntoIterator<Item = &'a str>) -> Self {
        Self { unanswered: unanswered.into_iter().map(str::to_owned).collect(), ..Self::default() }
    }

    /// Keeps the metrics of an item; the rest is dropped.
    pub(in crate::run) fn add(&mut self, item: Item) {
        let next = self.documents.len();
        let answered = !self.unanswered.contains(&item.question_id);
        let question = *self.questions.entry(item.question_id).or_insert(next);
        if question == next {
            self.documents.push(item.gold.document);
            self.answered.push(answered);
        }
        note(&mut self.measured, &item.metrics);
        if item.status == Status::Ok {
            let succeeded = self.succeeded.entry(item.chunker.clone()).or_default();
            note(&mut succeeded.metrics, &item.metrics);
            succeeded.any = true;
            succeeded.answered |= answered;
        }
        let key = CellKey { chunker: item.chunker, mode: item.mode, cutoff: item.cutoff };
        let scored = Scored { metrics: item.metrics, failed: item.status == Status::Failed };
        self.cells.entry(key).or_default().insert(question, scored);
    }

    /// How far the model's scores agree with the lexical judge's; nothing where only one of them judged.
    pub(in crate::run) fn agreement(&self) -> Option<Agreement> {
        let items = self.cells.values().flat_map(BTreeMap::values).filter(|scored| !scored.failed);
        let both = |scored: &Scored| Some((*scored.metrics.get("judge")?, *scored.metrics.get("judge_lexical")?));
        let (model, lexical): (Vec<f64>, Vec<f64>) = items.filter_map(both).unzip();
        let (pearson, spearman) = (stats::pearson(&model, &lexical), stats::spearman(&model, &lexical));
        (!model.is_empty()).then_some(Agreement { n: model.len(), pearson, spearman })
    }

    /// A score, as it counts: what a failed item has no value of is the worst there is. A question without a gold answer has
    /// no score of an answer, failed or not.
    fn counted(&self, chunker: &str, question: usize, scored: &Scored, metric: &Metric) -> Option<f64> {
        match scored.metrics.get(metric).copied().filter(|score| score.is_finite()) {
            Some(score) => Some(score),
            None if scored.failed && self.applies(chunker, question, metric) => Some(metric.worst()),
            None => None,
        }
    }

    fn applies(&self, chunker: &str, question: usize, metric: &Metric) -> bool {
        let of_retrieval = metric.is_of_retrieval();
        // What none of its items has that did not fail is not measured of a chunker, as nDCG is not of a retriever of others.
        let is_its_own = self.succeeded.get(chunker).is_none_or(|succeeded| {
            let could_tell = if of_retrieval { succeeded.any } else { succeeded.answered };
            !could_tell || succeeded.metrics.contains(metric)
        });
        is_its_own
            && self.measured.contains(metric)
            && (of_retrieval || self.answered.get(question).is_some_and(|answered| *answered))
    }

    /// Fills in a cell's means: over all questions, and where items failed also over the rest.
    pub(super) fn fill(&self, cell: &mut Cell) {
        let Some(scores) = self.cells.get(&cell.key()) else { return };
        for metric in &self.measured {
            let counted =
                |(question, scored): (&usize, &Scored)| self.counted(&cell.chunker, *question, scored, metric);
            let all: Vec<f64> = scores.iter().filter_map(counted).collect();
            if let Some(mean) = mean(all.into_iter()) {
                cell.metrics.insert(metric.clone(), mean);
            }
            let rest = scores.values().filter(|scored| !scored.failed);
            if cell.failed > 0
                && let Some(mean) = mean(rest.filter_map(|scored| scored.metrics.get(metric).copied()))
            {
                cell.metrics_without_failed.insert(metric.clone(), mean);
            }
        }
    }

    /// The scores by a metric at a setting of the chunkers that have any, on the questions that all of these have one for;
    /// none where there is no such question.
    pub(super) fn measured<'a>(
        &'a self,
        chunkers: &[&'a str],
        setting: &Setting,
        metric: &Metric,
    ) -> Option<Measured<'a>> {
        let mut found: Vec<(&str, BTreeMap<usize, f64>)> = Vec::new();
        let mut shared: Option<BTreeSet<usize>> = None;
        for chunker in chunkers {
            let key = CellKey { chunker: (*chunker).to_owned(), mode: setting.mode.clone(), cutoff: setting.cutoff };
            let Some(cell) = self.cells.get(&key) else { continue };
            let scores: BTreeMap<usize, f64> = (cell.iter())
                .filter_map(|(question, scored)| Some((*question, self.counted(chunker, *question, scored, metric)?)))
                .collect();
            if !scores.is_empty() {
                let here: BTreeSet<usize> = scores.keys().copied().collect();
                shared = Some(shared.map_or(here.clone(), |before| &before & &here));
                found.push((chunker, scores));
            }
        }
        let shared = shared.filter(|shared| !shared.is_empty())?;
        let of_shared = |scores: &BTreeMap<usize, f64>| -> Vec<f64> {
            shared.iter().filter_map(|question| scores.get(question).copied()).collect()
        };
        Some(Measured {
            scores: found.iter().map(|(_, scores)| of_shared(scores)).collect(),
            chunkers: found.into_iter().map(|(chunker, _)| chunker).collect(),
            documents: shared.iter().map(|&at| self.documents.get(at).map_or("", String::as_str)).collect(),
        })
    }
}

/// Adds the names of the metrics that an item has.
fn note(known: &mut BTreeSet<Metric>, metrics: &Metrics) {
    for metric in metrics.keys() {
        if !known.contains(metric) {
            known.insert(metric.clone());
        }
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, n) = values.filter(|x| x.is_finite()).fold((0.0, 0_usize), |(sum, n), x| (sum + x, n + 1));
    (n > 0).then(|| sum / n as f64)
}
