//! `pericope segment-eval`

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use pericope::{Engine, shares_encoder, tokenizer_for};
use pericope_api::{Document, SentenceEncoder};
use pericope_eval::config::ExperimentFile;
use pericope_eval::run::TextSize;
use pericope_learn::registry::{build, segmenters};
use pericope_report::segmentation::Report;
use pericope_report::segmentation::plot::{DocumentPlot, MOST_DOCUMENTS, tiles_svg};
use pericope_segeval::config::SegmentationExperiment;
use pericope_segeval::evaluate::{Evaluation, SegmentationRow, System, evaluate};
use pericope_segeval::read::{Options, Set, read};
use pericope_segment::spec::Spec;
use pericope_segment::split::Split;
use pericope_segment::{Chunker, Limits};
use serde::Serialize;

use crate::args::SegmentEvalArgs;
use crate::commands::dry_run_segmenters;
use crate::commands::segment_eval_table::table;
use crate::commands::{dataset::save, print_json, print_json_text, settings};
use crate::resources::{failure, shown};
use crate::session::{hold, opened, run_folder, tell_kind};
use crate::status::{Failure, Outcome, Status};
use crate::terminal::name;
use crate::{input, progress};

/// A segmenter that is to be scored.
struct Entry {
    name: String,
    spec: Spec,
    /// Without and with the true number of segments.
    counts: Vec<bool>,
}

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
    let mut sets = Vec::new();
    for set in &experiment.sets {
        let path = set.expanded(&|name| std::env::var(name).ok()).map_err(Failure::usage)?;
        sets.push(read_set(&path, Some(&set.name), (set.documents, set.seed), set.split)?);
    }
    let entries: Vec<Entry> = (experiment.segmenters.iter())
        .map(|s| Entry {
            name: s.name.clone(),
            spec: s.spec.clone(),
            counts: if s.known { vec![false, true] } else { vec![false] },
        })
        .collect();
    if dry_run {
        return price(&sets, &specs(&entries), json);
    }
    let held = hold(&folder)?;
    let (evaluation, embedding) = score(&sets, entries, offline, quiet)?;
    let left_out = left_out(&sets, &evaluation);
    let mut report = Report::new(&experiment.name, &sets, evaluation, &experiment.published);
    report.embedding_seconds = embedding;
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
    let mut sets = Vec::new();
    for path in &args.data {
        sets.push(read_set(path, Some(&shown(path)), (args.documents, args.seed), args.split)?);
    }
    let mut entries = Vec::new();
    for text in &args.segmenter {
        let spec = Spec::parse(text).map_err(|e| Failure::usage(format!("--segmenter {text}: {e}")))?;
        entries.push(Entry { name: text.clone(), spec, counts: vec![args.known_count] });
    }
    if args.dry_run {
        return price(&sets, &specs(&entries), args.json);
    }
    let (evaluation, embedding) = score(&sets, entries, args.offline, quiet)?;
    let left_out = left_out(&sets, &evaluation);
    if let Some(path) = &args.per_document {
        let mut lines = String::new();
        for row in &evaluation.documents {
            lines.push_str(&serde_json::to_string(row).map_err(anyhow::Error::from)?);
            lines.push('\n');
        }
        save(path, &lines)?;
    }
    if let Some(path) = &args.plot {
        save(path, &plot(&sets, &evaluation))?;
    }
    let mut report = Report::new("", &sets, evaluation, &[]);
    report.embedding_seconds = embedding;
    if args.json {
        let one = |set: &Set| OneSet {
            data: "",
            documents: set.documents.len(),
            known_count: args.known_count,
            skipped: set.skipped.len(),
            embedding_seconds: embedding,
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

fn specs(entries: &[Entry]) -> Vec<Spec> {
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

/// Reads a set: `documents` of it (0: all) drawn by a seed, of one part where one is named.
pub(super) fn read_set(
    path: &Path,
    name: Option<&str>,
    (documents, seed): (usize, u64),
    part: Option<Split>,
) -> Result<Set, Failure> {
    let splitter = pericope_read::default_splitter();
    let split = |text: &str| {
        let mut found = Vec::new();
        splitter.split(text, &mut |span| found.push(span.start..span.end));
        found
    };
    let options = Options { name, documents, seed, part, ..Options::new(&split) };
    read(path, &options).map_err(Failure::usage)
}

/// Scores every segmenter on every set. The seconds are those of embedding all sentences beforehand, where several
/// segmenters share the vectors.
fn score(sets: &[Set], entries: Vec<Entry>, offline: bool, quiet: bool) -> Result<(Evaluation, Option<f64>), Failure> {
    let corpus = |visit: &mut dyn FnMut(&Document)| {
        sets.iter().flat_map(|set| &set.documents).for_each(|segmented| visit(&segmented.document));
    };
    // The segmentation itself is measured: no limit unless a spec names one.
    let tokenizer = tokenizer_for("none", entries.iter().map(|entry| &entry.spec));
    let resources = Engine::new().with_tokenizer(tokenizer).with_defaults(Limits::NONE);
    let mut resources = resources.with_corpus(&corpus).offline(offline);
    let sharing = entries.iter().filter(|entry| shares_encoder(&entry.spec));
    let asking: usize = sharing.map(|entry| entry.counts.len()).sum();
    let mut embedding = None;
    if asking > 1 {
        let encoder = resources.cache_encoder().map_err(failure)?;
        embedding = Some(warm(sets, &encoder, quiet)?);
    }
    let mut chunkers: Vec<(Entry, Chunker)> = Vec::new();
    for entry in entries {
        let chunker =
            build(&entry.spec, &resources).map_err(|e| Failure::usage(format!("segmenter {}: {e}", entry.name)))?;
        chunkers.push((entry, chunker));
    }
    let mut contestants = Vec::new();
    for (entry, chunker) in &chunkers {
        for &known_count in &entry.counts {
            contestants.push(System { name: entry.name.clone(), chunker, known_count });
        }
    }
    let documents: usize = sets.iter().map(|set| set.documents.len()).sum();
    let bar = progress::bar((documents * contestants.len()) as u64, "segmenting", quiet);
    let evaluation = evaluate(sets, &contestants, &|one: &System<'_>, _: &str| {
        bar.set_message(name(&one.name).into_owned());
        bar.inc(1);
    });
    bar.finish_and_clear();
    Ok((evaluation.map_err(Failure::usage)?, embedding))
}

/// Embeds every sentence once; gives the seconds that it took.
fn warm(sets: &[Set], encoder: &Arc<dyn SentenceEncoder>, quiet: bool) -> Result<f64, Failure> {
    let start = Instant::now();
    let documents: Vec<&Document> = sets.iter().flat_map(|set| &set.documents).map(|one| &one.document).collect();
    let bar = progress::bar(documents.len() as u64, "embedding", quiet);
    for part in documents.chunks(16) {
        let texts: Vec<_> =
            part.iter().flat_map(|d| d.sentences.iter().map(|sentence| d.visible(sentence.span))).collect();
        let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        encoder.encode(&texts).map_err(Failure::runtime)?;
        bar.inc(part.len() as u64);
    }
    bar.finish_and_clear();
    Ok(start.elapsed().as_secs_f64())
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
