//! Experiments.

mod own;

use std::path::{Path, PathBuf};

use pericope::eval::answer::Ledger;
use pericope::eval::classification::ClassificationExperiment;
use pericope::eval::config::{Configuration, Experiment, ExperimentFile, ExperimentKind};
use pericope::eval::run::RunFolder;
use pericope::eval::sweep::{Variant, variants};
use pericope::experiments::segmentation::{Scoring, SystemSpec, read_sets, score};
use pericope::experiments::{self, Finished, Ran, Session};
use pericope::report::run::write;
use pericope::segeval::config::SegmentationExperiment;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyString};
use serde_json::{Value, json};

use self::own::Own;
use crate::custom::Raised;
use crate::embedder::Given;
use crate::errors::{failed, of_engine, of_experiment, usage};
use crate::process::{Threads, detached};
use crate::{forked, json};

/// The name of a configuration that is in no file, for messages.
const NO_FILE: &str = "the configuration";

/// Takes a path, a text of TOML (it has a line end), or a dictionary or another mapping.
fn configuration(given: &Bound<'_, PyAny>) -> PyResult<ExperimentFile> {
    if given.cast::<PyMapping>().is_ok() {
        let table = toml::Table::try_from(json::from_python(given)?).map_err(usage)?;
        let text = toml::to_string(&table).map_err(usage)?;
        return ExperimentFile::parse(text, Path::new(NO_FILE)).map_err(usage);
    }
    if let Ok(text) = given.cast::<PyString>() {
        let text = text.to_cow()?;
        if text.contains('\n') {
            return ExperimentFile::parse(text.into_owned(), Path::new(NO_FILE)).map_err(usage);
        }
    }
    ExperimentFile::open(&given.extract::<PathBuf>()?).map_err(usage)
}

/// How experiments are run.
#[derive(Clone, Copy)]
struct How {
    resume: bool,
    offline: bool,
}

/// Where the files of a run go.
struct Place {
    folder: PathBuf,
    kept: bool,
}

impl Place {
    /// The folder that was named, or one of its own for a run that nobody keeps.
    fn of(out: Option<PathBuf>, py: Python<'_>) -> PyResult<Self> {
        let kept = out.is_some();
        Ok(Self { folder: out.map_or_else(|| scratch(py), Ok)?, kept })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.kept {
            // It is ours alone.
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }
}

/// Runs an experiment of any kind and returns its `summary.json` as a dictionary; of an experiment with a `[sweep]` that of each
/// variant, with its label, in the list `runs`. Files go into the folder `out`; without one they are not kept.
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
    if out.as_deref().is_some_and(|out| out.as_os_str().is_empty()) {
        return Err(usage("out is empty: it names the folder of the run"));
    }
    let mut file = configuration(config)?;
    let own = Own::of(judge, retrievers, segmenters)?;
    let embedder = embedder.map(Given::of).transpose()?;
    let embeds = embedder.as_ref().map(Given::name);
    own.check_fit(file.kind, embeds)?;
    if judge.is_some() || retrievers.is_some() || segmenters.is_some() || embedder.is_some() {
        file.text = own.with_parts(&file, embeds)?;
    }
    let how = How { resume, offline };
    let found = match file.kind {
        ExperimentKind::Retrieval => retrieval(py, &file, &set, embedder.as_ref(), &own, (out, how))?,
        ExperimentKind::Segmentation => segmentation(py, &file, &set, &own, (out, how))?,
        ExperimentKind::Classification => classification(py, &file, &set, embedder, &own, (out, how))?,
        ExperimentKind::Tune => return Err(usage(file.unfit("experiments: `pericope tune` takes this one"))),
    };
    json::to_python(py, &found)
}

/// Refuses to go on with a run of a kind that is always made whole.
fn check_whole(kind: ExperimentKind, how: How) -> PyResult<()> {
    match how.resume {
        true => Err(usage(format!("resume=True is for experiments on retrieval; this is one on {kind}"))),
        false => Ok(()),
    }
}

/// An experiment on segmentation.
fn segmentation(
    py: Python<'_>,
    file: &ExperimentFile,
    set: &[String],
    own: &Own,
    (out, how): (Option<PathBuf>, How),
) -> PyResult<Value> {
    check_whole(file.kind, how)?;
    let experiment = SegmentationExperiment::of_file(file, set, experiments::segmenters()).map_err(usage)?;
    own.check_cut(experiment.segmenters.iter().map(|one| &one.spec))?;
    let done = detached(py, || {
        let held = out.as_deref().map(taken).transpose()?;
        let sets = read_sets(&experiment).map_err(of_engine)?;
        let scoring = Scoring { offline: how.offline, custom: own.segmenters.clone() };
        let scored = score(&sets, &SystemSpec::all_of(&experiment), scoring, &()).map_err(of_engine)?;
        let report = scored.report(&experiment, &sets);
        if let Some(out) = &out {
            report.write(out).map_err(failed)?;
        }
        drop(held);
        serde_json::from_str(&report.summary().map_err(failed)?).map_err(failed)
    });
    own.or_raised(done)
}

/// The folder of a run, which is held until the report is written.
fn taken(out: &Path) -> PyResult<RunFolder> {
    if out.is_file() {
        return Err(usage(format!("{}: it is a file, where a folder is needed", out.display())));
    }
    RunFolder::take(out).map_err(failed)
}

/// An experiment on classification.
fn classification(
    py: Python<'_>,
    file: &ExperimentFile,
    set: &[String],
    embedder: Option<Given>,
    own: &Own,
    (out, how): (Option<PathBuf>, How),
) -> PyResult<Value> {
    check_whole(file.kind, how)?;
    let experiment = ClassificationExperiment::of_file(file, set, experiments::segmenters()).map_err(usage)?;
    own.check_cut(experiment.chunkers.iter().map(|one| &one.spec))?;
    if embedder.as_ref().is_some_and(|one| one.name() != experiment.embedder) {
        return Err(usage("embedder was set, and an embedder was passed: leave one out"));
    }
    let (encoder, raised) = match embedder {
        Some(Given::Encoder(encoder, raised)) => (Some(encoder), raised),
        _ => (None, Raised::default()),
    };
    let place = Place::of(out, py)?;
    let done = detached(py, || {
        let custom = own.segmenters.clone();
        let ran = experiments::classification(&experiment, &place.folder, custom, (encoder, how.offline), &());
        let ran = ran.map_err(|error| raised.or(of_experiment(error)))?;
        ran.report.write(&place.folder).map_err(|error| failed(format!("{}: {error}", place.folder.display())))?;
        serde_json::to_value(&ran.report.summary).map_err(failed)
    });
    own.or_raised(done)
}

/// An experiment on retrieval.
fn retrieval(
    py: Python<'_>,
    file: &ExperimentFile,
    set: &[String],
    embedder: Option<&Given>,
    own: &Own,
    (out, how): (Option<PathBuf>, How),
) -> PyResult<Value> {
    let experiment = Experiment::of_file(file, set, experiments::segmenters()).map_err(usage)?;
    own.check_used(&experiment, embedder.map(Given::name))?;
    let variants = variants(&experiment, experiments::segmenters()).map_err(usage)?;
    let session = Session { resume: how.resume, offline: how.offline, trec: None, brought: Some(&own.brought) };
    let place = Place::of(out, py)?;
    let threads = Threads::here(py);
    let done = detached(py, || {
        if !experiment.sweep.is_empty() {
            return sweep(&variants, &place, embedder, own, (session, &threads));
        }
        let ledger = Ledger::of_run(&experiment, &place.folder, how.resume);
        let finished = one(&experiment, &place.folder, embedder, own, (session, &ledger, &threads))?;
        let wrote = write(&place.folder, &finished.report);
        wrote.map_err(|error| failed(format!("{}: {error}", place.folder.display())))?;
        serde_json::to_value(&finished.report.summary).map_err(failed)
    });
    own.or_raised(done)
}

/// A folder of its own for a run that nobody keeps.
fn scratch(py: Python<'_>) -> PyResult<PathBuf> {
    let keywords = PyDict::new(py);
    keywords.set_item("prefix", "pericope-evaluate-")?;
    py.import("tempfile")?.call_method("mkdtemp", (), Some(&keywords))?.extract()
}

/// Runs one experiment on retrieval; its report is still to be written.
fn one(
    experiment: &Experiment,
    folder: &Path,
    embedder: Option<&Given>,
    own: &Own,
    (session, ledger, threads): (Session<'_>, &Ledger, &Threads),
) -> PyResult<Finished> {
    let embedder = embedder.cloned().unwrap_or_else(|| Given::Name(experiment.retrieval.embedder.clone()));
    let (encoder, raised) = embedder.open(session.offline)?;
    let encoder = encoder.map(|encoder| forked::encoder(encoder, threads));
    let engine = experiments::engine_of(experiment).offline(session.offline).with_custom(own.segmenters.clone());
    let ran = experiments::run(experiment, folder, &engine, encoder, (session, ledger), &());
    ran.map_err(|error| raised.or(of_experiment(error)))
}

/// Runs the variants of a sweep. Their folders are named where they are kept.
fn sweep(
    variants: &[Variant],
    place: &Place,
    embedder: Option<&Given>,
    own: &Own,
    (session, threads): (Session<'_>, &Threads),
) -> PyResult<Value> {
    let run = |_, experiment: &Experiment, folder: &Path, session: Session<'_>, ledger| {
        one(experiment, folder, embedder, own, (session, &ledger, threads)).map(Some)
    };
    let ran = experiments::sweep(variants, &place.folder, session, run, of_experiment)?.unwrap_or_default();
    let shown = |Ran { label, folder, summary }| json!({ "label": label, "folder": place.kept.then_some(folder), "summary": summary });
    Ok(json!({ "runs": ran.into_iter().map(shown).collect::<Vec<Value>>() }))
}
