//! `pericope train embed`

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use clap::Args;
use indicatif::HumanDuration;
use pericope_api::SentenceEncoder;
use pericope_eval::format::{bytes, count, plural};
use pericope_eval::run::{BYTES_PER_TOKEN, Estimate};
use pericope_learn::corpus::{EmbedProgress, EmbedReport, each_record, embed, files};
use pericope_learn::topic::{OwnEncoder, open};
use serde::Serialize;

use crate::commands::dataset::corpus_failure;
use crate::commands::{dry_run, print_json};
use crate::resources::{embedder, shown};
use crate::status::{Failure, Outcome, Status};
use crate::{input, interrupt, places, progress};

pub const TRAIN_EMBED_EXAMPLES: &str = "Examples:
  pericope train embed --data data/train data/heldout --out vectors
  pericope train embed --data more.jsonl.gz --out vectors
  pericope train embed --data own.jsonl --for shipped --out vectors

Every different sentence and heading is embedded once. Several runs into one folder add what is missing. Ctrl-C writes what
is done and ends with status 130; killed, a run loses 8,192 texts at most. The same command goes on in either case.
Vectors are kept in half precision: 792 bytes a text with minilm. A folder holds the vectors of one embedder.";

/// `pericope train embed`
#[derive(Debug, Args)]
pub struct TrainEmbedArgs {
    /// Documents with known boundaries: files, or folders with files *.jsonl and *.jsonl.gz at any depth; may be given
    /// several times
    #[arg(long, required = true, num_args = 1.., value_name = "PATH", value_parser = places::path())]
    pub data: Vec<PathBuf>,
    /// Folder of the vectors; what it has is not computed again
    #[arg(long, value_name = "DIR", value_parser = places::path())]
    pub out: PathBuf,
    /// Embedding model
    #[arg(long, value_name = "SPEC", default_value = "minilm")]
    pub embedder: String,
    /// Embed with the encoder that a model of `train topic` reads with: `shipped`, or its file or folder
    #[arg(long = "for", value_name = "MODEL", conflicts_with = "embedder")]
    pub model: Option<String>,
    /// Only say how many texts and tokens an embedder that costs something would be sent at most; nothing is embedded or written
    #[arg(long)]
    pub dry_run: bool,
    /// One JSON document on standard output
    #[arg(long)]
    pub json: bool,
}

/// What `--json` says.
#[derive(Serialize)]
struct Summary<'a> {
    out: String,
    #[serde(flatten)]
    report: &'a EmbedReport,
    /// Lines that are no document.
    unreadable: usize,
}

/// `pericope train embed`
pub fn run(args: &TrainEmbedArgs, quiet: bool) -> Outcome {
    if args.dry_run {
        return price(args);
    }
    let encoder = match &args.model {
        Some(model) => encoder_of(model)?,
        None => named(&args.embedder, "--embedder")?,
    };
    let interrupted = interrupt::flag()?;
    let bar = progress::work(0, quiet);
    bar.set_message("reading");
    let mut begun = None;
    let report = embed(&args.data, &args.out, encoder.as_ref(), &mut |at| {
        let begun = *begun.get_or_insert_with(Instant::now);
        bar.set_length(at.of_bytes);
        bar.set_position(at.bytes);
        bar.set_message(shown_progress(at, begun.elapsed().as_secs_f64()));
        if interrupted.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    bar.finish_and_clear();
    let report = report.map_err(corpus_failure)?;
    input::report_skipped(&report.skipped);
    if args.json {
        print_json(&Summary { out: shown(&args.out), report: &report, unreadable: report.skipped.count })?;
    } else {
        say!("{}", shown_report(&shown(&args.out), &report));
    }
    Ok(match (report.is_complete(), report.skipped.count) {
        (false, _) => Status::Interrupted,
        (true, 0) => Status::Done,
        (true, _) => Status::Incomplete,
    })
}

/// The encoder of a spec that `flag` led to.
fn named(spec: &str, flag: &str) -> Result<Arc<dyn SentenceEncoder>, Failure> {
    let encoder = embedder(spec, false).map_err(|failure| failure.about(flag))?;
    encoder.ok_or_else(|| Failure::usage("--embedder none gives no vectors: name a model"))
}

/// The encoder that a trained model brings, or the one that it was trained with as it is.
fn encoder_of(model: &str) -> Result<Arc<dyn SentenceEncoder>, Failure> {
    const FLAG: &str = "--for";
    let wrong = |e| Failure::usage(e).about(FLAG);
    let checkpoint = open(model).map_err(wrong)?;
    match OwnEncoder::of(&checkpoint) {
        Some(own) => own.load().map_err(wrong),
        None => named(&checkpoint.settings.encoder, FLAG),
    }
}

/// Says what embedding every different text comes to, those included that the folder has.
fn price(args: &TrainEmbedArgs) -> Outcome {
    let (mut seen, mut letters) = (HashSet::new(), 0);
    let skipped = each_record(&files(&args.data).map_err(corpus_failure)?, &mut |record| {
        for text in record.texts() {
            let mut hasher = DefaultHasher::new();
            text.hash(&mut hasher);
            letters += if seen.insert(hasher.finish()) { text.len() } else { 0 };
        }
        ControlFlow::Continue(())
    });
    let skipped = skipped.map_err(corpus_failure)?;
    input::report_skipped(&skipped);
    dry_run::embedding(
        Some(&args.embedder),
        seen.len(),
        letters.div_ceil(BYTES_PER_TOKEN),
        Estimate::default(),
        "",
        args.json,
    )?;
    Ok(if skipped.count > 0 { Status::Incomplete } else { Status::Done })
}

/// How many are done, how many a second, and the time that is left, by the bytes that are left.
fn shown_progress(at: EmbedProgress, seconds: f64) -> String {
    let done = format!("{} of {}", count(at.texts), plural(at.of_texts, "text"));
    if at.bytes == 0 {
        return done;
    }
    let rate = at.texts as f64 / seconds.max(1e-3);
    let left = seconds * at.of_bytes.saturating_sub(at.bytes) as f64 / at.bytes as f64;
    let left = Duration::try_from_secs_f64(left).unwrap_or(Duration::MAX);
    format!("{done}, {rate:.0}/s, {} left", HumanDuration(left))
}

fn shown_report(out: &str, report: &EmbedReport) -> String {
    let EmbedReport { documents, sentences, headings, distinct, embedded, missing, damaged, .. } = report;
    let mut said = vec![format!(
        "{out}: {} with {} and {}, {} different texts",
        plural(*documents, "document"),
        plural(*sentences, "sentence"),
        plural(*headings, "heading"),
        count(*distinct)
    )];
    let speed = if *embedded > 0 { format!(" ({:.0} a second)", report.texts_per_second) } else { String::new() };
    said.push(format!("embedded {}{speed}, {} in all", count(*embedded), bytes(report.bytes)));
    if *damaged > 0 {
        said.push(format!("damaged files that were made anew: {damaged}"));
    }
    if *missing > 0 {
        said.push(format!("{} left: the same command goes on", plural(*missing, "text")));
    }
    said.join("\n")
}
