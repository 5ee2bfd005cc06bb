//! A night from the files of its run.

use std::collections::{BTreeMap, HashMap};
use std::time::Instant;

use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::night::{Asked, NightlyCell, NightlyRun, Program, Timing};
use pericope_eval::cell::CellKey;
use pericope_eval::data::QuestionSet;
use pericope_eval::metric::Metric;
use pericope_eval::record::{Cell, Item, RunRecord, Status, Summary};
use pericope_eval::run::ItemSink;
use pericope_util::{hex, sha256_hex};

/// The documents and questions that a run is about, by checksum.
#[derive(Debug, Clone, Default)]
pub struct Inventory {
    /// SHA-256 of every document's source, by its id.
    pub documents: BTreeMap<String, String>,
    /// The questions in their order.
    pub questions: Vec<Asked>,
}

impl Inventory {
    /// Of a question set as it is loaded and sampled.
    #[must_use]
    pub fn of(set: &QuestionSet) -> Self {
        let documents = set.documents.iter().map(|d| (d.id.clone(), sha256_hex(d.source.as_bytes()))).collect();
        let questions = set
            .questions
            .iter()
            .map(|question| {
                let document = set.documents.get(question.document).map_or("", |d| d.id.as_str());
                // Where the answer stands may move with an edit above it; what it says may not.
                let mut sum = Sha256::new();
                for part in [question.text.as_str(), &question.answer, document] {
                    sum.update((part.len() as u64).to_le_bytes());
                    sum.update(part.as_bytes());
                }
                Asked {
                    id: question.id.clone(),
                    text: question.text.clone(),
                    document: document.to_owned(),
                    sum: hex(&sum.finalize()[..16]),
                }
            })
            .collect();
        Self { documents, questions }
    }
}

/// The scores of a run by cell and question, gathered while it runs, and where each item stands in its file.
#[derive(Debug, Default)]
pub struct Gathered {
    place: HashMap<String, usize>,
    scores: HashMap<CellKey, CellScores>,
    failed: HashMap<CellKey, Vec<Unscored>>,
    lines: ItemLines,
}

/// By metric: a score for each question, in their order, or none.
type CellScores = BTreeMap<Metric, Vec<Option<f64>>>;

/// A question whose item failed.
#[derive(Debug)]
struct Unscored {
    /// Its place among the questions.
    question: usize,
    /// Whether it has a gold answer: without one, no metric of answers is about it.
    answered: bool,
}

/// The byte of `items.jsonl` at which the item of a cell and a question begins.
pub type ItemLines = HashMap<(CellKey, String), u64>;

impl Gathered {
    /// Returns an empty one for the questions of an inventory.
    #[must_use]
    pub fn new(inventory: &Inventory) -> Self {
        let place = inventory.questions.iter().enumerate().map(|(i, q)| (q.id.clone(), i)).collect();
        Self { place, ..Self::default() }
    }

    /// Returns where the items stand in their file.
    #[must_use]
    pub fn lines(&self) -> &ItemLines {
        &self.lines
    }

    /// The scores of a cell as its means in the run's summary count them: a failed item scores the worst by each of these metrics
    /// that it has no value of.
    fn counted(&mut self, cell: &Cell) -> CellScores {
        let key = cell.key();
        let mut scores = self.scores.remove(&key).unwrap_or_default();
        for &Unscored { question, answered } in self.failed.get(&key).into_iter().flatten() {
            for metric in cell.metrics.keys().filter(|metric| answered || metric.is_of_retrieval()) {
                let scores = scores.entry(metric.clone()).or_insert_with(|| vec![None; self.place.len()]);
                if let Some(slot) = scores.get_mut(question) {
                    slot.get_or_insert_with(|| metric.worst());
                }
            }
        }
        scores
    }
}

impl ItemSink for Gathered {
    fn take(&mut self, item: &Item, offset: u64) {
        let Some(&question) = self.place.get(&item.question_id) else { return };
        let key = item.key();
        self.lines.insert((key.clone(), item.question_id.clone()), offset);
        if item.status == Status::Failed {
            let answered = !item.gold.text.is_empty();
            self.failed.entry(key.clone()).or_default().push(Unscored { question, answered });
        }
        let (cell, questions) = (self.scores.entry(key).or_default(), self.place.len());
        for (metric, value) in &item.metrics {
            let scores = cell.entry(metric.clone()).or_insert_with(|| vec![None; questions]);
            if let Some(slot) = scores.get_mut(question) {
                *slot = Some(*value).filter(|x| x.is_finite());
            }
        }
    }
}

/// A night of a finished run; number and verdict are not known yet.
#[must_use]
pub fn gather(
    inventory: Inventory,
    gathered: &mut Gathered,
    summary: &Summary,
    record: &RunRecord,
    program: Program,
    calibration: Option<f64>,
) -> NightlyRun {
    let cell = |cell: &Cell| NightlyCell {
        key: cell.key(),
        context_tokens: cell.context_tokens,
        failed: cell.failed,
        scores: gathered.counted(cell),
    };
    let cells: Vec<NightlyCell> = summary.cells.iter().map(cell).collect();
    let mut night = NightlyRun {
        experiment: summary.name.clone(),
        started: record.started.clone(),
        finished: record.finished.clone(),
        seconds: record.seconds.unwrap_or(0.0),
        program,
        machine: record.machine.clone(),
        tokenizer: record.tokenizer.clone(),
        checksums: record.checksums.clone(),
        config: record.config.clone(),
        documents: inventory.documents,
        questions: inventory.questions,
        // Sizes in bins are in the run's own files.
        chunkers: summary
            .chunkers
            .iter()
            .cloned()
            .map(|row| pericope_eval::record::ChunkerRow { token_histogram: None, ..row })
            .collect(),
        timings: timings(summary, record, calibration),
        failed: summary.failed,
        items: cells.len() * summary.questions,
        left_out: Some(summary.left_out),
        cells,
        ..NightlyRun::default()
    };
    night.uid = uid(&night);
    night
}

/// A hash of what came out, as a UUID (version 5).
#[must_use]
pub fn uid(night: &NightlyRun) -> String {
    let content = serde_json::to_vec(&(&night.number, &night.started, &night.config, &night.cells, &night.timings))
        .unwrap_or_default();
    Uuid::new_v5(&Uuid::NAMESPACE_OID, &Sha256::digest(&content)).to_string()
}

fn timings(summary: &Summary, record: &RunRecord, calibration: Option<f64>) -> Vec<Timing> {
    let mut found = Vec::new();
    let mut put = |chunker: &str, mode: &str, what: &str, value: Option<f64>| {
        if let Some(value) = value.filter(|x| x.is_finite()) {
            found.push(Timing { chunker: chunker.into(), mode: mode.into(), what: what.into(), value });
        }
    };
    put("", "", "seconds", record.seconds);
    put("", "", "calibration_seconds", calibration);
    for row in &summary.chunkers {
        put(&row.name, "", "segment_seconds", Some(row.segment_seconds));
        put(&row.name, "", "index_seconds", Some(row.index_seconds));
        for (mode, times) in &row.query_times {
            put(&row.name, mode, "query_p50_ms", times.p50_ms);
            put(&row.name, mode, "query_p95_ms", times.p95_ms);
        }
    }
    found
}

/// Seconds of one round of a fixed piece of work (hashing, and adding up floats), the median of seven: how fast this
/// machine is at this moment.
#[must_use]
pub fn calibrate() -> f64 {
    let text: Vec<u8> = (0..1_u32 << 20).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let numbers: Vec<f32> = text.iter().map(|b| f32::from(*b)).collect();
    let mut rounds: Vec<f64> = (0..7)
        .map(|_| {
            let start = Instant::now();
            let sum = Sha256::digest(&text);
            let mut total = f32::from(sum[0]);
            for lag in 1..8 {
                total += numbers.iter().zip(numbers.iter().skip(lag)).map(|(a, b)| a * b).sum::<f32>();
            }
            std::hint::black_box(total);
            start.elapsed().as_secs_f64()
        })
        .collect();
    rounds.sort_by(f64::total_cmp);
    rounds.get(rounds.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::collections::BTreeMap;

    use pericope_eval::metric::Metric;
    use pericope_eval::record::{Cell, Gold, Item, RunRecord, Status, Summary};
    use pericope_eval::run::ItemSink;

    use super::{Asked, Gathered, Inventory, gather};
    use crate::night::Program;

    #[test]
    fn failed_items_count_as_in_the_summary_of_the_run() {
        let asked =
            |id: &&str| Asked { id: (*id).into(), text: String::new(), document: String::new(), sum: String::new() };
        let questions = ["a", "b", "c", "d"].iter().map(asked).collect();
        let inventory = Inventory { documents: BTreeMap::new(), questions };
        let mut gathered = Gathered::new(&inventory);
        let mut take = |id: &str, answer: &str, status: Status, metrics: &[(Metric, f64)]| {
            let gold = Gold { text: answer.into(), ..Gold::default() };
            let metrics = metrics.iter().cloned().collect();
            gathered.take(&Item { question_id: id.into(), gold, status, metrics, ..Item::default() }, 0);
        };
        take("a", "yes", Status::Ok, &[(Metric::SPAN_RECALL, 0.6), (Metric::JUDGE, 8.0)]);
        // Its answer could not be judged; what was retrieved for it was measured.
        take("b", "no", Status::Failed, &[(Metric::SPAN_RECALL, 0.9)]);
        take("c", "no", Status::Failed, &[]);
        // No answer of it is ever judged.
        take("d", "", Status::Failed, &[]);
        let metrics = BTreeMap::from([(Metric::SPAN_RECALL, 0.375), (Metric::JUDGE, 8.0 / 3.0)]);
        let cell = Cell { failed: 3, metrics, ..Cell::default() };
        let summary = Summary { questions: 4, failed: 3, cells: vec![cell], ..Summary::default() };
        let night = gather(inventory, &mut gathered, &summary, &RunRecord::default(), Program::default(), None);
        for (metric, mean) in &summary.cells[0].metrics {
            let found = night.cells[0].mean(metric).unwrap();
            assert!((found - mean).abs() < 1e-12, "{metric}: {found} and {mean}");
        }
    }
}
