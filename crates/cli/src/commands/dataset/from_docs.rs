//! `pericope dataset from-docs`

use std::path::PathBuf;

use clap::Args;
use pericope_api::Document;
use pericope_eval::data::{FromDocsOptions, from_docs};
use pericope_eval::format::plural;
use pericope_index::pipeline::DEFAULT_MEMORY;
use serde::Serialize;

use super::documents::{relative, save_named};
use crate::args::TimeArgs;
use crate::commands::print_json;
use crate::input::{self, AllLeftOut, Input};
use crate::places::{self, check_out_beside_documents, is_same};
use crate::resources::shown;
use crate::status::{Failure, Outcome, Status};
use crate::terminal::name;

/// `pericope dataset from-docs`
#[derive(Debug, Args)]
pub struct FromDocsArgs {
    /// Files or folders of documentation
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Questions in SQuAD's layout
    #[arg(long, value_name = "FILE.json", value_parser = places::path())]
    pub out: PathBuf,
    /// True segment boundaries, for segment-eval
    #[arg(long, value_name = "FILE.jsonl", value_parser = places::path())]
    pub segmentation: Option<PathBuf>,
    /// Fewest words of an answer
    #[arg(long, value_name = "N", default_value_t = 15)]
    pub min_answer_words: usize,
    /// Leave out documents that hold no question
    #[arg(long)]
    pub no_distractors: bool,
    /// Also follow links that lead out of the folder that was named; without it they are left out, and a note names them
    #[arg(long)]
    pub follow_links: bool,
    #[command(flatten)]
    pub time: TimeArgs,
    /// One JSON document on standard output
    #[arg(long)]
    pub json: bool,
}

#[derive(Serialize)]
struct Counts {
    documents: usize,
    questions: usize,
    left_out: usize,
    segmentations: usize,
    unreadable: usize,
    /// Pages without text.
    empty: usize,
}

/// Runs the command.
pub fn run(args: FromDocsArgs, quiet: bool) -> Outcome {
    check_out_beside_documents("--out", &args.out, &args.paths)?;
    if let Some(segmentation) = &args.segmentation {
        check_out_beside_documents("--segmentation", segmentation, &args.paths)?;
        if *segmentation == args.out || is_same(segmentation, &args.out) {
            return Err(Failure::usage(format!("--segmentation {}: it is the file of --out", shown(segmentation))));
        }
    }
    let found = Input::find(&args.paths, args.follow_links, args.time.limits(DEFAULT_MEMORY as u64))?;
    let mut documents: Vec<Document> = Vec::new();
    let mut unreadable = found.report();
    let mut left_out = AllLeftOut::default();
    for path in found.files() {
        // The answer key of an earlier run is no documentation.
        if is_same(path, &args.out) || args.segmentation.as_deref().is_some_and(|s| is_same(path, s)) {
            continue;
        }
        found.read_in_time(path, |document| document, &mut |read| match read {
            Ok(document) => documents.push(relative(document, &args.paths)),
            Err(one) => left_out.add(one),
        });
    }
    unreadable += left_out.report().total();
    let options = FromDocsOptions {
        min_answer_words: args.min_answer_words,
        keep_distractors: !args.no_distractors,
        ..FromDocsOptions::default()
    };
    let source = args.paths.first().and_then(|p| p.file_name()).map_or("docs".into(), |n| n.to_string_lossy());
    let made = from_docs(&documents, &source, options);
    let questions: usize = made.file.data.iter().flat_map(|a| &a.paragraphs).map(|p| p.qas.len()).sum();
    let none_asks = match made.skipped.first() {
        Some(first) => format!(
            "no heading that asks a question can be used: {} left out, the first: {}",
            made.skipped.len(),
            name(first)
        ),
        None => format!(
            "no heading in {} asks a question (one that ends with '?' or begins with how, what, when ...); \
             `pericope dataset draft` makes questions from headings and sentences that ask nothing",
            plural(documents.len(), "document")
        ),
    };
    // Boundaries need headings, and no questions.
    let has_boundaries = args.segmentation.is_some() && !made.segmentations.is_empty();
    if questions > 0 {
        let json = serde_json::to_string_pretty(&made.file).map_err(anyhow::Error::from)?;
        save_named(&args.out, &(json + "\n"))?;
    } else if !has_boundaries {
        return Err(Failure::usage(none_asks));
    }
    if let Some(path) = &args.segmentation {
        let mut lines = String::new();
        for line in &made.segmentations {
            lines.push_str(&serde_json::to_string(line).map_err(anyhow::Error::from)?);
            lines.push('\n');
        }
        save_named(path, &lines)?;
    }
    let counts = Counts {
        documents: made.file.data.len(),
        questions,
        left_out: made.skipped.len(),
        segmentations: made.segmentations.len(),
        unreadable,
        empty: left_out.empty.len(),
    };
    if questions == 0 {
        tell!("{} was not written: {none_asks}", shown(&args.out));
    }
    if args.json {
        print_json(&counts)?;
    } else if !quiet {
        for skipped in made.skipped.iter().take(10) {
            tell!("left out: {}", name(skipped));
        }
        if made.skipped.len() > 10 {
            tell!("left out: {} more", made.skipped.len() - 10);
        }
        if questions > 0 {
            let (asked, of) = (plural(questions, "question"), plural(counts.documents, "document"));
            say!("{}: {asked} over {of}", shown(&args.out));
        }
        if let Some(path) = args.segmentation.as_deref() {
            say!("{}: the boundaries of {}", shown(path), plural(counts.segmentations, "document"));
        }
    }
    input::tell_empty(&left_out.empty);
    found.tell_rules();
    Ok(if unreadable > 0 { Status::Incomplete } else { Status::Done })
}
