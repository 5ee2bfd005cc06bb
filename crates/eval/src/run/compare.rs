use std::collections::BTreeMap;

use crate::cell::{CellKey, Setting};
use crate::metric::Metric;
use crate::record::{Agreement, Comparison, Item, Metrics, Status};
use crate::stats;

/// Every question's scores, by chunker, mode and setting.
#[derive(Default)]
pub(super) struct Scores {
    cells: BTreeMap<CellKey, BTreeMap<String, Metrics>>,
    /// By question, the document that answers it.
    documents: BTreeMap<String, String>,
}

impl Scores {
    /// Keeps the metrics of an item; the rest is dropped.
    pub(super) fn add(&mut self, item: Item) {
        if item.status == Status::Ok {
            if !self.documents.contains_key(&item.question_id) {
                self.documents.insert(item.question_id.clone(), item.gold.document);
            }
            let key = CellKey { chunker: item.chunker, mode: item.mode, cutoff: item.cutoff };
            self.cells.entry(key).or_default().insert(item.question_id, item.metrics);
        }
    }

    /// How far the model's scores agree with the lexical judge's; nothing where only one of them judged.
    pub(super) fn agreement(&self) -> Option<Agreement> {
        let items = self.cells.values().flat_map(BTreeMap::values);
        let both = |scores: &Metrics| Some((*scores.get("judge")?, *scores.get("judge_lexical")?));
        let (model, lexical): (Vec<f64>, Vec<f64>) = items.filter_map(both).unzip();
        let (pearson, spearman) = (stats::pearson(&model, &lexical), stats::spearman(&model, &lexical));
        (!model.is_empty()).then_some(Agreement { n: model.len(), pearson, spearman })
    }

    /// The scores of two chunkers on the questions that both have one for, and the documents that answer them.
    fn pairs(&self, a: &CellKey, b: &CellKey, metric: &Metric) -> (Vec<f64>, Vec<f64>, Vec<&str>) {
        let (mut of_a, mut of_b, mut documents) = (Vec::new(), Vec::new(), Vec::new());
        let (Some(a), Some(b)) = (self.cells.get(a), self.cells.get(b)) else { return (of_a, of_b, documents) };
        for (question, scores) in a {
            if let (Some(x), Some(y)) = (scores.get(metric), b.get(question).and_then(|scores| scores.get(metric))) {
                of_a.push(*x);
                of_b.push(*y);
                documents.push(self.documents.get(question).map_or("", String::as_str));
            }
        }
        (of_a, of_b, documents)
    }
}

/// All pairs of chunkers, in each mode and setting; Holm's correction runs over all comparisons by the same metric.
pub(super) fn all(scores: &Scores, chunkers: &[&str], settings: &[Setting], seed: u64) -> Vec<Comparison> {
    let mut found = Vec::new();
    for metric in Metric::compared() {
        let from = found.len();
        for setting in settings {
            // The chunker named later is the one that is argued for (fixed, same-size, semantic).
            for (i, b) in chunkers.iter().enumerate() {
                for a in &chunkers[i + 1..] {
                    found.extend(pair(scores, a, b, setting, metric, seed));
                }
            }
        }
        let raw: Vec<f64> = found[from..].iter().map(|c: &Comparison| c.p).collect();
        for (comparison, p) in found[from..].iter_mut().zip(stats::holm(&raw)) {
            comparison.p_holm = p;
        }
    }
    found
}

fn pair(scores: &Scores, a: &str, b: &str, setting: &Setting, metric: &Metric, seed: u64) -> Option<Comparison> {
    let key = |name: &str| CellKey { chunker: name.to_owned(), mode: setting.mode.clone(), cutoff: setting.cutoff };
    let (of_a, of_b, documents) = scores.pairs(&key(a), &key(b), metric);
    let paired = stats::compare(&of_a, &of_b, seed)?;
    let differences: Vec<f64> = of_a.iter().zip(&of_b).map(|(a, b)| a - b).collect();
    Some(Comparison {
        a: a.to_owned(),
        b: b.to_owned(),
        mode: setting.mode.clone(),
        cutoff: setting.cutoff,
        metric: metric.clone(),
        n: paired.n,
        difference: paired.difference,
        low: paired.low,
        high: paired.high,
        p: paired.p,
        p_holm: paired.p,
        wins: paired.wins,
        ties: paired.ties,
        losses: paired.losses,
        detectable: paired.detectable,
        leave_one_out: stats::leave_one_out(&differences, &documents),
    })
}
