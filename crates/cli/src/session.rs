//! Runs of experiments as the command performs them: set up, shown, finished.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use indicatif::ProgressBar;
use pericope::stores::Places;
use pericope::{Engine, needs_encoder, segmenters};
use pericope_api::SentenceEncoder;
use pericope_eval::answer::{Ledger, Models};
use pericope_eval::config::{Experiment, ExperimentFile};
use pericope_eval::record::Summary;
use pericope_eval::run::{self, Observer, RunError, RunFolder, Setup};
use pericope_llm::LlmError;
use pericope_report::run::{Collector, Report, ReportError};
use pericope_segment::Resources;
use pericope_util::{FolderLock, LockError};

use crate::progress;
use crate::resources::{embedder, shown};
use crate::status::Failure;

/// A run that is done, and its folder, which stays held until the report is written.
pub struct Finished {
    pub report: Report,
    pub folder: RunFolder,
}

/// Runs one experiment into a folder, its report not yet written; nothing where a judge cannot be trusted, which is then
/// said.
pub fn one(
    experiment: &Experiment,
    out: &Path,
    session: Session<'_>,
    ledger: Ledger,
    quiet: bool,
) -> Result<Option<Finished>, Failure> {
    let resources = Engine::new();
    let observer = Bars::new(quiet);
    observer.tell_what_models_wait_for();
    let held = || {
        let set = run::load(experiment, &observer).map_err(by_kind)?;
        Ok(((set, RunFolder::take(out).map_err(not_held)?), ledger))
    };
    let (setup, (set, folder)) = setup::<_, Failure>(experiment, &resources, out, session, held)?;
    let mut collector = Collector::default();
    let result = run::run_on(experiment, set, &folder, &setup, &observer, &mut collector);
    observer.clear();
    match result {
        Ok((summary, record)) => {
            let report = collector.finish(out, summary, record).map_err(not_written(out))?;
            Ok(Some(Finished { report, folder }))
        }
        Err(error @ RunError::Judge(_)) => {
            tell!("{error}");
            Ok(None)
        }
        Err(error) => Err(by_kind(error)),
    }
}

/// How a run is begun or gone on with.
#[derive(Debug, Clone, Copy, Default)]
pub struct Session<'a> {
    /// What an earlier one finished stays.
    pub resume: bool,
    /// No network.
    pub offline: bool,
    /// Where rankings and gold go in TREC's formats.
    pub trec: Option<&'a Path>,
}

/// What a run of the experiment takes; its models keep their answers below `out`. `held` is called before anything there
/// is touched, takes its lock, and says where what models cost is written down.
pub fn setup<'a, T, E: From<Failure>>(
    experiment: &Experiment,
    resources: &'a Engine<'a>,
    out: &Path,
    session: Session<'_>,
    held: impl FnOnce() -> Result<(T, Ledger), E>,
) -> Result<(Setup<'a>, T), E> {
    let encoder = embedder(&experiment.retrieval.embedder, session.offline)?;
    let counter = resources.counter().map_err(Failure::usage)?;
    let mut model_checksums = model_checksums(experiment, encoder.as_deref(), resources)?;
    let (held, ledger) = held()?;
    let models = Models::open(experiment, out, session.offline, &ledger).map_err(by_model)?;
    model_checksums.extend(models.checksums.clone());
    let setup = Setup {
        segmenters: segmenters(),
        stores: &Places,
        resources,
        counter,
        model_checksums,
        encoder,
        models,
        resume: session.resume,
        trec: session.trec.map(Path::to_path_buf),
    };
    Ok((setup, held))
}

/// Takes the folder that a command writes into, for as long as the answer lives.
pub fn hold(folder: &Path) -> Result<FolderLock, Failure> {
    FolderLock::take(folder).map_err(not_held)
}

fn not_held(error: LockError) -> Failure {
    match error {
        LockError::Held { .. } => Failure::runtime(format!("{error} with --out DIR")),
        LockError::Io { .. } => Failure::runtime(error),
    }
}

/// Says so where more items failed than the limits allow.
pub fn too_many_failed(summary: &Summary, experiment: &Experiment) -> bool {
    let items: usize = summary.cells.len() * summary.questions;
    let failed = if items == 0 { 0.0 } else { summary.failed as f64 / items as f64 };
    let too_many = failed > experiment.limits.max_failed;
    if too_many {
        tell!(
            "{} of {items} items failed: more than limits.max_failed = {} allows",
            summary.failed,
            experiment.limits.max_failed
        );
    }
    too_many
}

/// An experiment file of any kind.
pub fn opened(config: &Path) -> Result<ExperimentFile, Failure> {
    ExperimentFile::open(config).map_err(Failure::usage)
}

/// Says so where the kind of a file that is in order had to be guessed.
pub fn tell_kind(file: &ExperimentFile, quiet: bool) {
    if let Some(note) = file.note().filter(|_| !quiet) {
        tell!("{note}");
    }
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

pub fn not_written(folder: &Path) -> impl Fn(ReportError) -> Failure + use<> {
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
pub fn run_folder(out: Option<&Path>, name: &str) -> Result<PathBuf, Failure> {
    let as_folder = |c: char| if c.is_alphanumeric() || c == '-' || c == '_' { c } else { '-' };
    match out {
        Some(out) => Ok(out.to_path_buf()),
        None if name.is_empty() => {
            Err(Failure::usage("the experiment's name is empty: name it, or a folder with --out"))
        }
        None => Ok(Path::new("reports/runs").join(name.chars().map(as_folder).collect::<String>())),
    }
}

/// Shows each stage of a run as a bar.
pub struct Bars {
    bar: Arc<Mutex<ProgressBar>>,
    quiet: bool,
}

impl Bars {
    pub fn new(quiet: bool) -> Self {
        Self { bar: Arc::new(Mutex::new(ProgressBar::hidden())), quiet }
    }

    fn with<T>(&self, act: impl FnOnce(&mut ProgressBar) -> T) -> T {
        with(&self.bar, act)
    }

    /// A server that asks to wait is named above the bar, which else would only stand; so is what programs of the user's
    /// write.
    pub fn tell_what_models_wait_for(&self) {
        let (bar, quiet) = (Arc::clone(&self.bar), self.quiet);
        pericope_llm::on_notice(move |text| {
            if !quiet {
                with(&bar, |bar| bar.suspend(|| tell!("{text}")));
            }
        });
        let bar = Arc::clone(&self.bar);
        pericope_util::on_program_line(move |line| with(&bar, |bar| bar.suspend(|| tell!("{line}"))));
    }

    pub fn clear(&self) {
        self.with(|bar| bar.finish_and_clear());
    }
}

fn with<T>(bar: &Mutex<ProgressBar>, act: impl FnOnce(&mut ProgressBar) -> T) -> T {
    act(&mut bar.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
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
            self.with(|bar| bar.suspend(|| tell!("{text}")));
        }
    }
}
