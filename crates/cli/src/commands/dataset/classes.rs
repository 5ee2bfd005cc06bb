//! `pericope dataset classes`

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use pericope_eval::classification::{MakeOptions, class_of, make};
use pericope_eval::format::plural;
use pericope_segment::split::{Shares, Split};
use serde::Serialize;

use super::documents::{read, save_named};
use crate::args::SourceArgs;
use crate::commands::print_json;
use crate::places;
use crate::resources::shown;
use crate::status::{Failure, Outcome, Status};

pub const CLASSES_EXAMPLES: &str = "Examples:
  pericope dataset classes docs/helm docs/tauri docs/k6 --out classes.jsonl --mask
  pericope dataset classes helm.raw.jsonl k6.raw.jsonl --out classes.jsonl --mask --mask-words chart,xk6 --min-words 300

Each PATH is a class, named like its file or folder up to the first dot. A line a document: {\"id\", \"label\", \"format\", \"split\",
\"text\"}. A document's part follows from its id, the shares and the seed. Of documents of which four fifths stand in each other, the
first stays. An experiment with kind = \"classification\" reads the file (docs/classification.md).";

/// `pericope dataset classes`
#[derive(Debug, Args)]
pub struct ClassesArgs {
    /// Files or folders of documents, each a class
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Where the documents go, one a line
    #[arg(long, value_name = "FILE.jsonl", value_parser = places::path())]
    pub out: PathBuf,
    /// Take the names of all classes out of all texts
    #[arg(long)]
    pub mask: bool,
    /// Other words that are taken out with them, by commas
    #[arg(long, value_name = "WORDS", value_delimiter = ',', requires = "mask")]
    pub mask_words: Vec<String>,
    /// Words of a document at least
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub min_words: usize,
    /// Words of a document at most; 0: any number
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub max_words: usize,
    /// Documents of a class at most, chosen by their ids; 0: all
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub documents: usize,
    /// Share to validate on, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.1)]
    pub validation: f64,
    /// Share to test on, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.3)]
    pub test: f64,
    /// Another seed, other parts and other documents
    #[arg(long, value_name = "N", default_value_t = 7)]
    pub seed: u64,
    #[command(flatten)]
    pub source: SourceArgs,
    /// One JSON document on standard output
    #[arg(long)]
    pub json: bool,
}

/// What `--json` says.
#[derive(Serialize)]
struct Counts {
    documents: usize,
    /// By class, then by part.
    classes: BTreeMap<String, BTreeMap<String, usize>>,
    masked: usize,
    unfit: usize,
    copies: usize,
    beyond: usize,
    unreadable: usize,
    empty: usize,
}

/// Runs the command.
pub fn run(args: &ClassesArgs, quiet: bool) -> Outcome {
    places::check_out_beside_documents("--out", &args.out, &args.paths)?;
    let shares = Shares { validation: args.validation, test: args.test, seed: args.seed };
    shares.check().map_err(Failure::usage)?;
    let (mut classes, mut unreadable, mut empty) = (Vec::new(), 0, 0);
    for path in &args.paths {
        let label = class_of(path);
        if classes.iter().any(|(known, _)| *known == label) {
            return Err(Failure::usage(format!(
                "two paths are the class '{label}': name their files or folders apart"
            )));
        }
        let found = read(std::slice::from_ref(path), &args.source, &[Path::new(&args.out)], quiet)?;
        unreadable += found.skipped;
        empty += found.empty;
        classes.push((label, found.documents));
    }
    if classes.len() < 2 {
        return Err(Failure::usage("one class: name at least two files or folders"));
    }
    let options = MakeOptions {
        mask: args.mask,
        words: args.mask_words.clone(),
        words_each: (args.min_words, args.max_words),
        documents: args.documents,
        shares,
    };
    let made = make(classes, &options);
    let mut lines = String::new();
    let mut counts: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
    for line in &made.lines {
        lines.push_str(&serde_json::to_string(line).map_err(anyhow::Error::from)?);
        lines.push('\n');
        let part = line.split.unwrap_or(Split::Train).to_string();
        *counts.entry(line.label.clone()).or_default().entry(part).or_default() += 1;
    }
    if counts.len() < 2 {
        return Err(Failure::usage("documents of fewer than two classes are left: see --min-words"));
    }
    save_named(&args.out, &lines)?;
    if args.json {
        print_json(&Counts {
            documents: made.lines.len(),
            classes: counts,
            masked: made.masked,
            unfit: made.unfit,
            copies: made.copies,
            beyond: made.beyond,
            unreadable,
            empty,
        })?;
    } else {
        let documents = plural(made.lines.len(), "document");
        let mut said = vec![format!("{}: {documents} of {} classes", shown(&args.out), counts.len())];
        said.extend((made.masked > 0).then(|| format!("{} taken out", plural(made.masked, "name"))));
        said.extend(made.left_out().into_iter().map(|what| format!("left out {what}")));
        say!("{}", said.join("; "));
    }
    Ok(if unreadable > 0 { Status::Incomplete } else { Status::Done })
}
