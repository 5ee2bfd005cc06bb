//! What `pericope eval` is told.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::args::at_least_one;
use crate::places;

/// `pericope eval`
#[derive(Debug, Subcommand)]
pub enum EvalCommand {
    /// Run an experiment and write its report
    #[command(after_help = "Examples:
  pericope eval run eval/quickstart.toml
  pericope eval run eval/documentation.toml --out runs/a --set data.questions=100 --set retrieval.k=[1,5]
  pericope eval run eval/nlquad.toml --dry-run       (calls, tokens and money, and nothing is asked)
  pericope eval run eval/documentation.toml --limit 10 --trec runs/trec
  pericope eval run eval/segmentation.toml       (the same as segment-eval eval/segmentation.toml)
  pericope eval run eval/classification.toml     (classes of documents from their segments)")]
    Run(EvalRunArgs),
    /// Write the report of finished runs again, or of several side by side
    #[command(after_help = "Examples:
  pericope eval report reports/runs/quickstart
  pericope eval report run-a run-b --out compared")]
    Report(EvalReportArgs),
    /// Compare a judge's scores with those of people
    #[command(after_help = CALIBRATE_EXAMPLES)]
    Calibrate(CalibrateArgs),
}

/// `pericope eval run`
#[derive(Debug, Args)]
pub struct EvalRunArgs {
    /// The experiment
    #[arg(value_name = "CONFIG.toml")]
    pub config: PathBuf,
    /// Where the run's files go [default: reports/runs/NAME]
    #[arg(long, value_name = "DIR", value_parser = places::path())]
    pub out: Option<PathBuf>,
    /// Go on with an interrupted run of the same configuration
    #[arg(long)]
    pub resume: bool,
    /// Use no network at all
    #[arg(long)]
    pub offline: bool,
    /// Override a key of the configuration: data.questions=0
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Ask only the first N questions of the sample (the same as --set data.limit=N)
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub limit: Option<usize>,
    /// Also write rankings and gold in TREC's formats, for pytrec_eval, ir_measures and trec_eval: CHUNKER.MODE.run and
    /// CHUNKER.qrels
    #[arg(long, value_name = "DIR", value_parser = places::path())]
    pub trec: Option<PathBuf>,
    /// Only say what the run may ask of models and pay: calls, tokens, money; needs no key
    #[arg(long)]
    pub dry_run: bool,
    /// Only print what the configuration comes down to: every key with its default filled in and a checksum of all, as one JSON
    /// document; needs no data and no model
    #[arg(long, conflicts_with_all = ["out", "resume", "limit", "trec", "dry_run"])]
    pub settings: bool,
    /// Print the summary as one JSON document on standard output
    #[arg(long)]
    pub json: bool,
}

const CALIBRATE_EXAMPLES: &str = "Examples:
  pericope eval calibrate labels.csv                         (the file holds the judge's scores too)
  pericope eval calibrate labels.csv --run reports/runs/documentation
  pericope eval calibrate labels.csv --run reports/runs/documentation --metric judge_lexical --json

The file: a head line with the columns' names, then a line for each answer that a person scored.
  question_id   the question, as in items.jsonl
  human         the person's score, 0 to 10
  judge         the judge's score, 0 to 10; without it (or where it is empty) it is taken from the run's items
  answer        the answer's text; with --run it also says which item is meant
  chunker, mode, k, token_budget   which item of the run is meant, as far as the answer does not say
  document      what the question is about; questions of one document are drawn together for the intervals
  position      a number from 1: where the answer stood when it was judged. Without it, with --run: the rank of the
                retrieved chunk that it was taken from
Other columns are passed over.";

/// `pericope eval calibrate`
#[derive(Debug, Args)]
pub struct CalibrateArgs {
    /// Answers with people's scores
    #[arg(value_name = "LABELS.csv", value_parser = places::path())]
    pub labels: PathBuf,
    /// A finished run, for judge's scores, answers and documents that the file does not hold
    #[arg(long, value_name = "DIR", value_parser = places::path())]
    pub run: Option<PathBuf>,
    /// With --run: the metric that holds the judge's scores: judge or judge_lexical
    #[arg(long, value_name = "NAME", default_value = "judge", requires = "run")]
    pub metric: String,
    /// Seed of the bootstrap
    #[arg(long, value_name = "N", default_value_t = 7)]
    pub seed: u64,
    /// One JSON document on standard output
    #[arg(long)]
    pub json: bool,
}

/// `pericope eval report`
#[derive(Debug, Args)]
pub struct EvalReportArgs {
    /// Folders of finished runs
    #[arg(required = true, value_name = "RUN_DIR", value_parser = places::path())]
    pub runs: Vec<PathBuf>,
    /// Where the report goes [default: the run's own folder; needed for several runs]
    #[arg(long, value_name = "DIR", value_parser = places::path())]
    pub out: Option<PathBuf>,
}
