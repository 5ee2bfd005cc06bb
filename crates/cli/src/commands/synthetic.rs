//! `pericope dataset synthetic`

use pericope::experiments::segmentation::{Drawn, read_set};
use pericope_index::pipeline::DEFAULT_MEMORY;
use pericope_segment::synthetic::{Recipe, Synthetic, concatenations};
use serde::Serialize;

use crate::args::SyntheticArgs;
use crate::commands::{dataset::save, print_json};
use crate::input::{self, AllLeftOut, Input};
use crate::places::check_out;
use crate::resources::{failure, shown};
use crate::status::{Failure, Outcome, Status};

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
    unreadable += input::report(&left_out.bad);
    let recipe =
        Recipe { documents: args.documents, parts: args.parts, sentences: args.sentences.clone(), seed: args.seed };
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
    save(&args.out, &lines)?;
    let counts = Counts { sources: sources.len(), documents: made.len(), unreadable, empty: left_out.empty.len() };
    if args.json {
        print_json(&counts)?;
    } else if !quiet {
        say!("{}: {} documents from {} sources", shown(&args.out), counts.documents, counts.sources);
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
