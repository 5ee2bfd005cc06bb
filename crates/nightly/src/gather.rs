//! A night from the files of its run.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Instant;

use serde::Deserialize;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::NightlyError;
use crate::night::{Asked, Night, NightCell, Program, Timing};
use pericope_eval::cell::CellKey;
use pericope_eval::data::QuestionSet;
use pericope_eval::digest::{hex, sha256};
use pericope_eval::metric::Metric;
use pericope_eval::record::{RunRecord, Status, Summary};

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
        let documents = set.documents.iter().map(|d| (d.id.clone(), sha256(d.source.as_bytes()))).collect();
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

/// What is needed of a line of `items.jsonl`.
#[derive(Deserialize)]
struct Line {
    question_id: String,
    #[serde(flatten)]
    key: CellKey,
    metrics: BTreeMap<Metric, Option<f64>>,
    #[serde(default)]
    status: Status,
}

/// A night of a finished run; number and verdict are not known yet.
///
/// # Errors
/// [`NightlyError::Io`] where `items.jsonl` cannot be read, [`NightlyError::Damaged`] where a line of it is no item.
pub fn gather(
    inventory: Inventory,
    summary: &Summary,
    record: &RunRecord,
    run: &Path,
    program: Program,
    calibration: Option<f64>,
) -> Result<Night, NightlyError> {
    let place: HashMap<&str, usize> = inventory.questions.iter().enumerate().map(|(i, q)| (q.id.as_str(), i)).collect();
    let mut cells: Vec<NightCell> = summary
        .cells
        .iter()
        .map(|cell| NightCell {
            key: cell.key(),
            context_tokens: cell.context_tokens,
            failed: cell.failed,
            scores: BTreeMap::new(),
        })
        .collect();
    let cell_place: HashMap<CellKey, usize> = cells.iter().enumerate().map(|(i, c)| (c.key.clone(), i)).collect();
    let path = run.join("items.jsonl");
    let file = File::open(&path).map_err(NightlyError::io(&path))?;
    for (number, line) in BufReader::new(file).lines().enumerate() {
        let line = line.map_err(NightlyError::io(&path))?;
        let item: Line = serde_json::from_str(&line)
            .map_err(|e| NightlyError::Damaged { path: path.clone(), problem: format!("line {}: {e}", number + 1) })?;
        let (Some(&question), Some(&at)) = (place.get(item.question_id.as_str()), cell_place.get(&item.key)) else {
            continue;
        };
        let Some(cell) = cells.get_mut(at).filter(|_| item.status == Status::Ok) else { continue };
        for (metric, value) in item.metrics {
            let scores = cell.scores.entry(metric).or_insert_with(|| vec![None; inventory.questions.len()]);
            if let Some(slot) = scores.get_mut(question) {
                *slot = value.filter(|x| x.is_finite());
            }
        }
    }
    let mut night = Night {
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
        cells,
        ..Night::default()
    };
    night.uid = uid(&night);
    Ok(night)
}

/// A hash of what came out, as a UUID (version 5).
#[must_use]
pub fn uid(night: &Night) -> String {
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
