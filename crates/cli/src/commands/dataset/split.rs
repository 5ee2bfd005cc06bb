//! `pericope dataset split`, and the options by which documents are parted everywhere.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use pericope_eval::format::plural;
use pericope_learn::corpus::{Corpus, CorpusError, Counts, Record, SourceCounts, SplitOptions, SplitReport, Unit};
use pericope_segment::split::Shares;
use pericope_util::StagedFile;
use serde::Serialize;

use super::save;
use crate::commands::print_json;
use crate::commands::train::corpus;
use crate::resources::shown;
use crate::status::{Failure, Outcome, Status};
use crate::{places, progress};

pub const SPLIT_EXAMPLES: &str = "Examples:
  pericope dataset split --data data/train --out parted
  pericope dataset split --data data/train --held-out data/heldout --by source --validation 0.05 --test 0 --cap 20000 --out parted

Writes train.jsonl, validation.jsonl, test.jsonl, and split.json, which says what each source gave. A document's part follows
from its id (with --by source, from its source's name), the shares and the seed. Near copies go to the same part: documents of
which three tenths of the smaller one's runs of thirteen words stand in the other. Where one of them is tested on, all are.";

/// The unit that is chosen for a part.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum By {
    /// Each document for itself
    Document,
    /// All documents of a source together
    Source,
}

impl From<By> for Unit {
    fn from(by: By) -> Self {
        match by {
            By::Document => Self::Document,
            By::Source => Self::Source,
        }
    }
}

/// How documents are parted.
#[derive(Debug, Clone, Args)]
pub struct SplitArgs {
    /// Share to validate on, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.1)]
    pub validation: f64,
    /// Share to test on, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.1)]
    pub test: f64,
    /// What is chosen for a part: single documents, or whole sources
    #[arg(long, value_name = "UNIT", value_enum, default_value_t = By::Document)]
    pub by: By,
    /// Another seed, other parts
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub split_seed: u64,
    /// Sentences of one source in training and in validation, at most; 0: no limit
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub cap: usize,
    /// Documents of one source in training and in validation, at most; 0: no limit
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub cap_documents: usize,
    /// Documents to train on, at most; 0: no limit. More hold those of less
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub documents: usize,
    /// Documents that are kept apart: files, or folders with files *.jsonl and *.jsonl.gz. Neither they nor their sources nor
    /// near copies of them are trained on; may be given several times
    #[arg(long, num_args = 1.., value_name = "PATH", value_parser = places::path())]
    pub held_out: Vec<PathBuf>,
    /// What --held-out keeps apart: those documents and their near copies alone, or also all of their sources
    #[arg(long, value_name = "UNIT", value_enum, default_value_t = By::Source)]
    pub held_out_by: By,
}

impl SplitArgs {
    /// The options of the split; with `all`, nothing but what is held out is kept from training.
    pub fn options(&self, all: bool) -> SplitOptions {
        let shares = Shares { validation: self.validation, test: self.test, seed: self.split_seed };
        SplitOptions {
            unit: self.by.into(),
            held_out: self.held_out_by.into(),
            shares: if all { Shares { validation: 0.0, test: 0.0, ..shares } } else { shares },
            cap_sentences: self.cap,
            cap_documents: self.cap_documents,
            documents: self.documents,
        }
    }
}

/// `pericope dataset split`
#[derive(Debug, Args)]
pub struct DatasetSplitArgs {
    /// Documents with known boundaries, as segment-eval reads them, or folders with files *.jsonl and *.jsonl.gz at any
    /// depth; may be given several times
    #[arg(long, required = true, num_args = 1.., value_name = "PATH", value_parser = places::path())]
    pub data: Vec<PathBuf>,
    /// Folder of the parts
    #[arg(long, value_name = "DIR", value_parser = places::path())]
    pub out: PathBuf,
    #[command(flatten)]
    pub split: SplitArgs,
    /// One JSON document on standard output
    #[arg(long)]
    pub json: bool,
}

/// What `--json` and `split.json` say.
#[derive(Serialize)]
struct Summary<'a> {
    options: SplitOptions,
    #[serde(flatten)]
    report: &'a SplitReport,
    /// Lines that are no document.
    unreadable: usize,
    sources: &'a BTreeMap<String, SourceCounts>,
}

/// Runs the command.
pub fn run(args: &DatasetSplitArgs, quiet: bool) -> Outcome {
    let options = args.split.options(false);
    for name in ["train.jsonl", "validation.jsonl", "test.jsonl", "split.json"] {
        places::check_out("--out", &args.out.join(name), &args.data)?;
        places::check_out("--out", &args.out.join(name), &args.split.held_out)?;
    }
    let bar = progress::work(0, quiet);
    bar.set_message("reading");
    let corpus = corpus(&args.data, &args.split, false);
    bar.finish_and_clear();
    let corpus = corpus?;
    fs::create_dir_all(&args.out).map_err(|e| Failure::runtime(format!("{}: {e}", shown(&args.out))))?;
    for (name, records) in [("train", &corpus.train), ("validation", &corpus.validation), ("test", &corpus.test)] {
        write(&args.out.join(format!("{name}.jsonl")), records)?;
    }
    let Corpus { report, sources, skipped, .. } = &corpus;
    let summary = Summary { options, report, unreadable: skipped.count, sources };
    let text = serde_json::to_string_pretty(&summary).map_err(anyhow::Error::from)?;
    save(&args.out.join("split.json"), &format!("{text}\n"))?;
    if args.json {
        print_json(&summary)?;
    } else {
        say!("{}: {}", shown(&args.out), shown_report(report));
    }
    Ok(if skipped.count > 0 { Status::Incomplete } else { Status::Done })
}

fn write(path: &Path, records: &[Record]) -> Result<(), Failure> {
    let written = || -> std::io::Result<()> {
        let mut out = StagedFile::create(path)?;
        for record in records {
            serde_json::to_writer(&mut out, record)?;
            out.write_all(b"\n")?;
        }
        out.commit()
    };
    written().map_err(|e| Failure::runtime(format!("{}: {e}", shown(path))))
}

/// What a split did, in words.
pub fn shown_report(report: &SplitReport) -> String {
    let part = |name: &str, counts: &Counts| {
        let Counts { sources, documents, sentences } = *counts;
        format!(
            "{name} {} of {} ({})",
            plural(documents, "document"),
            plural(sources, "source"),
            plural(sentences, "sentence")
        )
    };
    let SplitReport { train, validation, test, left_out, groups, near_copies, largest_group, moved, .. } = report;
    let mut said = vec![part("train", train), part("validation", validation), part("test", test)];
    if left_out.documents > 0 {
        said.push(part("left out", left_out));
    }
    if *groups > 0 {
        said.push(format!(
            "{near_copies} near copies in {} (the largest has {largest_group}), of which {moved} changed their part",
            plural(*groups, "group")
        ));
    }
    said.join("; ")
}

/// What the user can mend before anything runs, and what went wrong while running.
pub fn corpus_failure(error: CorpusError) -> Failure {
    Failure::of(error.is_usage(), error)
}
