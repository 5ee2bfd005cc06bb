//! `pericope eval run` and `pericope eval report`

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use indicatif::ProgressBar;
use pericope::stores::Places;
use pericope::{Engine, needs_encoder};
use pericope_api::SentenceEncoder;
use pericope_eval::answer::Models;
use pericope_eval::config::{Experiment, ExperimentFile, ExperimentKind};
use pericope_eval::record::Summary;
use pericope_eval::run::{self, Observer, RunError, Setup};
use pericope_learn::registry::segmenters;
use pericope_llm::LlmError;
use pericope_report::run::{self as report, Collector, Overview, Report, ReportError};
use pericope_segment::Resources;

use crate::args::{EvalReportArgs, EvalRunArgs};
use crate::commands::{print_json, segment_eval, sweep};
use crate::progress;
use crate::resources::{embedder, shown};
use crate::status::{Failure, Outcome, Status};

/// `pericope eval run`
pub fn run(args: EvalRunArgs, quiet: bool) -> Outcome {
    let file = opened(&args.config)?;
    if file.kind == ExperimentKind::Segmentation {
        return segment_eval::experiment(&file, &args.set, args.out.as_deref(), args.json, quiet);
    }
    let experiment = Experiment::of_file(&file, &args.set, segmenters()).map_err(Failure::usage)?;
    let out = run_folder(args.out.as_deref(), &experiment.name);
    if !experiment.sweep.is_empty() {
        return sweep::run(&experiment, &out, &args, quiet);
    }
    let sitting = Sitting { resume: args.resume, offline: args.offline, goes_on: args.resume };
    let Some(report) = one(&experiment, &out, sitting, quiet)? else {
        return Ok(Status::Incomplete);
    };
    report::write(&out, &report).map_err(not_written(&out))?;
    let summary = &report.summary;
    if args.json {
        print_json(summary)?;
    } else {
        say!("{}", report::table(summary));
        say!("Report: {}", shown(&out.join("index.html")));
    }
    Ok(if too_many_failed(summary, &experiment) { Status::Incomplete } else { Status::Done })
}

/// Runs one experiment into a folder and returns its report, not yet written; nothing where a judge cannot be trusted,
/// which is then said.
pub(super) fn one(
    experiment: &Experiment,
    out: &Path,
    sitting: Sitting,
    quiet: bool,
) -> Result<Option<Report>, Failure> {
    let resources = Engine::new();
    let setup = setup(experiment, &resources, out, sitting)?;
    let observer = Bars::new(quiet);
    let mut collector = Collector::default();
    let result = run::run(experiment, out, &setup, &observer, &mut collector);
    observer.clear();
    match result {
        Ok((summary, record)) => Ok(Some(collector.finish(out, summary, record).map_err(not_written(out))?)),
        Err(error @ RunError::Judge(_)) => {
            anstream::eprintln!("{error}");
            Ok(None)
        }
        Err(error) => Err(by_kind(error)),
    }
}

/// How a run is sat through.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sitting {
    /// What an earlier one finished stays.
    pub resume: bool,
    /// No network.
    pub offline: bool,
    /// What was spent before counts against the budget.
    pub goes_on: bool,
}

/// What a run of the experiment takes; its models keep their answers below `out`.
pub(super) fn setup<'a>(
    experiment: &Experiment,
    resources: &'a Engine<'a>,
    out: &Path,
    sitting: Sitting,
) -> Result<Setup<'a>, Failure> {
    let encoder = embedder(&experiment.retrieval.embedder, sitting.offline)?;
    let counter = resources.counter().map_err(Failure::usage)?;
    let mut model_checksums = model_checksums(experiment, encoder.as_deref(), resources)?;
    let models = Models::open(experiment, out, sitting.offline, sitting.goes_on).map_err(by_model)?;
    model_checksums.extend(models.checksums.clone());
    Ok(Setup {
        segmenters: segmenters(),
        stores: &Places,
        resources,
        counter,
        model_checksums,
        encoder,
        models,
        resume: sitting.resume,
    })
}

/// Says so where more items failed than the limits allow.
pub(super) fn too_many_failed(summary: &Summary, experiment: &Experiment) -> bool {
    let items: usize = summary.cells.len() * summary.questions;
    let failed = if items == 0 { 0.0 } else { summary.failed as f64 / items as f64 };
    let too_many = failed > experiment.limits.max_failed;
    if too_many {
        anstream::eprintln!(
            "{} of {items} items failed: more than limits.max_failed = {} allows",
            summary.failed,
            experiment.limits.max_failed
        );
    }
    too_many
}

/// An experiment file of any kind; where its kind had to be guessed, that is said.
pub(super) fn opened(config: &Path) -> Result<ExperimentFile, Failure> {
    let file = ExperimentFile::open(config).map_err(Failure::usage)?;
    if let Some(note) = file.note() {
        anstream::eprintln!("{note}");
    }
    Ok(file)
}

/// The models that this run asks, with what identifies their files.
fn model_checksums(
    experiment: &Experiment,
    encoder: Option<&dyn SentenceEncoder>,
    resources: &dyn Resources,
) -> Result<BTreeMap<String, String>, Failure> {
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    found.extend(encoder.map(|e| (e.name().to_owned(), digest(&e.fingerprint()))));
    if experiment.chunkers.iter().any(|chunker| needs_encoder(&chunker.spec)) {
        let encoder = resources.encoder().map_err(Failure::usage)?;
        found.insert(encoder.name().to_owned(), digest(&encoder.fingerprint()));
    }
    Ok(found)
}

/// The SHA-256 in a fingerprint, or all of it.
fn digest(fingerprint: &str) -> String {
    fingerprint.split(':').find_map(|part| part.strip_prefix("sha256=")).unwrap_or(fingerprint).to_owned()
}

/// `pericope eval report`
pub fn report(args: EvalReportArgs) -> Outcome {
    let out = match (&args.out, args.runs.as_slice()) {
        (Some(out), _) => out.clone(),
        (None, [one]) => one.clone(),
        (None, _) => return Err(Failure::usage("several runs: say where the report goes with --out DIR")),
    };
    for run in &args.runs {
        if !run.join("summary.json").is_file() {
            return Err(Failure::usage(format!(
                "{} is no finished run (it has no summary.json); `pericope eval run` makes one",
                shown(run)
            )));
        }
    }
    write_reports(&args.runs, &out)?;
    say!("Report: {}", shown(&out.join("index.html")));
    Ok(Status::Done)
}

fn write_reports(runs: &[PathBuf], out: &Path) -> Result<(), Failure> {
    let load = |run: &PathBuf| Report::load(run).map_err(not_written(run));
    if let [one] = runs {
        report::write(out, &load(one)?).map_err(not_written(out))?;
        return Ok(());
    }
    let mut overview = Overview::new(out);
    for run in runs {
        overview.add(load(run)?).map_err(not_written(out))?;
    }
    overview.finish().map_err(not_written(out))?;
    Ok(())
}

pub(super) fn not_written(folder: &Path) -> impl Fn(ReportError) -> Failure + use<> {
    let folder = shown(folder);
    move |error| Failure::runtime(format!("{folder}: {error}"))
}

/// A key or a model that is missing is a matter of configuration; all else is not.
fn by_model(error: LlmError) -> Failure {
    match error {
        LlmError::Config(_) | LlmError::Prompt(_) | LlmError::NoKey { .. } | LlmError::Model { .. } => {
            Failure::usage(error)
        }
        other => Failure::runtime(other),
    }
}

fn by_kind(error: RunError) -> Failure {
    match error {
        RunError::Config(_) | RunError::Data(_) => Failure::usage(error),
        other => Failure::runtime(other),
    }
}

/// Where the files of a run go: the folder that was named, else one that is called like the experiment.
pub(super) fn run_folder(out: Option<&Path>, name: &str) -> PathBuf {
    let as_folder = |c: char| if c.is_alphanumeric() || c == '-' || c == '_' { c } else { '-' };
    out.map_or_else(
        || Path::new("reports/runs").join(name.chars().map(as_folder).collect::<String>()),
        Path::to_path_buf,
    )
}

/// Shows each stage of a run as a bar.
pub(super) struct Bars {
    bar: Mutex<ProgressBar>,
    quiet: bool,
}

impl Bars {
    pub(super) fn new(quiet: bool) -> Self {
        Self { bar: Mutex::new(ProgressBar::hidden()), quiet }
    }

    fn with<T>(&self, act: impl FnOnce(&mut ProgressBar) -> T) -> T {
        act(&mut self.bar.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    pub(super) fn clear(&self) {
        self.with(|bar| bar.finish_and_clear());
    }
}

impl Observer for Bars {
    fn stage(&self, what: &str, total: usize) {
        self.with(|bar| {
            bar.finish_and_clear();
            *bar = progress::bar(total as u64, what, self.quiet);
        });
    }

    fn advance(&self, n: usize) {
        self.with(|bar| bar.inc(n as u64));
    }

    fn note(&self, text: &str) {
        if !self.quiet {
            self.with(|bar| bar.suspend(|| anstream::eprintln!("{text}")));
        }
    }
}
