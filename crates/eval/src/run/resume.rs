use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use super::done::{Done, Shape};
use super::folder::RunFolder;
use super::{Observer, RunError, Setup};
use crate::config::{Experiment, redact, redacted};
use crate::data::QuestionSet;
use crate::record::{Checksums, ITEMS, Machine, RunRecord};
use pericope_util::sha256_hex;

/// The record of a run that begins now.
pub(super) fn new_record(experiment: &Experiment, set: &QuestionSet, setup: &Setup<'_>) -> RunRecord {
    RunRecord {
        name: experiment.name.clone(),
        config: redacted(experiment),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        checksums: Checksums {
            data: set.checksums.iter().cloned().collect(),
            models: setup.checksums(experiment),
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
        machine: machine(),
    }
}

/// The machine that this runs on.
pub(super) fn machine() -> Machine {
    Machine {
        cores: std::thread::available_parallelism().map_or(0, usize::from),
        os: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
    }
}

/// Removes what an earlier run wrote.
pub(super) fn clear(folder: &RunFolder) -> Result<(), RunError> {
    let files = [ITEMS, "chunkers.jsonl", "pairwise.jsonl", "summary.json", "summary.md", "index.html", "items.html"];
    for name in files {
        let path = folder.path().join(name);
        match fs::remove_file(&path) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(RunError::io(&path)(e)),
            _ => {}
        }
    }
    Ok(())
}

/// The part of a configuration that results depend on: what a run may spend, how patiently it asks, and where answers are
/// kept may change from one session to the next.
pub(crate) fn normalised_config(config: &Value) -> Value {
    let mut config = config.clone();
    let mut forget = |table: &str, keys: &[&str]| {
        if let Some(table) = config.pointer_mut(table).and_then(Value::as_object_mut) {
            keys.iter().for_each(|key| drop(table.remove(*key)));
        }
    };
    forget("", &["limits", "nightly", "gate", "tune", "compare"]);
    forget("/llm", &["cache"]);
    for table in ["/llm/generator", "/llm/judge", "/llm/segmenter", "/llm/context"] {
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

/// Reads the finished parts of the same run, whose beginning and time `record` takes over.
pub(super) fn open(
    folder: &RunFolder,
    record: &mut RunRecord,
    shape: &Shape<'_>,
    observer: &dyn Observer,
) -> Result<Done, RunError> {
    let (out, old) = (folder.path(), folder.record());
    let text = fs::read(&old).map_err(RunError::io(&old))?;
    let mut before: RunRecord = serde_json::from_slice(&text)
        .map_err(|e| RunError::Config(format!("{} is no run: {e}; start without --resume", old.display())))?;
    // An older program wrote more of some addresses.
    redact(&mut before.config);
    let (then, now) = (&before.checksums.models, &record.checksums.models);
    let other: Vec<&str> =
        then.keys().chain(now.keys()).filter(|name| then.get(*name) != now.get(*name)).map(String::as_str).collect();
    let models = format!("other models ({})", other.first().copied().unwrap_or_default());
    for (what, same) in [
        ("another configuration", normalised_config(&before.config) == normalised_config(&record.config)),
        ("other data", before.checksums.data == record.checksums.data),
        ("other prompts", before.checksums.prompts == record.checksums.prompts),
        (&models, other.is_empty()),
        ("another tokenizer", before.tokenizer == record.tokenizer),
        ("another version", before.version == record.version),
    ] {
        if !same {
            return Err(RunError::Config(format!(
                "{} was run with {what}: --resume would mix two runs; start without it, or with another --out",
                out.display()
            )));
        }
    }
    record.started = before.started;
    record.seconds = before.seconds;
    Done::read(folder, shape, observer)
}
