//! Experiments.

use std::path::{Path, PathBuf};

use pericope::eval::answer::Ledger;
use pericope::eval::config::{Experiment, ExperimentFile, ExperimentKind};
use pericope::experiments::{self, Session};
use pericope::report::run::write;
use pericope::segmenters;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

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
    /// Takes a path, a text of TOML (it has a line end), or a dictionary.
    fn of(given: &Bound<'_, PyAny>) -> PyResult<Self> {
        if given.is_instance_of::<PyDict>() {
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

/// Runs an experiment and returns its `summary.json` as a dictionary. The run's files go into the folder `out`; without one
/// they are not kept.
#[pyfunction]
#[pyo3(
    signature = (config, *, out = None, set = Vec::new(), embedder = None, resume = false, offline = false),
    text_signature = "(config, *, out=None, set=(), embedder=None, resume=False, offline=False)"
)]
pub fn evaluate<'py>(
    py: Python<'py>,
    config: &Bound<'_, PyAny>,
    out: Option<PathBuf>,
    set: Vec<String>,
    embedder: Option<&Bound<'_, PyAny>>,
    resume: bool,
    offline: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let config = Configuration::of(config)?;
    let experiment = Experiment::parse(&config.text, &config.path, &set, segmenters()).map_err(usage)?;
    if !experiment.sweep.is_empty() {
        return Err(usage("an experiment with a [sweep] is several runs: `pericope eval run` makes them"));
    }
    let embedder = match embedder {
        Some(embedder) => Given::of(embedder)?,
        None => Given::Name(experiment.retrieval.embedder.clone()),
    };
    let session = Session { resume, offline, trec: None };
    let kept = out.is_some();
    let folder = out.map_or_else(|| scratch(py), Ok)?;
    let summary = py.detach(|| {
        let done = run(&experiment, &folder, embedder, session);
        if !kept {
            // It is ours alone.
            let _ = std::fs::remove_dir_all(&folder);
        }
        done
    })?;
    json::to_python(py, &summary)
}

/// A folder of its own for a run that nobody keeps.
fn scratch(py: Python<'_>) -> PyResult<PathBuf> {
    let keywords = PyDict::new(py);
    keywords.set_item("prefix", "pericope-evaluate-")?;
    py.import("tempfile")?.call_method("mkdtemp", (), Some(&keywords))?.extract()
}

fn run(
    experiment: &Experiment,
    folder: &Path,
    embedder: Given,
    session: Session<'_>,
) -> PyResult<pericope::eval::record::Summary> {
    let (encoder, raised) = embedder.open(session.offline)?;
    let ledger = Ledger::of_run(experiment, folder, session.resume);
    let engine = experiments::engine_of(experiment).offline(session.offline);
    let ran = experiments::run(experiment, folder, &engine, encoder, (session, &ledger), &());
    let finished = ran.map_err(|error| raised.or(of_experiment(error)))?;
    write(folder, &finished.report).map_err(|error| failed(format!("{}: {error}", folder.display())))?;
    Ok(finished.report.summary)
}
