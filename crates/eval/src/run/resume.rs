use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Observer, RunError, Setup, starts};
use crate::config::Experiment;
use crate::data::QuestionSet;
use crate::record::{Checksums, ChunkerRow, Item, Machine, RunRecord, Status};
use pericope_util::{StagedFile, sha256_hex};

/// What an earlier session of the same run left.
#[derive(Default)]
pub(super) struct Done {
    rows: HashMap<String, ChunkerRow>,
    /// Items by chunker, each with the byte of the file at which its line begins.
    items: BTreeMap<String, (Vec<Item>, Vec<u64>)>,
    bytes: u64,
}

impl Done {
    /// Forgets the chunkers of which items are missing.
    pub(super) fn keep_whole(&mut self, modes: usize, per_mode: usize) {
        let items = &self.items;
        self.rows.retain(|name, _| items.get(name).map_or(0, |(items, _)| items.len()) == modes * per_mode);
    }

    /// The row of a chunker that is done.
    pub(super) fn row(&self, name: &str) -> Option<&ChunkerRow> {
        self.rows.get(name)
    }

    /// Row and items of a chunker that is done.
    pub(super) fn take(&mut self, name: &str) -> Option<(ChunkerRow, Vec<Item>, Vec<u64>)> {
        let row = self.rows.remove(name)?;
        let (items, starts) = self.items.remove(name).unwrap_or_default();
        Some((row, items, starts))
    }

    /// Length of `items.jsonl` as it was taken over.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// The record of a run that begins now.
pub(super) fn new_record(experiment: &Experiment, set: &QuestionSet, setup: &Setup<'_>) -> RunRecord {
    RunRecord {
        name: experiment.name.clone(),
        config: redacted(serde_json::to_value(experiment).unwrap_or_default()),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        checksums: Checksums {
            data: set.checksums.iter().cloned().collect(),
            models: setup.model_checksums.clone(),
            prompts: setup
                .models
                .prompts
                .iter()
                .map(|(name, text)| (name.clone(), sha256_hex(text.as_bytes())))
                .collect(),
            chunkers: BTreeMap::new(),
        },
        prompts: setup.models.prompts.clone(),
        seeds: BTreeMap::from([("sampling".into(), experiment.data.seed), ("statistics".into(), experiment.data.seed)]),
        tokenizer: setup.counter.name().to_owned(),
        started: pericope_util::now_rfc3339(),
        finished: String::new(),
        seconds: None,
        paid: None,
        paid_estimated: None,
        machine: Machine {
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            os: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        },
    }
}

/// A configuration without what may be secret in it: values of headers, what an address holds beside host and path, and
/// addresses of hooks. A name of an environment variable is none; of the others the checksum stays, to tell them apart.
fn redacted(mut config: Value) -> Value {
    let hidden = |value: &mut Value| {
        if let Some(text) = value.as_str().filter(|text| !text.contains("${")) {
            let sum: String = sha256_hex(text.as_bytes()).chars().take(12).collect();
            *value = Value::String(format!("(sha256 {sum})"));
        }
    };
    for table in ["/llm/generator", "/llm/judge"] {
        if let Some(headers) = config.pointer_mut(&format!("{table}/headers")).and_then(Value::as_object_mut) {
            headers.values_mut().for_each(hidden);
        }
        let address = config.pointer_mut(&format!("{table}/base_url"));
        if let Some(address) = address.filter(|url| url.as_str().is_some_and(|url| url.contains(['?', '@']))) {
            hidden(address);
        }
    }
    if let Some(hook) = config.pointer_mut("/nightly/webhook") {
        hidden(hook);
    }
    config
}

/// The part of a configuration that results depend on: what a run may spend, how patiently it asks, and where answers are
/// kept may change from one session to the next.
fn normalised_config(config: &Value) -> Value {
    let mut config = config.clone();
    let mut forget = |table: &str, keys: &[&str]| {
        if let Some(table) = config.pointer_mut(table).and_then(Value::as_object_mut) {
            keys.iter().for_each(|key| drop(table.remove(*key)));
        }
    };
    forget("", &["limits", "nightly", "gate", "tune"]);
    forget("/llm", &["cache"]);
    for table in ["/llm/generator", "/llm/judge"] {
        forget(table, &["concurrency", "tokens_per_minute", "timeout_seconds"]);
        forget(table, &["retries", "retry_wait_seconds", "max_wait_seconds"]);
        forget(table, &["api_key_env"]);
    }
    config
}

impl RunRecord {
    /// Marks the run as ended now, after `seconds` in all sessions.
    pub(super) fn finish(&mut self, seconds: f64) {
        self.finished = pericope_util::now_rfc3339();
        self.seconds = Some(seconds);
    }
}

/// Looks at what the folder holds: with `resume`, the finished parts of the same run, whose beginning and time `record`
/// takes over; without, an empty start.
pub(super) fn open(
    out: &Path,
    record: &mut RunRecord,
    resume: bool,
    observer: &dyn Observer,
) -> Result<Done, RunError> {
    let old = out.join("run.json");
    if !resume || !old.exists() {
        for name in ["items.jsonl", "chunkers.jsonl", "summary.json", "summary.md", "index.html", "items.html"] {
            match fs::remove_file(out.join(name)) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(RunError::io(&out.join(name))(e)),
                _ => {}
            }
        }
        return Ok(Done::default());
    }
    let text = fs::read_to_string(&old).map_err(RunError::io(&old))?;
    let before: RunRecord = serde_json::from_str(&text)
        .map_err(|e| RunError::Config(format!("{} is no run: {e}; start without --resume", old.display())))?;
    for (what, same) in [
        ("configuration", normalised_config(&before.config) == normalised_config(&record.config)),
        ("data", before.checksums.data == record.checksums.data),
        ("prompts", before.checksums.prompts == record.checksums.prompts),
        ("models", before.checksums.models == record.checksums.models),
        ("tokenizer", before.tokenizer == record.tokenizer),
        ("version", before.version == record.version),
    ] {
        if !same {
            return Err(RunError::Config(format!(
                "{} was run with another {what}: --resume would mix two runs; start without it, or with another --out",
                out.display()
            )));
        }
    }
    record.started = before.started;
    record.seconds = before.seconds;
    let mut done = Done::default();
    for row in read_lines::<ChunkerRow>(&out.join("chunkers.jsonl"))? {
        done.rows.insert(row.name.clone(), row);
    }
    for item in read_lines::<Item>(&out.join("items.jsonl"))? {
        done.items.entry(item.chunker.clone()).or_default().0.push(item);
    }
    // An item may have failed for a reason that is gone by now, and what succeeded is in the cache of answers.
    let failed =
        |name: &String| done.items.get(name).is_some_and(|(of, _)| of.iter().any(|i| i.status == Status::Failed));
    let again: Vec<String> = done.rows.keys().filter(|name| failed(name)).cloned().collect();
    again.iter().for_each(|name| drop(done.rows.remove(name)));
    if !again.is_empty() {
        observer.note(&format!("again, since items failed: {}", again.join(", ")));
    }
    // Only whole chunkers are taken over: what was cut off in the middle is written anew.
    done.items.retain(|name, _| done.rows.contains_key(name));
    let lengths =
        rewrite(&out.join("items.jsonl"), &done.items.values().flat_map(|(items, _)| items).collect::<Vec<_>>())?;
    let mut starts = starts(0, &lengths).into_iter();
    done.bytes = lengths.iter().sum();
    for (items, of_items) in done.items.values_mut() {
        *of_items = starts.by_ref().take(items.len()).collect();
    }
    rewrite(&out.join("chunkers.jsonl"), &done.rows.values().collect::<Vec<_>>())?;
    observer.note(&format!("resuming: {} chunkers are done already", done.rows.len()));
    Ok(done)
}

/// The lines that parse; a last line that a crash cut short does not.
fn read_lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, RunError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(RunError::io(path)(e)),
    };
    let mut found = Vec::new();
    for line in BufReader::new(file).lines() {
        match line {
            Ok(line) => found.extend(serde_json::from_str(&line).ok()),
            Err(e) if e.kind() == std::io::ErrorKind::InvalidData => {}
            Err(e) => return Err(RunError::io(path)(e)),
        }
    }
    Ok(found)
}

/// Appends lines and makes them durable; returns the length of each, its end included.
pub(super) fn append<T: Serialize>(path: &Path, values: &[T]) -> Result<Vec<u64>, RunError> {
    let write = || -> std::io::Result<Vec<u64>> {
        let mut out = BufWriter::new(OpenOptions::new().create(true).append(true).open(path)?);
        let lengths = write_lines(&mut out, values)?;
        out.flush()?;
        out.get_ref().sync_data()?;
        Ok(lengths)
    };
    write().map_err(RunError::io(path))
}

/// Replaces a file by these lines, whole or not at all; returns the length of each, its end included.
fn rewrite<T: Serialize>(path: &Path, values: &[T]) -> Result<Vec<u64>, RunError> {
    let write = || -> std::io::Result<Vec<u64>> {
        let mut out = StagedFile::create(path)?;
        let lengths = write_lines(&mut out, values)?;
        out.commit()?;
        Ok(lengths)
    };
    write().map_err(RunError::io(path))
}

/// Writes one JSON value a line; returns the length of each line in bytes, its end included.
fn write_lines<T: Serialize>(out: &mut impl Write, values: &[T]) -> std::io::Result<Vec<u64>> {
    let mut lengths = Vec::with_capacity(values.len());
    let mut line = Vec::new();
    for value in values {
        line.clear();
        serde_json::to_writer(&mut line, value)?;
        line.push(b'\n');
        out.write_all(&line)?;
        lengths.push(line.len() as u64);
    }
    Ok(lengths)
}

/// Writes one JSON document, whole or not at all.
pub(super) fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<(), RunError> {
    let write = || -> std::io::Result<()> {
        let mut out = StagedFile::create(path)?;
        serde_json::to_writer_pretty(&mut out, value)?;
        out.write_all(b"\n")?;
        out.commit()
    };
    write().map_err(RunError::io(path))
}
