//! The chunkers' answers against those of the baseline, pair by pair.

use std::collections::HashMap;

use super::folder::RunFolder;
use super::lines::append;
use super::{Corpus, Observer, RunError};
use crate::answer::{Missing, PairJudge, PairJudged, PairRequest};
use crate::cell::Setting;
use crate::record::{ItemReader, PairwiseItem, PairwiseRow, Preference, Status};
use crate::stats::{interval_by, numbered};

/// By chunker, setting and question, the answers of a run.
type Answers = HashMap<(usize, usize, usize), String>;

/// What is compared with what.
pub(super) struct Pairs<'a> {
    pub(super) corpus: &'a Corpus,
    pub(super) settings: &'a [Setting],
    /// The chunkers in the order of the configuration.
    pub(super) chunkers: &'a [&'a str],
    /// The chunker that all others are compared with.
    pub(super) baseline: &'a str,
    pub(super) seed: u64,
}

impl Pairs<'_> {
    /// Has every chunker's answers compared with the baseline's, in every mode at every setting; the verdicts go into
    /// `pairwise.jsonl`. A run that is taken up again asks anew: what was answered is in the models' cache.
    pub(super) fn judge(
        &self,
        judge: &dyn PairJudge,
        folder: &RunFolder,
        observer: &dyn Observer,
    ) -> Result<Vec<PairwiseRow>, RunError> {
        let path = folder.pairwise();
        match std::fs::remove_file(&path) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(RunError::io(&path)(e)),
            _ => {}
        }
        let Some(base) = self.chunkers.iter().position(|name| *name == self.baseline) else { return Ok(Vec::new()) };
        let answers = self.answers(folder)?;
        let mut rows = Vec::new();
        for (at, setting) in self.settings.iter().enumerate() {
            for (chunker, name) in self.chunkers.iter().enumerate().filter(|(chunker, _)| *chunker != base) {
                let items = self.items(judge, &answers, (chunker, base), (at, setting), observer)?;
                append(&path, &items)?;
                rows.push(row(&items, name, self.baseline, setting, self.seed));
            }
        }
        Ok(rows)
    }

    /// The answers that the run wrote down.
    fn answers(&self, folder: &RunFolder) -> Result<Answers, RunError> {
        let questions: HashMap<&str, usize> =
            self.corpus.set.questions.iter().enumerate().map(|(q, question)| (question.id.as_str(), q)).collect();
        let mut found = Answers::new();
        for item in ItemReader::open(&folder.items())? {
            let (item, _) = item?;
            let place = (
                self.chunkers.iter().position(|name| *name == item.chunker),
                self.settings.iter().position(|setting| item.is_at(setting)),
                questions.get(item.question_id.as_str()).copied(),
            );
            if let ((Some(chunker), Some(setting), Some(question)), Status::Ok, Some(answer)) =
                (place, item.status, item.answer)
            {
                found.insert((chunker, setting, question), answer.text);
            }
        }
        Ok(found)
    }

    /// A line for each question that has a gold answer.
    fn items(
        &self,
        judge: &dyn PairJudge,
        answers: &Answers,
        (chunker, base): (usize, usize),
        (at, setting): (usize, &Setting),
        observer: &dyn Observer,
    ) -> Result<Vec<PairwiseItem>, RunError> {
        let name = self.chunkers.get(chunker).copied().unwrap_or_default();
        let mut items = Vec::new();
        let mut open: Vec<(usize, PairRequest<'_>)> = Vec::new();
        for (q, question) in self.corpus.set.questions.iter().enumerate().filter(|(_, q)| !q.answer.is_empty()) {
            let mut item = PairwiseItem {
                question_id: question.id.clone(),
                document: self.corpus.documents.get(question.document).map(|d| d.id.clone()).unwrap_or_default(),
                chunker: name.to_owned(),
                baseline: self.baseline.to_owned(),
                mode: setting.mode.clone(),
                cutoff: setting.cutoff,
                ..PairwiseItem::default()
            };
            match (answers.get(&(chunker, at, q)), answers.get(&(base, at, q))) {
                // Nobody has to be asked which of two equal answers is better.
                (Some(a), Some(b)) if a.trim() == b.trim() => {}
                (Some(answer), Some(baseline)) => {
                    let (question, gold) = (question.text.as_str(), question.answer.as_str());
                    open.push((items.len(), PairRequest { question, gold, answer, baseline }));
                }
                (own, _) => {
                    item.status = Status::Failed;
                    let whose = if own.is_none() { name } else { self.baseline };
                    item.error = Some(format!("there is no answer of {whose}"));
                }
            }
            items.push(item);
        }
        observer.stage(&format!("{name} against {}: {} comparisons", self.baseline, setting.mode), open.len());
        let requests: Vec<PairRequest<'_>> = open.iter().map(|(_, request)| *request).collect();
        let compared = judge.compare_all(&requests, &|| observer.advance(1));
        for ((at, _), result) in open.into_iter().zip(compared) {
            let Some(item) = items.get_mut(at) else { continue };
            match result {
                Ok(PairJudged { first, second, reason, cost }) => {
                    item.verdict = PairwiseItem::of_orders(first, second);
                    (item.first, item.second) = (Some(first), Some(second));
                    item.reason = reason;
                    item.cost = Some(cost);
                }
                Err(Missing::Item(problem)) => {
                    item.status = Status::Failed;
                    item.error = Some(format!("no comparison: {problem}"));
                }
                Err(Missing::Run(problem)) => return Err(RunError::Stopped(problem)),
            }
        }
        Ok(items)
    }
}

/// What the verdicts of one chunker at one setting come to.
fn row(items: &[PairwiseItem], chunker: &str, baseline: &str, setting: &Setting, seed: u64) -> PairwiseRow {
    let judged: Vec<&PairwiseItem> = items.iter().filter(|item| item.status == Status::Ok).collect();
    let count = |wanted: Preference| judged.iter().filter(|item| item.verdict == wanted).count();
    let values: Vec<f64> = judged.iter().map(|item| item.verdict.value()).collect();
    let win_rate = values.iter().sum::<f64>() / values.len() as f64;
    // Questions of one document share its cuts.
    let documents: Vec<&str> = judged.iter().map(|item| item.document.as_str()).collect();
    let (low, high) = interval_by(&values, &numbered(&documents), seed);
    let changed: Vec<&&PairwiseItem> = judged.iter().filter(|item| item.depends_on_order()).collect();
    PairwiseRow {
        chunker: chunker.to_owned(),
        baseline: baseline.to_owned(),
        mode: setting.mode.clone(),
        cutoff: setting.cutoff,
        n: judged.len(),
        wins: count(Preference::Win),
        ties: count(Preference::Tie),
        losses: count(Preference::Loss),
        win_rate,
        low,
        high,
        order_changes: changed.len(),
        towards_first: changed.iter().filter(|item| leans_to_first(item)).count(),
        same: judged.iter().filter(|item| item.first.is_none()).count(),
        failed: items.len() - judged.len(),
    }
}

/// True where the judge thought better of an answer when it read it first.
fn leans_to_first(item: &PairwiseItem) -> bool {
    // The chunker's answer stood first in the first order, and second in the second.
    match (item.first, item.second) {
        (Some(first), Some(second)) => first.value() > second.value(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Cutoff;

    fn item(document: usize, orders: Option<(Preference, Preference)>) -> PairwiseItem {
        PairwiseItem {
            document: document.to_string(),
            verdict: orders.map_or(Preference::Tie, |(first, second)| PairwiseItem::of_orders(first, second)),
            first: orders.map(|orders| orders.0),
            second: orders.map(|orders| orders.1),
            ..PairwiseItem::default()
        }
    }

    #[test]
    fn verdicts_that_change_with_the_order_are_ties_and_bias() {
        use Preference::{Loss, Tie, Win};
        let mut items = vec![
            item(0, Some((Win, Win))),
            item(1, Some((Win, Win))),
            item(2, Some((Loss, Loss))),
            // Always the first, always the second, the first or none.
            item(3, Some((Win, Loss))),
            item(4, Some((Loss, Win))),
            item(5, Some((Tie, Loss))),
            item(6, Some((Tie, Tie))),
            item(7, None),
        ];
        items.push(PairwiseItem { status: Status::Failed, ..item(8, None) });
        let setting = Setting { mode: "dense".into(), cutoff: Cutoff::K(3) };
        let found = row(&items, "a", "b", &setting, 7);
        assert_eq!((found.n, found.wins, found.ties, found.losses, found.failed), (8, 2, 5, 1, 1));
        assert_eq!((found.order_changes, found.towards_first, found.same), (3, 2, 1));
        assert_eq!(found.win_rate, (2.0 + 2.5) / 8.0);
        assert!(found.low < found.win_rate && found.win_rate < found.high);
        assert_eq!(found.position_bias(), Some(3.0 / 7.0));
        assert_eq!(row(&[], "a", "b", &setting, 7).position_bias(), None);
    }
}
