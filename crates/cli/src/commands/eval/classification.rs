//! `pericope eval run` on experiments with `kind = "classification"`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pericope::experiments::{Classified, classification};
use pericope::segmenters;
use pericope_eval::classification::{ClassificationExperiment, load};
use pericope_eval::config::{Configuration, ExperimentFile};
use pericope_eval::run::TextSize;
use pericope_report::classification::Report;
use pericope_segment::spec::Spec;

use super::args::EvalRunArgs;
use crate::commands::dry_run_segmenters;
use crate::commands::print_json;
use crate::resources::{of_tests, shown};
use crate::session::{Bars, not_run, not_written, run_folder, tell_kind};
use crate::status::{Failure, Outcome, Status};
use crate::terminal;

/// Runs the experiment and writes its report.
pub fn run(file: &ExperimentFile, args: &EvalRunArgs, quiet: bool) -> Outcome {
    let experiment = ClassificationExperiment::of_file(file, &args.set, segmenters()).map_err(Failure::usage)?;
    if args.dry_run {
        return price(&experiment, args.json);
    }
    tell_kind(file, quiet);
    let out = run_folder(args.out.as_deref(), &experiment.name)?;
    let encoder = (of_tests(&experiment.embedder), args.offline);
    let observer = Bars::new(quiet);
    observer.tell_what_models_wait_for();
    let found = classification(&experiment, &out, BTreeMap::new(), encoder, &observer);
    observer.clear();
    let Classified { report, folder } = found.map_err(not_run)?;
    report.write(&out).map_err(not_written(&out))?;
    drop(folder);
    if args.json {
        print_json(&report.summary)?;
    } else {
        say!("{}", report.table(terminal::width()));
        say!("Report: {}", shown(&out.join("index.html")));
    }
    Ok(if report.summary.is_incomplete() { Status::Incomplete } else { Status::Done })
}

/// Says what the models of the segmenters and the embedder come to; nothing is asked, cut or trained.
fn price(experiment: &ClassificationExperiment, json: bool) -> Outcome {
    let path = experiment.data_path().map_err(Failure::usage)?;
    let set = load(&experiment.data, &path).map_err(Failure::usage)?;
    let documents: Vec<TextSize> = set.documents.iter().map(TextSize::of).collect();
    let specs: Vec<Spec> = experiment.chunkers.iter().map(|one| one.spec.clone()).collect();
    dry_run_segmenters::with_embedder(&specs, &documents, Some(&experiment.embedder), json)
}

/// Refuses runs on classification among several: reports that set runs beside each other are of retrieval.
pub fn refuse_several(runs: &[PathBuf]) -> Result<(), Failure> {
    // What cannot be read is said where it is read as a whole.
    let found = runs.iter().find(|run| Report::is_one(run).unwrap_or(false));
    match found.filter(|_| runs.len() > 1) {
        None => Ok(()),
        Some(run) => {
            let problem = "is a run of classification; several cannot be put side by side";
            Err(Failure::usage(format!("{} {problem}", shown(run))))
        }
    }
}

/// Writes the report of a run again; nothing where the run is of another kind.
pub fn report(run: &Path, out: &Path) -> Result<bool, Failure> {
    let Some(report) = Report::load(run).map_err(not_written(run))? else { return Ok(false) };
    report.write(out).map_err(not_written(out))?;
    Ok(true)
}
