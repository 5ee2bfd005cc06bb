//! `pericope segment-eval`

use pericope_eval::segmentation::{SegmentationRow, evaluate_segmenter, read_segmented};
use pericope_segment::Limits;
use pericope_segment::registry::build;
use pericope_segment::spec::Spec;
use serde::Serialize;

use crate::args::SegmentEvalArgs;
use crate::resources::{CommandResources, shown};
use crate::status::{Failure, Outcome, Status};
use crate::{commands::print_json, input, progress};

#[derive(Serialize)]
struct Report {
    data: String,
    documents: usize,
    known_count: bool,
    results: Vec<SegmentationRow>,
}

/// Runs the command.
pub fn run(args: SegmentEvalArgs, quiet: bool) -> Outcome {
    let (documents, skipped) = read_segmented(&args.data).map_err(Failure::usage)?;
    let bad = input::report(&skipped);
    let corpus = |visit: &mut dyn FnMut(&pericope_api::Document)| documents.iter().for_each(|d| visit(&d.document));
    // The segmentation itself is measured: no limit unless a spec names one.
    let resources = CommandResources::new(Limits::default(), Limits::NONE, None).with_corpus(&corpus);
    let mut chunkers = Vec::new();
    for text in &args.segmenter {
        let usage = |e: &dyn std::fmt::Display| Failure::usage(format!("--segmenter {text}: {e}"));
        let spec = Spec::parse(text).map_err(|e| usage(&e))?;
        chunkers.push(build(&spec, &resources).map_err(|e| usage(&e))?);
    }
    let mut results = Vec::new();
    for (chunker, text) in chunkers.iter().zip(&args.segmenter) {
        let bar = progress::bar(documents.len() as u64, text, quiet);
        let row = evaluate_segmenter(chunker, &documents, args.known_count, &|| bar.inc(1));
        bar.finish_and_clear();
        let row = row.map_err(|(id, e)| Failure::runtime(format!("{text} on {id}: {e}")))?;
        results.push(SegmentationRow { segmenter: text.clone(), ..row });
    }
    let report = Report { data: shown(&args.data), documents: documents.len(), known_count: args.known_count, results };
    if args.json {
        print_json(&report)?;
    } else {
        table(&report)?;
    }
    Ok(if bad > 0 { Status::Incomplete } else { Status::Done })
}

fn table(report: &Report) -> std::io::Result<()> {
    let count =
        if report.known_count { "number of segments given" } else { "number of segments found by the segmenter" };
    say!("{}: {} documents, {count}\n", report.data, report.documents);
    let width = report.results.iter().map(|r| r.segmenter.chars().count()).max().unwrap_or(0).max(9);
    say!(
        "{:width$}  {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>9} {:>9}",
        "segmenter",
        "Pk",
        "WD",
        "P",
        "R",
        "F1",
        "F1/doc",
        "B",
        "prop/true",
        "sent/s"
    );
    for row in &report.results {
        let percent = |x: f64| format!("{:.1}", 100.0 * x);
        say!(
            "{:width$}  {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>9} {:>9.0}",
            row.segmenter,
            percent(row.pk),
            percent(row.window_diff),
            percent(row.precision),
            percent(row.recall),
            percent(row.f1),
            percent(row.macro_f1),
            percent(row.boundary_similarity),
            row.proposed_over_true.map_or("-".into(), |x| format!("{x:.2}")),
            row.sentences_per_second
        );
    }
    say!(
        "\nPk, WD (WindowDiff): lower is better. P, R, F1: exact boundaries, over all of the\nset; F1/doc: mean over documents. B: boundary similarity. Proposing nothing often\nlooks good on Pk and WD: read them together with F1 and the ratio of proposed to true boundaries."
    );
    Ok(())
}
