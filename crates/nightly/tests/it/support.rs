//! Nights made up for the tests and the example: a corpus that changes a little from night to night, scores that follow
//! from it, answers that waver as a language model's do. Nothing in them was measured.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;

use pericope_api::Span;
use pericope_eval::cell::{CellKey, Cutoff};
use pericope_eval::config::{Configuration, Experiment};
use pericope_eval::metric::Metric;
use pericope_eval::record::{ChunkerRow, Gold, Item, Machine, Retrieved};
use pericope_nightly::compare::Difference;
use pericope_nightly::gather::uid;
use pericope_nightly::{Asked, Conclusion, History, NightlyCell, NightlyRun, Program, Timing, Verdict, conclude};

/// The experiment that the nights belong to.
pub const CONFIG: &str = r#"
name = "simulated"
[data]
kind = "squad"
path = "none.json"
[retrieval]
modes = ["dense", "bm25"]
k = [1, 3]
token_budgets = [512]
[[chunker]]
name = "fixed"
spec = "fixed:words=100"
[[chunker]]
name = "semantic"
spec = "fusion"
[[chunker]]
name = "structure"
spec = "structure"
[nightly]
baseline = "first"
[[gate]]
metric = "span_recall"
k = 3
max_drop = 0.02
p = 0.01
[[gate]]
metric = "iou"
k = 1
max_drop = 0.02
p = 0.01
[[gate]]
metric = "judge"
k = 3
max_drop = 0.3
p = 0.01
[[gate]]
metric = "segment_seconds"
relative_to = "calibration"
max_ratio = 1.8
"#;

pub fn experiment(further: &str) -> Experiment {
    Experiment::parse(
        &format!("{CONFIG}{further}"),
        Path::new("simulated.toml"),
        &[],
        pericope_segment::registry::list(),
    )
    .unwrap()
}

/// A hash of words as a number in 0..1.
fn unit(words: &[&str]) -> f64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for word in words {
        for byte in word.bytes().chain([0xff]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^= hash >> 33;
    (hash >> 11) as f64 / (1_u64 << 53) as f64
}

/// What is broken on a night.
#[derive(Debug, Clone, Copy)]
pub struct Fault {
    /// Only this chunker; all where it is empty.
    pub chunker: &'static str,
    /// Only this mode; all where it is empty.
    pub mode: &'static str,
    /// Share of the questions whose passage is not found any more.
    pub share: f64,
    /// By how much the share of gold in what is retrieved shrinks.
    pub iou: f64,
    /// How many times as long cutting takes.
    pub slower: f64,
}

impl Fault {
    pub const NONE: Self = Self { chunker: "", mode: "", share: 0.0, iou: 0.0, slower: 1.0 };

    fn hits(&self, key: &CellKey, question: &str) -> bool {
        let here =
            (self.chunker.is_empty() || self.chunker == key.chunker) && (self.mode.is_empty() || self.mode == key.mode);
        here && unit(&["fault", question]) < self.share
    }
}

/// A corpus and its questions, some of which change every night.
pub struct World {
    /// Version of every document; questions belong to `document N / 4`.
    documents: BTreeMap<String, u32>,
    questions: usize,
    night: u32,
}

impl World {
    pub fn new(questions: usize) -> Self {
        let documents = (0..questions.div_ceil(4)).map(|i| (document(i), 0)).collect();
        Self { documents, questions, night: 0 }
    }

    /// The next night. On most of them a document is edited, on some a document with four questions is added.
    pub fn night(&mut self, fault: Fault) -> NightlyRun {
        self.night += 1;
        let name = format!("night {}", self.night);
        if self.night > 1 && unit(&[&name, "edit"]) < 0.7 {
            let which = (unit(&[&name, "which"]) * self.documents.len() as f64) as usize;
            if let Some(version) = self.documents.get_mut(&document(which)) {
                *version += 1;
            }
        }
        if self.night > 1 && unit(&[&name, "add"]) < 0.15 {
            self.documents.insert(document(self.documents.len()), 0);
            self.questions += 4;
        }
        self.same_night(fault)
    }

    /// The night again, on the same documents and questions.
    pub fn same_night(&self, fault: Fault) -> NightlyRun {
        let name = format!("night {}", self.night);
        let questions: Vec<Asked> = (0..self.questions).map(asked).collect();
        let mut cells = Vec::new();
        for chunker in ["fixed", "semantic", "structure"] {
            for mode in ["dense", "bm25"] {
                for cutoff in [Cutoff::K(1), Cutoff::K(3), Cutoff::Tokens(512)] {
                    let key = CellKey { chunker: chunker.into(), mode: mode.into(), cutoff };
                    cells.push(self.cell(key, &questions, &name, fault));
                }
            }
        }
        let wavering = |what: &str, seconds: f64| seconds * (0.9 + 0.2 * unit(&[&name, what]));
        let mut timings = vec![
            Timing { what: "seconds".into(), value: wavering("seconds", 200.0), ..Timing::default() },
            Timing { what: "calibration_seconds".into(), value: wavering("calibration", 0.02), ..Timing::default() },
        ];
        for (chunker, seconds) in [("fixed", 1.0), ("semantic", 20.0), ("structure", 2.0)] {
            let slower = if fault.chunker == chunker { fault.slower } else { 1.0 };
            for (what, value) in [("segment_seconds", seconds * slower), ("index_seconds", 9.0)] {
                let value = wavering(&format!("{chunker} {what}"), value);
                timings.push(Timing { chunker: chunker.into(), what: what.into(), value, ..Timing::default() });
            }
        }
        let day = self.night - 1;
        let date = format!("{}-{:02}-{:02}T02:00:00Z", 2026 + day / 336, day / 28 % 12 + 1, day % 28 + 1);
        let row = |name: &str| ChunkerRow { name: name.into(), spec: name.into(), ..ChunkerRow::default() };
        let mut night = NightlyRun {
            number: self.night,
            experiment: "simulated".into(),
            started: date.clone(),
            finished: date.replace("02:00", "02:03"),
            seconds: 200.0,
            program: Program { version: "0.1.0".into(), sha256: format!("{:016x}", self.night / 5) },
            machine: Machine { cores: 2, os: "simulated".into() },
            tokenizer: "words".into(),
            config: serde_json::json!({"name": "simulated"}),
            documents: self.documents.iter().map(|(id, version)| (id.clone(), format!("{id} {version}"))).collect(),
            items: cells.len() * questions.len(),
            questions,
            chunkers: ["fixed", "semantic", "structure"].map(row).into(),
            cells,
            timings,
            ..NightlyRun::default()
        };
        night.uid = uid(&night);
        night
    }

    fn cell(&self, key: CellKey, questions: &[Asked], night: &str, fault: Fault) -> NightlyCell {
        let mut scores: BTreeMap<Metric, Vec<Option<f64>>> = BTreeMap::new();
        let (k, mode) = (key.cutoff.k().unwrap_or(4), key.mode.as_str());
        for question in questions {
            let version = self.documents.get(&question.document).copied().unwrap_or(0).to_string();
            // An edit decides anew for one question in ten of its document, and a new document pushes some chunk out.
            let edited = unit(&[&question.id, &version, "edit"]) < 0.1;
            let crowd = (self.documents.len() / 8).to_string();
            let pushed = unit(&[&question.id, &crowd, "crowd"]) < 0.01;
            let state = if edited || pushed { version.as_str() } else { "0" };
            let luck = unit(&[&question.id, &key.chunker, mode, state]);
            let reach = 0.45 + 0.12 * k as f64;
            let mut recall = if luck < reach {
                1.0
            } else if luck < reach + 0.08 {
                0.5
            } else {
                0.0
            };
            let mut iou: f64 = recall * (0.2 + 0.3 * unit(&[&question.id, &key.chunker]));
            if fault.hits(&key, &question.id) {
                recall = 0.0;
                iou = 0.0;
            }
            let covered = fault.chunker.is_empty() || fault.chunker == key.chunker;
            iou = (iou - if covered { fault.iou * recall } else { 0.0 }).max(0.0);
            // What a language model says about one question in seven is another every night.
            let waver = if unit(&[&question.id, night, "waver"]) < 0.15 {
                2.0 * unit(&[&question.id, night, mode]) - 1.0
            } else {
                0.0
            };
            let judge: f64 = (1.0 + 7.0 * recall + waver).clamp(0.0, 10.0);
            for (metric, value) in [("span_recall", recall), ("iou", iou), ("judge", judge), ("ndcg", recall * 0.9)] {
                scores.entry(metric.into()).or_default().push(Some(value));
            }
        }
        NightlyCell { key, context_tokens: 300.0, failed: 0, scores }
    }
}

fn document(i: usize) -> String {
    format!("guide-{i:03}.md")
}

fn asked(i: usize) -> Asked {
    Asked {
        id: format!("q{i:04}"),
        text: format!("How is part {i} of the simulated machine put together?"),
        document: document(i / 4),
        sum: format!("{i:032x}"),
    }
}

/// Concludes a night and adds it to the history.
pub fn add(history: &mut History, night: NightlyRun, experiment: &Experiment, dir: &Path) -> Conclusion {
    let conclusion = conclude(history, night, experiment, dir, None).unwrap();
    history.append(&conclusion.night).unwrap();
    conclusion
}

/// Adds a night as it is, without looking at it.
pub fn add_unseen(history: &mut History, mut night: NightlyRun, failed: bool) {
    night.verdict = if failed { Verdict::Failed } else { Verdict::Passed };
    let day = night.started.get(..10).unwrap_or("").to_owned();
    night.line = format!("night {} ({day}) {}: simulated", night.number, night.verdict.name());
    history.append(&night).unwrap();
}

/// Writes a run folder with made-up chunks for a night's questions.
pub fn write_run(dir: &Path, night: &NightlyRun) {
    let folder = dir.join("nights").join(format!("{:06}", night.number));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("index.html"), "<!DOCTYPE html><title>simulated</title>").unwrap();
    let mut out = std::io::BufWriter::new(fs::File::create(folder.join("items.jsonl")).unwrap());
    for cell in &night.cells {
        for (i, question) in night.questions.iter().enumerate() {
            let recall = cell.scores.get("span_recall").and_then(|s| *s.get(i)?).unwrap_or(0.0);
            serde_json::to_writer(&mut out, &item(cell, question, recall)).unwrap();
            out.write_all(b"\n").unwrap();
        }
    }
}

fn item(cell: &NightlyCell, question: &Asked, recall: f64) -> Item {
    let words = "Simulated text about the machine, without any meaning, as long as a chunk of a handbook would be. ";
    let gold = format!("Part {} is put together in three simulated steps. ", question.id);
    let retrieved = (0..cell.key.cutoff.k().unwrap_or(4))
        .map(|rank| {
            let holds = rank == 0 && recall > 0.0;
            let text = if holds { format!("{gold}{}", words.repeat(7)) } else { words.repeat(7) };
            Retrieved {
                rank: rank + 1,
                document: if holds { question.document.clone() } else { "guide-000.md".into() },
                start: 100 * rank,
                end: 100 * rank + text.len(),
                score: 1.0 / (rank + 1) as f64,
                tokens: 140,
                whole_tokens: None,
                chunks: None,
                heading_path: vec!["Simulated".into()],
                gold_share: if holds { recall } else { 0.0 },
                text,
            }
        })
        .collect();
    Item {
        question_id: question.id.clone(),
        chunker: cell.key.chunker.clone(),
        mode: cell.key.mode.clone(),
        cutoff: cell.key.cutoff,
        documents: vec![question.document.clone()],
        question: question.text.clone(),
        gold: Gold { document: question.document.clone(), spans: vec![Span::new(0, gold.len())], text: gold },
        retrieved,
        metrics: [("span_recall".into(), recall)].into(),
        ..Item::default()
    }
}

/// The names of the chunkers among some differences.
pub fn chunkers(list: &[Difference]) -> Vec<&str> {
    let mut names: Vec<&str> = list.iter().map(|d| d.cell.chunker.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names
}
