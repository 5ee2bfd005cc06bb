//! `pericope nightly`

mod args;

pub use args::{NIGHTLY_EXAMPLES, NightlyArgs};

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use pericope::segmenters;
use pericope_eval::answer::Ledger;
use pericope_eval::config::{Configuration, Experiment};
use pericope_eval::run::{RunError, load};
use pericope_nightly::{DEFAULT_FOLDER, History, Job, Lock, NightlyError, Program, Verdict, review};
use pericope_report::HtmlPages;
use pericope_util::sha256_file;
use serde_json::json;

use self::args::WhichNight;
use crate::commands::{dry_run, print_json, print_json_text};
use crate::places;
use crate::resources::shown;
use crate::session::{Bars, Session, no_foreign_pages, opened, resources, setup, tell_kind};
use crate::status::{Failure, Outcome, Status};

/// `pericope nightly`
pub fn run(args: NightlyArgs, quiet: bool) -> Outcome {
    let file = opened(&args.config)?;
    let mut experiment = Experiment::of_file(&file, &args.set, segmenters()).map_err(Failure::usage)?;
    tell_kind(&file, quiet);
    if !experiment.sweep.is_empty() {
        return Err(Failure::usage(format!("{}: a night is one run, and [sweep] makes many", shown(&args.config))));
    }
    if args.offline {
        experiment.nightly.webhook = None;
    }
    let configured = experiment.nightly.history.as_deref().unwrap_or(DEFAULT_FOLDER);
    let dir = match &args.history {
        Some(dir) => dir.clone(),
        None => {
            let wrong =
                |problem: String| Failure::usage(format!("{}: nightly.history: {problem}", shown(&args.config)));
            places::checked(PathBuf::from(configured)).map_err(wrong)?
        }
    };
    no_foreign_pages(&dir)?;
    if args.action.is_some() {
        return act(&args, &experiment, &dir, quiet);
    }
    if args.dry_run {
        return dry_run::experiments(&[&experiment], None, args.json);
    }
    match night(&experiment, &dir, args.offline, quiet) {
        Ok(outcome) => report(outcome, &experiment, &dir, args.json, quiet),
        Err(failure) => {
            let problem = match &failure {
                Broken::Nightly(error) => error.to_string(),
                Broken::Other(failure) => failure.to_string(),
            };
            // Where another run of this night is under way, that one will tell.
            if !matches!(failure, Broken::Nightly(NightlyError::Locked { .. })) {
                for warning in pericope_nightly::tell_error(&problem, &experiment, &dir) {
                    tell!("{warning}");
                }
            }
            match failure {
                Broken::Nightly(NightlyError::Run(error @ RunError::Judge(_))) => {
                    tell!("{error}");
                    Ok(Status::Incomplete)
                }
                Broken::Nightly(error) => Err(by_kind(error)),
                Broken::Other(failure) => Err(failure),
            }
        }
    }
}

/// Why there is no night.
enum Broken {
    Nightly(NightlyError),
    Other(Failure),
}

impl From<NightlyError> for Broken {
    fn from(error: NightlyError) -> Self {
        Broken::Nightly(error)
    }
}

impl From<Failure> for Broken {
    fn from(failure: Failure) -> Self {
        Broken::Other(failure)
    }
}

#[allow(clippy::result_large_err)] // called once
fn night(experiment: &Experiment, dir: &Path, offline: bool, quiet: bool) -> Result<pericope_nightly::Outcome, Broken> {
    let resources = resources(experiment);
    let observer = Bars::new(quiet);
    observer.tell_what_models_wait_for();
    let held = || -> Result<_, Broken> {
        let set = load(experiment, &observer).map_err(NightlyError::Run)?;
        // Before anything that another run of this night may be using: the models' cache and its ledger.
        let lock = Lock::take(dir)?;
        let number = History::open(dir, &experiment.name).and_then(|history| history.next_number());
        let ledger = Ledger::of_night(experiment, dir, number.map_err(NightlyError::History)?);
        Ok(((set, lock), ledger))
    };
    let session = Session { offline, ..Session::default() };
    let (setup, (set, lock)) = setup(experiment, &resources, dir, session, held)?;
    let job = Job { experiment, lock, setup, program: program(), pages: &HtmlPages, observer: &observer };
    let outcome = pericope_nightly::run_on(job, set);
    observer.clear();
    Ok(outcome?)
}

/// One line on standard output; the rest is in the files.
fn report(
    mut outcome: pericope_nightly::Outcome,
    experiment: &Experiment,
    dir: &Path,
    json: bool,
    quiet: bool,
) -> Outcome {
    if let Some(path) = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()) {
        let appended = (OpenOptions::new().create(true).append(true).open(&path))
            .and_then(|mut file| file.write_all(outcome.written.markdown_text.as_bytes()));
        outcome.warnings.extend(appended.err().map(|e| format!("GITHUB_STEP_SUMMARY: {e}")));
    }
    outcome.tell(dir, experiment);
    for warning in &outcome.warnings {
        tell!("{warning}");
    }
    verdict(&outcome, json, quiet)
}

fn verdict(outcome: &pericope_nightly::Outcome, json: bool, quiet: bool) -> Outcome {
    let night = &outcome.conclusion.night;
    if json {
        print_json_text(&outcome.written.json_text)?;
    } else {
        say!("{}: {}", night.experiment, night.line);
    }
    if !quiet {
        tell!("Report: {}", shown(&outcome.written.page));
    }
    Ok(if night.verdict == Verdict::Failed { Status::Incomplete } else { Status::Done })
}

/// What is done with a history without running a night.
fn act(args: &NightlyArgs, experiment: &Experiment, dir: &Path, quiet: bool) -> Outcome {
    let action = &args.action;
    let fail = |error: NightlyError| by_kind(error);
    let history_fail = |error| by_kind(NightlyError::History(error));
    if action.import.is_none() && !dir.join(pericope_nightly::history::FILE).is_file() {
        return Err(Failure::usage(format!("{} holds no history yet: run a night first, or --import one", shown(dir))));
    }
    if let Some(file) = action.import.as_ref().filter(|file| !file.exists()) {
        return Err(Failure::usage(format!("--import {}: no such file", shown(file))));
    }
    let _lock = Lock::take(dir).map_err(fail)?;
    let mut history = History::open(dir, &experiment.name).map_err(history_fail)?;
    if let Some(file) = &action.export {
        let nights = history.export(file).map_err(history_fail)?;
        if args.json {
            return print_json(&json!({"exported": nights, "file": shown(file)}));
        }
        say!("{nights} {} written to {}", if nights == 1 { "night" } else { "nights" }, shown(file));
        return Ok(Status::Done);
    }
    let mut done = String::new();
    if let Some(file) = &action.import {
        let found = history.import(file).map_err(history_fail)?;
        let nights = if found.added == 1 { "night" } else { "nights" };
        let were = if found.known == 1 { "was" } else { "were" };
        done = format!("{} {nights} added, {} {were} there already", found.added, found.known);
    }
    let number = |which: WhichNight| -> Result<u32, Failure> {
        match which {
            WhichNight::Number(number) => Ok(number),
            WhichNight::Last => {
                let last = history.last_number().map_err(history_fail)?;
                last.ok_or_else(|| fail(NightlyError::Empty { path: dir.to_owned() }))
            }
        }
    };
    if let Some(which) = action.pin {
        let number = number(which)?;
        history.pin(Some(number)).map_err(history_fail)?;
        done = format!("night {number} is the baseline from now on");
    } else if action.unpin {
        history.pin(None).map_err(history_fail)?;
        "no night is pinned any more".clone_into(&mut done);
    } else if let Some(which) = action.accept {
        let number = number(which)?;
        history.accept(number).map_err(history_fail)?;
        done = format!("night {number} counts as good from now on");
    }
    // The files follow what the history says now.
    let outcome = match review(&history, experiment, dir, &HtmlPages) {
        Ok(outcome) => outcome,
        Err(NightlyError::Empty { .. }) if action.import.is_some() => {
            say!("{done}");
            return Ok(Status::Done);
        }
        Err(error) => return Err(fail(error)),
    };
    if done.is_empty() {
        return verdict(&outcome, args.json, quiet).map(|_| Status::Done);
    }
    if args.json {
        return print_json(&json!({"done": done, "night": outcome.conclusion.night.number}));
    }
    say!("{done}");
    Ok(Status::Done)
}

/// This program: two builds of one version are told apart by the checksum of the file.
fn program() -> Program {
    let sum = std::env::current_exe().ok().and_then(|path| sha256_file(&path).ok());
    Program { version: env!("CARGO_PKG_VERSION").to_owned(), sha256: sum.unwrap_or_default() }
}

fn by_kind(error: NightlyError) -> Failure {
    Failure::of(error.is_usage(), error)
}
