//! Experiments.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pericope::api;
use pericope::eval::answer::Ledger;
use pericope::eval::config::{Experiment, ExperimentFile, ExperimentKind, JudgeKind};
use pericope::eval::record::Summary;
use pericope::eval::sweep::{Variant, variants};
use pericope::experiments::{self, Brought, Finished, Ran, Session};
use pericope::report::run::write;
use pericope::segment::registry::CUSTOM;
use pericope::segment::spec::Spec;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyString};
use serde::Serialize;
use serde_json::{Value, json};

use crate::custom::{Judge, Raised, Retriever, Segmenter};
use crate::embedder::Given;
use crate::errors::{failed, of_experiment, usage};
use crate::json;

/// The name of a configuration that is in no file, for messages.
const NO_FILE: &str = "the configuration";

/// A configuration as TOML, and where it is from.
struct Configuration {
    text: String,
    path: PathBuf,
}

impl Configuration {
    /// Takes a path, a text of TOML (it has a line end), or a dictionary or another mapping.
    fn of(given: &Bound<'_, PyAny>) -> PyResult<Self> {
        if given.cast::<PyMapping>().is_ok() {
            let table = toml::Table::try_from(json::from_python(given)?).map_err(usage)?;
            let text = toml::to_string(&table).map_err(usage)?;
            return Ok(Self { text, path: NO_FILE.into() });
        }
        if let Ok(text) = given.cast::<PyString>() {
            let text = text.to_cow()?;
            if text.contains('\n') {
                return Ok(Self { text: text.into_owned(), path: NO_FILE.into() });
            }
        }
        let file = ExperimentFile::open(&given.extract::<PathBuf>()?).map_err(usage)?;
        if file.kind != ExperimentKind::Retrieval {
            return Err(usage(file.unfit("kind = \"retrieval\"")));
        }
        Ok(Self { text: file.text, path: file.path })
    }
}

/// Parts of the experiment that are written in Python, and what they raised.
#[derive(Default)]
struct Own {
    brought: Brought,
    segmenters: BTreeMap<String, Arc<dyn api::Segmenter>>,
    raised: Raised,
}

impl Own {
    fn of(
        judge: Option<&Bound<'_, PyAny>>,
        retrievers: Option<&Bound<'_, PyMapping>>,
        segmenters: Option<&Bound<'_, PyMapping>>,
    ) -> PyResult<Self> {
        let mut own = Self::default();
        for (name, segmenter) in named(segmenters)? {
            own.segmenters.insert(name, Arc::new(Segmenter::named(&segmenter, own.raised.clone())?));
        }
        if let Some(judge) = judge {
            own.brought.judge = Some(Arc::new(Judge::new(judge, own.raised.clone())?));
        }
        for (name, retriever) in named(retrievers)? {
            own.brought.retrievers.insert(name, Arc::new(Retriever::new(&retriever, own.raised.clone())?));
        }
        Ok(own)
    }

    /// The configuration with these parts in their places: a segmenter or a retriever that it does not name is one more row.
    fn with_parts(&self, text: String, embedder: Option<&str>) -> PyResult<String> {
        // What cannot be read is refused with its place, as it is.
        let Ok(mut table) = text.parse::<toml::Table>() else { return Ok(text) };
        if self.brought.judge.is_some() {
            let judge = table.entry("judge").or_insert_with(|| toml::Table::new().into());
            judge.as_table_mut().map(|judge| judge.insert("kind".into(), "custom".into()));
        }
        if let Some(name) = embedder {
            let retrieval = table.entry("retrieval").or_insert_with(|| toml::Table::new().into());
            retrieval.as_table_mut().map(|retrieval| retrieval.insert("embedder".into(), name.into()));
        }
        for name in self.segmenters.keys() {
            add_row(&mut table, "chunker", name, &custom(name)?);
        }
        for name in self.brought.retrievers.keys() {
            add_row(&mut table, "retriever", name, "custom");
        }
        toml::to_string(&table).map_err(usage)
    }

    /// Checks that nothing of what was passed in is left unused: keys that are set, and a row of the same name, could put something
    /// else in its place.
    fn check_used(&self, experiment: &Experiment, embedder: Option<&str>) -> PyResult<()> {
        if self.brought.judge.is_some() && experiment.judge.kind != JudgeKind::Custom {
            return Err(usage("judge.kind was set, and a judge was passed: leave one out"));
        }
        if embedder.is_some_and(|name| experiment.retrieval.embedder != name) {
            return Err(usage("retrieval.embedder was set, and an embedder was passed: leave one out"));
        }
        let cuts = |name: &String| {
            let own = |spec: &Spec| spec.name == CUSTOM.name && spec.get("name") == Some(name);
            experiment.chunkers.iter().any(|chunker| own(&chunker.spec))
        };
        if let Some(name) = self.segmenters.keys().find(|name| !cuts(name)) {
            return Err(usage(format!(
                "segmenter '{name}' was passed, and the configuration does not ask it: it has another chunker of that name, or `set` replaced it"
            )));
        }
        let rows = experiment.all_retrievers();
        let is_asked = |name: &String| rows.iter().any(|row| row.name == *name && row.is_custom());
        match self.brought.retrievers.keys().find(|name| !is_asked(name)) {
            Some(name) => Err(usage(format!(
                "retriever '{name}' was passed, and the configuration does not ask it: it has another one of that name, or `set` replaced it"
            ))),
            None => Ok(()),
        }
    }
}

/// The entries of a mapping, none where there is no mapping.
fn named<'py>(parts: Option<&Bound<'py, PyMapping>>) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
    parts.map_or_else(|| Ok(Vec::new()), |parts| parts.items()?.extract())
}

/// The spec of a segmenter that is passed in under a name.
fn custom(name: &str) -> PyResult<String> {
    let spec = Spec::new(CUSTOM.name).and_then(|spec| spec.with("name", name));
    Ok(spec.map_err(usage)?.to_string())
}

/// Adds a row to a list of tables, where none has its name. A value that is no list is refused when it is parsed.
fn add_row(table: &mut toml::Table, list: &str, name: &str, spec: &str) {
    let rows = table.entry(list).or_insert_with(|| toml::Value::Array(Vec::new()));
    let Some(rows) = rows.as_array_mut() else { return };
    if !rows.iter().any(|row| row.get("name").and_then(toml::Value::as_str) == Some(name)) {
        let row = [("name", name), ("spec", spec)].map(|(key, value)| (key.to_owned(), toml::Value::from(value)));
        rows.push(toml::Table::from_iter(row).into());
    }
}

/// What an experiment gives.
#[derive(Serialize)]
#[serde(untagged)]
enum Found {
    One(Box<Summary>),
    Sweep { runs: Vec<Value> },
}

/// Runs an experiment and returns its `summary.json` as a dictionary; of an experiment with a `[sweep]` that of each variant, with its
/// label, in the list `runs`. Files go into the folder `out`; without one they are not kept.
#[pyfunction]
#[pyo3(
    signature = (
        config, *, out = None, set = Vec::new(), embedder = None, segmenters = None, judge = None, retrievers = None,
        resume = false, offline = false
    ),
    text_signature = "(config, *, out=None, set=(), embedder=None, segmenters=None, judge=None, retrievers=None, \
        resume=False, offline=False)"
)]
#[allow(clippy::too_many_arguments)] // keywords
pub fn evaluate<'py>(
    py: Python<'py>,
    config: &Bound<'_, PyAny>,
    out: Option<PathBuf>,
    set: Vec<String>,
    embedder: Option<&Bound<'_, PyAny>>,
    segmenters: Option<&Bound<'_, PyMapping>>,
    judge: Option<&Bound<'_, PyAny>>,
    retrievers: Option<&Bound<'_, PyMapping>>,
    resume: bool,
    offline: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let mut config = Configuration::of(config)?;
    let own = Own::of(judge, retrievers, segmenters)?;
    let embedder = embedder.map(Given::of).transpose()?;
    let embeds = embedder.as_ref().map(Given::name);
    if judge.is_some() || retrievers.is_some() || segmenters.is_some() || embedder.is_some() {
        config.text = own.with_parts(config.text, embeds)?;
    }
    let experiment = Experiment::parse(&config.text, &config.path, &set, experiments::segmenters()).map_err(usage)?;
    own.check_used(&experiment, embeds)?;
    let variants = variants(&experiment, experiments::segmenters()).map_err(usage)?;
    let session = Session { resume, offline, trec: None, brought: Some(&own.brought) };
    let kept = out.is_some();
    let folder = out.map_or_else(|| scratch(py), Ok)?;
    let found = py.detach(|| {
        let done = if experiment.sweep.is_empty() {
            let ledger = Ledger::of_run(&experiment, &folder, resume);
            run(&experiment, &folder, embedder.as_ref(), &own, (session, &ledger)).and_then(|finished| {
                let wrote = write(&folder, &finished.report);
                wrote.map_err(|error| failed(format!("{}: {error}", folder.display())))?;
                Ok(Found::One(Box::new(finished.report.summary)))
            })
        } else {
            sweep(&variants, (&folder, kept), embedder.as_ref(), &own, session)
        };
        let done = done.map_err(|error| own.raised.or(error));
        // A document that cannot be cut does not end a run; an exception does.
        let done = own.raised.take().map_or(done, Err);
        if !kept {
            // It is ours alone.
            let _ = std::fs::remove_dir_all(&folder);
        }
        done
    })?;
    json::to_python(py, &found)
}

/// A folder of its own for a run that nobody keeps.
fn scratch(py: Python<'_>) -> PyResult<PathBuf> {
    let keywords = PyDict::new(py);
    keywords.set_item("prefix", "pericope-evaluate-")?;
    py.import("tempfile")?.call_method("mkdtemp", (), Some(&keywords))?.extract()
}

/// Runs one experiment; its report is still to be written.
fn run(
    experiment: &Experiment,
    folder: &Path,
    embedder: Option<&Given>,
    own: &Own,
    (session, ledger): (Session<'_>, &Ledger),
) -> PyResult<Finished> {
    let embedder = embedder.cloned().unwrap_or_else(|| Given::Name(experiment.retrieval.embedder.clone()));
    let (encoder, raised) = embedder.open(session.offline)?;
    let engine = experiments::engine_of(experiment).offline(session.offline).with_custom(own.segmenters.clone());
    let ran = experiments::run(experiment, folder, &engine, encoder, (session, ledger), &());
    ran.map_err(|error| raised.or(of_experiment(error)))
}

/// Runs the variants of a sweep. Their folders are named where they are `kept`.
fn sweep(
    variants: &[Variant],
    (folder, kept): (&Path, bool),
    embedder: Option<&Given>,
    own: &Own,
    session: Session<'_>,
) -> PyResult<Found> {
    let one = |_, experiment: &Experiment, place: &Path, session: Session<'_>, ledger| {
        run(experiment, place, embedder, own, (session, &ledger)).map(Some)
    };
    let ran = experiments::sweep(variants, folder, session, one, of_experiment)?.unwrap_or_default();
    let shown = |Ran { label, folder, summary }| json!({ "label": label, "folder": kept.then_some(folder), "summary": summary });
    Ok(Found::Sweep { runs: ran.into_iter().map(shown).collect() })
}
