//! A night from lock to verdict.

use std::fs;
use std::path::Path;

use super::compare::run_folder;
use super::conclude::{Conclusion, conclude};
use super::files::{Written, put, write};
use super::gather::{Gathered, Inventory, calibrate, gather};
use super::history::History;
use super::lock::Lock;
use super::night::{NightlyRun, Program};
use super::pages::Pages;
use super::{NightlyError, notify, retention};
use pericope_eval::config::Experiment;
use pericope_eval::data::QuestionSet;
use pericope_eval::record::{RunRecord, Summary};
use pericope_eval::run::{self, ItemSink, Observer, RunError, RunFolder, Setup};

/// What a night needs.
pub struct Job<'a> {
    /// The experiment, gates and `[nightly]` included.
    pub experiment: &'a Experiment,
    /// The history's folder, held until the night is over.
    pub lock: Lock,
    /// What a run needs; whether it takes up an earlier one is decided here.
    pub setup: Setup<'a>,
    /// The program that runs.
    pub program: Program,
    /// Writes the pages.
    pub pages: &'a dyn Pages,
    /// Is told how far it is.
    pub observer: &'a dyn Observer,
}

/// A night that is in the history.
#[derive(Debug)]
pub struct Outcome {
    /// Everything there is to say about it.
    pub conclusion: Conclusion,
    /// Its files.
    pub written: Written,
    /// What did not work and changes nothing about the verdict.
    pub warnings: Vec<String>,
}

/// Runs a night, and lets go of the lock. Nobody is told of it yet: that is [`tell`](super::tell)'s.
///
/// An earlier night that was broken off is taken up where its configuration, data, models and program are the same.
///
/// # Errors
/// [`NightlyError`]; the history holds either all of the night or nothing of it.
pub fn run(job: Job<'_>) -> Result<Outcome, NightlyError> {
    let set = run::load(job.experiment, job.observer)?;
    run_on(job, set)
}

/// As [`run()`], on documents and questions that are loaded already.
///
/// # Errors
/// As [`run()`].
pub fn run_on(mut job: Job<'_>, set: QuestionSet) -> Result<Outcome, NightlyError> {
    let dir = job.lock.dir().to_owned();
    let dir = dir.as_path();
    let mut history = History::open(dir, &job.experiment.name)?;
    // Found now, a history that cannot be written costs nothing; found after the run, it costs the night.
    history.probe()?;
    history.baseline(job.experiment.nightly.baseline)?;
    let number = history.next_number()?;
    let folder = run_folder(dir, number);
    let inventory = Inventory::of(&set);
    let (experiment, program) = (job.experiment, job.program.clone());
    let (pages, observer) = (job.pages, job.observer);
    let calibration = calibrate();
    let mut sinks = (Gathered::new(&inventory), pages.run_report());
    let (summary, record, run) = measure(&mut job, set, &folder, &mut sinks)?;
    let calibration = f64::midpoint(calibration, calibrate());
    let (mut gathered, report) = sinks;
    report.write(&folder, &summary, &record)?;
    drop(run);
    let mut night = gather(inventory, &mut gathered, &summary, &record, program, Some(calibration));
    night.number = number;
    let conclusion = conclude(&history, night, experiment, dir, Some(gathered.lines()))?;
    keep(&mut history, &conclusion.night, &folder)?;
    let written = write(&history, &conclusion, experiment, dir, pages)?;
    let spared: Vec<u32> = history.baseline(experiment.nightly.baseline)?.into_iter().collect();
    let warnings = retention::prune(dir, &history.heads()?, experiment.nightly.keep, &spared);
    warnings.iter().for_each(|warning| observer.note(warning));
    Ok(Outcome { conclusion, written, warnings })
}

/// Runs the experiment into the night's folder, which stays held.
fn measure(
    job: &mut Job<'_>,
    set: QuestionSet,
    folder: &Path,
    sink: &mut dyn ItemSink,
) -> Result<(Summary, RunRecord, RunFolder), NightlyError> {
    let mark = folder.join("program.json");
    let same_program = fs::read_to_string(&mark)
        .is_ok_and(|text| serde_json::from_str::<Program>(&text).is_ok_and(|found| found == job.program));
    let run = RunFolder::take(folder).map_err(RunError::from)?;
    let text = serde_json::to_string(&job.program).unwrap_or_default();
    put(&mark, &text)?;
    // Of a night of another program that was broken off, nothing can be used.
    job.setup.resume = same_program;
    let mut done = run::run_on(job.experiment, set.clone(), &run, &job.setup, job.observer, sink);
    if let (Err(RunError::Config(_)), true) = (&done, job.setup.resume) {
        // Other data or another configuration than the night that was broken off.
        job.setup.resume = false;
        done = run::run_on(job.experiment, set, &run, &job.setup, job.observer, sink);
    }
    let (summary, record) = done?;
    Ok((summary, record, run))
}

fn keep(history: &mut History, night: &NightlyRun, folder: &Path) -> Result<(), NightlyError> {
    history
        .append(night)
        .map_err(|source| NightlyError::NotKept { source: Box::new(source), folder: folder.to_owned() })
}

/// Says again what the history holds of its last night, with the present gates, and writes the files again: after an
/// import, an acceptance or a new pin.
///
/// # Errors
/// [`NightlyError::Empty`] where there is no night yet; else as [`write()`].
pub fn review(
    history: &History,
    experiment: &Experiment,
    dir: &Path,
    pages: &dyn Pages,
) -> Result<Outcome, NightlyError> {
    let last = history.last_number()?.ok_or_else(|| NightlyError::Empty { path: dir.to_owned() })?;
    let stored = history.night(last)?;
    let (verdict, line) = (stored.verdict, stored.line.clone());
    let mut conclusion = conclude(history, stored, experiment, dir, None)?;
    // What was said that night stands, whatever the gates are now.
    conclusion.night.verdict = verdict;
    conclusion.night.line = line;
    let written = write(history, &conclusion, experiment, dir, pages)?;
    Ok(Outcome { conclusion, written, warnings: Vec::new() })
}

impl Outcome {
    /// Calls the hooks that the configuration names; what fails becomes a warning.
    pub fn tell(&mut self, history_dir: &Path, experiment: &Experiment) {
        self.warnings.extend(notify::tell(&self.conclusion, &experiment.nightly, history_dir));
    }
}
