//! `pericope dataset synthetic`

use std::path::PathBuf;

use clap::Args;
use pericope::experiments::segmentation::{Drawn, read_set};
use pericope_eval::format::plural;
use pericope_index::pipeline::DEFAULT_MEMORY;
use pericope_segment::synthetic::{Recipe, Synthetic, concatenations, usable};
use serde::Serialize;

use super::save_named;
use crate::args::{TimeArgs, at_least_one};
use crate::commands::print_json;
use crate::input::{self, AllLeftOut, Input};
use crate::places::{self, check_out};
use crate::resources::{failure, shown};
use crate::status::{Failure, Outcome, Status};

/// `pericope dataset synthetic`
#[derive(Debug, Args)]
pub struct SyntheticArgs {
    /// Files or folders of documents, or segmentation data as segment-eval reads it
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Where the documents go, one a line
    #[arg(long, value_name = "FILE.jsonl", value_parser = places::path())]
    pub out: PathBuf,
    /// Number of documents
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub documents: usize,
    /// Parts of a document, each from another source
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = at_least_one)]
    pub parts: usize,
    /// Sentences of a part, drawn from this range; without it, whole sources
    #[arg(long, value_name = "FROM-TO", value_parser = range)]
    pub sentences: Option<std::ops::RangeInclusive<usize>>,
    /// Another seed, other documents
    #[arg(long, value_name = "N", default_value_t = 7)]
    pub seed: u64,
    /// Also follow links that lead out of the folder that was named; without it they are left out, and a note names them
    #[arg(long)]
    pub follow_links: bool,
    #[command(flatten)]
    pub time: TimeArgs,
    /// One JSON document on standard output
    #[arg(long)]
    pub json: bool,
}

fn range(text: &str) -> Result<std::ops::RangeInclusive<usize>, String> {
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    match (from.trim().parse::<usize>(), to.trim().parse::<usize>()) {
        (Ok(from), Ok(to)) if 1 <= from && from <= to => Ok(from..=to),
        _ => Err("two whole numbers of at least 1, as in 3-11".into()),
    }
}

#[derive(Serialize)]
struct Line<'a> {
    id: String,
    source: &'a str,
    sentences: &'a [String],
    boundaries: &'a [usize],
    /// What each part is from.
    headings: Vec<&'a str>,
}

#[derive(Serialize)]
struct Counts {
    sources: usize,
    documents: usize,
    unreadable: usize,
    /// Pages without text.
    empty: usize,
}

/// Runs the command.
pub fn run(args: SyntheticArgs, quiet: bool) -> Outcome {
    check_out("--out", &args.out, &args.paths)?;
    let (mut ids, mut sources, mut left_out) = (Vec::new(), Vec::new(), AllLeftOut::default());
    let mut add = |document: &pericope_api::Document| {
        let prose = document.sentences.iter().filter(|s| matches!(s.kind, pericope_api::Kind::Prose));
        let text =
            |s: &pericope_api::Sentence| document.visible(s.span).split_whitespace().collect::<Vec<_>>().join(" ");
        ids.push(document.id.clone());
        sources.push(prose.map(text).filter(|text| !text.is_empty()).collect::<Vec<String>>());
    };
    let mut unreadable = 0;
    // What is no segmentation data is read as documents.
    let (mut plain, mut refused) = (Vec::new(), None);
    for path in &args.paths {
        match read_set(path, None, Drawn { seed: args.seed, ..Drawn::default() }) {
            Ok(set) => {
                set.documents.iter().for_each(|one| add(&one.document));
                left_out.bad.extend(set.skipped);
            }
            Err(why) => {
                plain.push(path.clone());
                refused.get_or_insert(why);
            }
        }
    }
    if !plain.is_empty() {
        let found = Input::find(&plain, args.follow_links, args.time.limits(DEFAULT_MEMORY as u64))?;
        unreadable += found.report();
        for path in found.files() {
            found.read_in_time(path, |document| document, &mut |read| match read {
                Ok(document) => add(&document),
                Err(one) => left_out.add(one),
            });
        }
        input::tell_empty(&left_out.empty);
        found.tell_rules();
    }
    unreadable += left_out.report().total();
    let recipe =
        Recipe { documents: args.documents, parts: args.parts, sentences: args.sentences.clone(), seed: args.seed };
    let found = usable(&sources, &recipe).len();
    if (1..args.parts).contains(&found) {
        return Err(Failure::usage(format!(
            "--parts {}: each part is from another source, and only {found} of {} have enough sentences: name more, or fewer parts",
            args.parts,
            sources.len()
        )));
    }
    let made = concatenations(&sources, &recipe);
    if made.is_empty() {
        if let (true, Some(why)) = (sources.is_empty(), refused) {
            return Err(failure(why));
        }
        return Err(Failure::usage(
            "no source has enough sentences: name more documents, or shorter parts (--sentences)",
        ));
    }
    let mut lines = String::new();
    for (number, one) in made.iter().enumerate() {
        lines.push_str(&line(number, one, &ids).map_err(anyhow::Error::from)?);
        lines.push('\n');
    }
    save_named(&args.out, &lines)?;
    let counts = Counts { sources: sources.len(), documents: made.len(), unreadable, empty: left_out.empty.len() };
    if args.json {
        print_json(&counts)?;
    } else if !quiet {
        let (made, from) = (plural(counts.documents, "document"), plural(counts.sources, "source"));
        say!("{}: {made} from {from}", shown(&args.out));
    }
    Ok(if unreadable > 0 { Status::Incomplete } else { Status::Done })
}

fn line(number: usize, one: &Synthetic, ids: &[String]) -> serde_json::Result<String> {
    serde_json::to_string(&Line {
        id: format!("synthetic/{number}"),
        source: "synthetic",
        sentences: &one.sentences,
        boundaries: one.boundaries.after(),
        headings: one.sources.iter().filter_map(|&i| ids.get(i)).map(String::as_str).collect(),
    })
}
