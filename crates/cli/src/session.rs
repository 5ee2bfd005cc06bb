//! Runs of experiments as the command performs them: set up, shown, finished.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use indicatif::ProgressBar;
use pericope::Engine;
use pericope::experiments::{self, ExperimentError, Ingredients};
pub use pericope::experiments::{Finished, Session, engine_of as resources};
use pericope_eval::answer::Ledger;
use pericope_eval::config::{Experiment, ExperimentFile};
use pericope_eval::record::{ITEMS, Summary};
use pericope_eval::run::{Observer, RunError, Setup};
use pericope_report::run::ReportError;
use pericope_util::{FolderLock, LockError};

use crate::progress;
use crate::resources::{embedder, failure, shown};
use crate::status::Failure;
use crate::terminal;

/// Refuses an experiment that asks for parts which a program of the user's brings: a command has none.
pub fn check_parts(experiment: &Experiment) -> Result<(), Failure> {
    experiment.check_brought(false, |_| false).map_err(Failure::usage)
}

/// Opens the embedder and builds the chunkers of an experiment, so that what is wrong with them is said before anything is paid for.
/// What takes its size from another is built only once that has cut.
pub fn check_models(experiment: &Experiment, offline: bool) -> Result<(), Failure> {
    check_parts(experiment)?;
    embedder(&experiment.retrieval.embedder, offline)?;
    let engine = resources(experiment);
    for chunker in experiment.chunkers.iter().filter(|chunker| chunker.spec.name != "same-size") {
        engine.chunker(&chunker.spec.to_string()).map_err(failure)?;
    }
    Ok(())
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
    check_parts(experiment)?;
    let engine = resources(experiment);
    let observer = Bars::new(quiet);
    observer.tell_what_models_wait_for();
    let encoder = embedder(&experiment.retrieval.embedder, session.offline)?;
    let ran = experiments::run(experiment, out, &engine, encoder, (session, &ledger), &observer);
    observer.clear();
    match ran {
        Ok(finished) => Ok(Some(finished)),
        Err(ExperimentError::Run(error @ RunError::Judge(_))) => {
            tell!("{error}");
            Ok(None)
        }
        Err(error) => Err(not_run(error)),
    }
}

/// Says why an experiment was not run.
pub fn not_run(error: ExperimentError) -> Failure {
    match error {
        ExperimentError::Run(RunError::Folder(error)) => not_held(error),
        ExperimentError::Report { folder, error } => not_written(&folder)(error),
        error => Failure::of(error.is_usage(), error),
    }
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
    check_parts(experiment)?;
    let encoder = embedder(&experiment.retrieval.embedder, session.offline)?;
    let ingredients = Ingredients::of(experiment, resources, encoder, session).map_err(failure)?;
    let (held, ledger) = held()?;
    Ok((ingredients.setup(experiment, resources, out, &ledger).map_err(failure)?, held))
}

/// Takes the folder that a command writes into, for as long as the answer lives.
pub fn hold(folder: &Path) -> Result<FolderLock, Failure> {
    can_hold(folder)?;
    FolderLock::take(folder).map_err(not_held)
}

/// Refuses a place that is a file.
pub fn can_be_folder(folder: &Path) -> Result<(), Failure> {
    match folder.is_file() {
        true => Err(Failure::usage(format!("{}: it is a file, where a folder is needed", shown(folder)))),
        false => Ok(()),
    }
}

/// Refuses a place that is a file, and [pages of others](no_foreign_pages).
pub fn can_hold(folder: &Path) -> Result<(), Failure> {
    can_be_folder(folder)?;
    no_foreign_pages(folder)
}

/// Refuses a folder that holds what would be written over though no command of this program wrote it.
pub fn no_foreign_pages(folder: &Path) -> Result<(), Failure> {
    /// What reports, runs and histories write under names that others use too.
    const WRITTEN: [&str; 5] = ["index.html", "items.html", "summary.md", "summary.json", ITEMS];
    /// What lies in every folder that such a command has written, or where a report is kept.
    const MARKS: [&str; 5] = ["lock", "run.json", "report.toml", "history.db", "latest.json"];
    let holds = |name: &&&str| folder.join(name).symlink_metadata().is_ok();
    match WRITTEN.iter().find(holds) {
        Some(name) if !MARKS.iter().any(|mark| holds(&mark)) => Err(Failure::usage(format!(
            "{}: it holds a file {name} that this program has not written, and would be written over; name another folder",
            shown(folder)
        ))),
        _ => Ok(()),
    }
}

pub fn not_held(error: LockError) -> Failure {
    match error {
        LockError::Held { .. } => Failure::runtime(format!("{error} with --out DIR")),
        LockError::Io { .. } => Failure::runtime(error),
    }
}

/// Says so where more items failed than the limits allow.
fn too_many_failed(summary: &Summary, experiment: &Experiment) -> bool {
    let too_many = failed_share(summary) > experiment.limits.max_failed;
    if too_many {
        tell!(
            "{} of {} items failed: more than limits.max_failed = {} allows",
            summary.failed,
            items(summary),
            experiment.limits.max_failed
        );
    }
    too_many
}

/// True where the run is not of all that its data and its limits promise: too many items failed, or something was left out.
pub fn is_incomplete(summary: &Summary, experiment: &Experiment) -> bool {
    let too_many = too_many_failed(summary, experiment);
    too_many || summary.left_out > 0
}

/// The share of a run's items that have no result, 0 to 1.
pub fn failed_share(summary: &Summary) -> f64 {
    let items = items(summary);
    if items == 0 { 0.0 } else { summary.failed as f64 / items as f64 }
}

fn items(summary: &Summary) -> usize {
    summary.cells.len() * summary.questions
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

pub fn not_written(folder: &Path) -> impl Fn(ReportError) -> Failure + use<> {
    let folder = shown(folder);
    move |error| Failure::runtime(format!("{folder}: {error}"))
}

/// Where the files of a run go: the folder that was named, else one that is called like the experiment.
pub fn run_folder(out: Option<&Path>, name: &str) -> Result<PathBuf, Failure> {
    let as_folder = |c: char| if c.is_alphanumeric() || c == '-' || c == '_' { c } else { '-' };
    match out {
        Some(out) => can_hold(out).map(|()| out.to_path_buf()),
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

    fn at(&self, name: &str) {
        self.with(|bar| bar.set_message(terminal::name(name).into_owned()));
    }

    fn note(&self, text: &str) {
        if !self.quiet {
            self.with(|bar| bar.suspend(|| tell!("{text}")));
        }
    }
}
