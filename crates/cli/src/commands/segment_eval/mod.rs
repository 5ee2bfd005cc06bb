//! `pericope segment-eval`

mod args;
mod table;

pub use args::{SEGMENT_EVAL_EXAMPLES, SegmentEvalArgs};

use std::path::Path;

use pericope::experiments::segmentation::{Drawn, Scored, Scoring, SystemSpec, read_set, read_sets, score};
use pericope_eval::config::{Configuration, ExperimentFile};
use pericope_eval::run::TextSize;
use pericope_learn::registry::segmenters;
use pericope_report::segmentation::Report;
use pericope_report::segmentation::plot::{DocumentPlot, MOST_DOCUMENTS, tiles_svg};
use pericope_segeval::config::SegmentationExperiment;
use pericope_segeval::evaluate::{Evaluation, SegmentationRow};
use pericope_segeval::read::{Segmented, Set};
use pericope_segment::spec::Spec;
use serde::Serialize;

use self::table::table;
use crate::commands::dry_run_segmenters;
use crate::commands::{dataset::save_named, print_json, print_json_text, settings};
use crate::input;
use crate::places::check_out;
use crate::resources::{failure, shown};
use crate::session::{Bars, hold, opened, run_folder, tell_kind};
use crate::status::{Failure, Outcome, Status};

#[derive(Serialize)]
struct OneSet<'a> {
    data: &'a str,
    documents: usize,
    known_count: bool,
    /// Documents that could not be read.
    skipped: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    embedding_seconds: Option<f64>,
    results: Vec<&'a SegmentationRow>,
    /// What the results show, where several segmenters are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<String>,
}

/// The first three are those of a single set; `sets` has each by itself.
#[derive(Serialize)]
struct SeveralSets<'a> {
    data: Vec<&'a str>,
    documents: usize,
    results: Vec<&'a SegmentationRow>,
    sets: Vec<OneSet<'a>>,
}

/// Runs the command.
pub fn run(args: SegmentEvalArgs, quiet: bool) -> Outcome {
    match &args.config {
        Some(config) if args.settings => settings::run(&opened(config)?, &args.set, quiet),
        Some(config) => {
            let how = How { offline: args.offline, dry_run: args.dry_run, json: args.json, quiet };
            experiment(&opened(config)?, &args.set, args.out.as_deref(), how)
        }
        None => plain(&args, quiet),
    }
}

/// How an experiment is run.
#[derive(Debug, Clone, Copy)]
pub struct How {
    /// Language models are asked from their cache alone.
    pub offline: bool,
    /// It is only said what models may be asked.
    pub dry_run: bool,
    /// One JSON document on standard output.
    pub json: bool,
    /// Nothing on standard error that is no problem.
    pub quiet: bool,
}

/// An experiment file with its report.
pub fn experiment(file: &ExperimentFile, set: &[String], out: Option<&Path>, how: How) -> Outcome {
    let How { offline, dry_run, json, quiet } = how;
    let experiment = SegmentationExperiment::of_file(file, set, segmenters()).map_err(Failure::usage)?;
    tell_kind(file, quiet);
    let folder = run_folder(out, &experiment.name)?;
    let sets = read_sets(&experiment).map_err(failure)?;
    let entries = SystemSpec::all_of(&experiment);
    if dry_run {
        return price(&sets, &specs(&entries), json);
    }
    let held = hold(&folder)?;
    let scored = scored(&sets, &entries, offline, quiet)?;
    let left_out = left_out(&sets, &scored.evaluation);
    let report = scored.report(&experiment, &sets);
    report.write(&folder).map_err(Failure::runtime)?;
    drop(held);
    if json {
        print_json_text(&format!("{}\n", report.summary().map_err(Failure::runtime)?))?;
    } else {
        table(&report)?;
        say!("Report: {}", shown(&folder.join("index.html")));
    }
    Ok(if left_out > 0 { Status::Incomplete } else { Status::Done })
}

/// Data and segmenters from the command line.
fn plain(args: &SegmentEvalArgs, quiet: bool) -> Outcome {
    let names: Vec<String> = args.data.iter().map(|path| shown(path)).collect();
    distinct("--data", &names)?;
    distinct("--segmenter", &args.segmenter)?;
    for (flag, out) in [("--per-document", &args.per_document), ("--plot", &args.plot)] {
        if let Some(out) = out.as_ref().filter(|out| out.is_dir()) {
            return Err(Failure::usage(format!("{flag} {}: it is a folder; name a file", shown(out))));
        }
        out.iter().try_for_each(|out| check_out(flag, out, &args.data))?;
    }
    let mut sets = Vec::new();
    for path in &args.data {
        let drawn = Drawn { documents: args.documents, seed: args.seed, split: args.split };
        sets.push(read_set(path, Some(&shown(path)), drawn).map_err(failure)?);
    }
    let mut entries = Vec::new();
    for text in &args.segmenter {
        let spec = Spec::parse(text).map_err(|e| Failure::usage(format!("--segmenter {text}: {e}")))?;
        entries.push(SystemSpec { name: text.clone(), spec, known_counts: vec![args.known_count] });
    }
    if args.dry_run {
        return price(&sets, &specs(&entries), args.json);
    }
    let Scored { evaluation, embedding_seconds } = scored(&sets, &entries, args.offline, quiet)?;
    let left_out = left_out(&sets, &evaluation);
    if let Some(path) = &args.per_document {
        let mut lines = String::new();
        for row in &evaluation.documents {
            lines.push_str(&serde_json::to_string(row).map_err(anyhow::Error::from)?);
            lines.push('\n');
        }
        save_named(path, &lines)?;
    }
    if let Some(path) = &args.plot {
        save_named(path, &plot(&sets, &evaluation))?;
    }
    let mut report = Report::new("", &sets, evaluation, &[]);
    report.embedding_seconds = embedding_seconds;
    if args.json {
        let one = |set: &Set| OneSet {
            data: "",
            documents: set.documents.len(),
            known_count: args.known_count,
            skipped: set.skipped.len(),
            embedding_seconds,
            results: report.evaluation.rows.iter().filter(|row| row.set == set.name).collect(),
            verdict: report.verdict(&set.name),
        };
        let mut found: Vec<OneSet<'_>> =
            sets.iter().zip(&names).map(|(s, name)| OneSet { data: name, ..one(s) }).collect();
        if found.len() == 1 {
            print_json(&found.remove(0))?;
        } else {
            print_json(&SeveralSets {
                data: found.iter().map(|set| set.data).collect(),
                documents: found.iter().map(|set| set.documents).sum(),
                results: report.evaluation.rows.iter().collect(),
                sets: found,
            })?;
        }
    } else {
        table(&report)?;
    }
    Ok(if left_out > 0 { Status::Incomplete } else { Status::Done })
}

fn specs(entries: &[SystemSpec]) -> Vec<Spec> {
    entries.iter().map(|entry| entry.spec.clone()).collect()
}

/// Says what the models of the segmenters come to; nothing is asked or cut.
pub(super) fn price(sets: &[Set], specs: &[Spec], json: bool) -> Outcome {
    let documents = sets.iter().flat_map(|set| &set.documents);
    let documents: Vec<TextSize> = documents.map(|one| TextSize::of(&one.document)).collect();
    let skipped: usize = sets.iter().map(|set| input::report(&set.skipped)).sum();
    dry_run_segmenters::run(specs, &documents, json)?;
    Ok(if skipped > 0 { Status::Incomplete } else { Status::Done })
}

/// Rows are told apart by their names.
fn distinct(flag: &str, names: &[String]) -> Result<(), Failure> {
    match names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)) {
        Some((_, name)) => Err(Failure::usage(format!("{flag} {name} is given twice"))),
        None => Ok(()),
    }
}

/// Scores the segmenters, with a bar.
fn scored(sets: &[Set], specs: &[SystemSpec], offline: bool, quiet: bool) -> Result<Scored, Failure> {
    if !quiet {
        sets.iter().for_each(tell_renamed);
    }
    let observer = Bars::new(quiet);
    let scored = score(sets, specs, Scoring { offline, ..Scoring::default() }, &observer);
    observer.clear();
    scored.map_err(failure)
}

/// Says which documents stand by another id than in their file, since an earlier one has theirs.
fn tell_renamed(set: &Set) {
    let own = |one: &Segmented| Some((set.renamed.get(&one.document.id)?.clone(), one.document.id.clone()));
    let Some((own, id)) = set.documents.iter().find_map(own) else { return };
    let (documents, have) = match set.renamed.len() {
        1 => ("1 document".to_owned(), "has"),
        many => (format!("{many} documents"), "have"),
    };
    tell!(
        "{}: {documents} {have} the id of an earlier one and a number behind it in all that is written, the first: {own:?} is \
         {id:?}",
        set.name
    );
}

/// Names what was not read or not segmented; how much it is.
fn left_out(sets: &[Set], evaluation: &Evaluation) -> usize {
    let read: usize = sets.iter().map(|set| input::report(&set.skipped)).sum();
    if read > 0 {
        tell!("{read} of the documents {} left out (named above)", if read == 1 { "was" } else { "were" });
    }
    let failures: Vec<String> = (evaluation.rows.iter())
        .flat_map(|row| row.failed.iter().map(|f| format!("{} on {}: {}", row.segmenter, f.document, f.reason)))
        .collect();
    read + input::report(&failures)
}

/// The tiles of the first documents of every set.
fn plot(sets: &[Set], evaluation: &Evaluation) -> String {
    let each = (MOST_DOCUMENTS / sets.len().max(1)).max(1);
    let documents = sets.iter().flat_map(|set| set.documents.iter().take(each).map(move |one| (set, one)));
    let plots: Vec<DocumentPlot> =
        documents.filter_map(|(set, one)| DocumentPlot::of(evaluation, &set.name, &one.document.id, None)).collect();
    tiles_svg("Segmentations", &plots)
}
