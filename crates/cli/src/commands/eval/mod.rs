//! `pericope eval`

mod args;
mod calibrate;
mod classification;

pub use args::{EvalCommand, EvalRunArgs};

use std::path::{Path, PathBuf};

use pericope::segmenters;
use pericope_eval::answer::Ledger;
use pericope_eval::config::{Configuration, Experiment, ExperimentKind};
use pericope_report::run::{self as report, Overview, Report};

use self::args::EvalReportArgs;
use crate::commands::{dry_run, print_json, segment_eval, settings, sweep};
use crate::resources::shown;
use crate::session::{Finished, Session, hold, is_incomplete, not_written, one, opened, run_folder, tell_kind};
use crate::status::{Failure, Outcome, Status};
use crate::terminal;

impl EvalRunArgs {
    /// How the run is begun or gone on with.
    pub(super) fn session(&self) -> Session<'_> {
        Session { resume: self.resume, offline: self.offline, trec: self.trec.as_deref(), ..Session::default() }
    }
}

/// Runs the command.
pub fn run(command: EvalCommand, quiet: bool) -> Outcome {
    match command {
        EvalCommand::Run(args) => experiment(args, quiet),
        EvalCommand::Report(args) => report(args),
        EvalCommand::Calibrate(args) => calibrate::run(args),
    }
}

/// `pericope eval run`
fn experiment(args: EvalRunArgs, quiet: bool) -> Outcome {
    let file = opened(&args.config)?;
    if args.settings {
        return settings::run(&file, &args.set, quiet);
    }
    let retrieval_alone = args.limit.is_some() || args.trec.is_some() || args.resume;
    if retrieval_alone && matches!(file.kind, ExperimentKind::Segmentation | ExperimentKind::Classification) {
        let flags = "--limit, --trec and --resume";
        let kind = file.kind;
        return Err(Failure::usage(format!("{flags} are for experiments on retrieval; this is one on {kind}")));
    }
    if file.kind == ExperimentKind::Segmentation {
        let how = segment_eval::How { offline: args.offline, dry_run: args.dry_run, json: args.json, quiet };
        return segment_eval::experiment(&file, &args.set, args.out.as_deref(), how);
    }
    if file.kind == ExperimentKind::Classification {
        return classification::run(&file, &args, quiet);
    }
    let mut experiment = Experiment::of_file(&file, &args.set, segmenters()).map_err(Failure::usage)?;
    tell_kind(&file, quiet);
    experiment.data.limit = args.limit.unwrap_or(experiment.data.limit);
    let out = run_folder(args.out.as_deref(), &experiment.name)?;
    if !experiment.sweep.is_empty() {
        return sweep::run(&experiment, &out, &args, quiet);
    }
    if args.dry_run {
        return dry_run::experiments(&[&experiment], Some(&out), args.json);
    }
    let ledger = Ledger::of_run(&experiment, &out, args.resume);
    let Some(Finished { report, folder }) = one(&experiment, &out, args.session(), ledger, quiet)? else {
        return Ok(Status::Incomplete);
    };
    report::write(&out, &report).map_err(not_written(&out))?;
    drop(folder);
    let summary = &report.summary;
    if args.json {
        print_json(summary)?;
    } else {
        say!("{}", report::table(summary, terminal::width()));
        say!("Report: {}", shown(&out.join("index.html")));
    }
    Ok(if is_incomplete(summary, &experiment) { Status::Incomplete } else { Status::Done })
}

/// `pericope eval report`
fn report(args: EvalReportArgs) -> Outcome {
    let out = match (&args.out, args.runs.as_slice()) {
        (Some(out), _) => out.clone(),
        (None, [one]) => one.clone(),
        (None, _) => return Err(Failure::usage("several runs: say where the report goes with --out DIR")),
    };
    for run in &args.runs {
        if run.join("segments.md").is_file() {
            return Err(Failure::usage(format!(
                "{} is a run of segment-eval: its report, index.html, was written with it",
                shown(run)
            )));
        }
        if !run.join("summary.json").is_file() {
            return Err(Failure::usage(format!(
                "{} is no finished run (it has no summary.json); `pericope eval run` makes one",
                shown(run)
            )));
        }
    }
    classification::refuse_several(&args.runs)?;
    let held = hold(&out)?;
    write_reports(&args.runs, &out)?;
    drop(held);
    say!("Report: {}", shown(&out.join("index.html")));
    Ok(Status::Done)
}

/// Reads the runs and writes their report: of one alone, or of several beside each other.
fn write_reports(runs: &[PathBuf], out: &Path) -> Result<(), Failure> {
    let load = |run: &PathBuf| Report::load(run).map_err(not_written(run));
    if let [one] = runs {
        if classification::report(one, out)? {
            return Ok(());
        }
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
