//! What `pericope tune` is told.

use std::path::PathBuf;

use clap::Args;

use crate::places;

pub const TUNE_EXAMPLES: &str = "Example: how a trained model reads documents best (partition, weighting, threshold)
  pericope tune eval/tune-weswin.toml

The file:
  model = \"models/mine\"              # or \"shipped\"
  data = [\"docs.seg.jsonl\"]
  split = \"validation\"               # train, validation, test; without it all documents
  partitions = [\"cr-1\", \"ss-4\"]    # these keys have defaults
  weights = [\"mean:uniform\", \"mean:lin_k5_e0.1\"]
  write = true                       # into the model's file, where it is not the shipped one

Or a segmenter with scores, its settings and its threshold:
  kind = \"tune\"
  segmenter = \"window:score=cosine\"
  data = [\"docs.seg.jsonl\"]
  split = \"validation\"
  thresholds = [0.0, 1.0, 0.01]        # lowest, highest, step
  grid = { k = [1, 2, 4, 8], pool = [\"mean\", \"min\", \"max\"] }
Thresholds are tried on the scores of one reading; topic cuts anew for each, and by granularity or objective in the grid without one.

Or an experiment with a [sweep] and a [tune]: which of its variants answers best, chosen on the questions of one half of the
documents and reported on the other (see crates/eval/README.md).";

/// `pericope tune`
#[derive(Debug, Args)]
pub struct TuneArgs {
    /// What is tuned, on what
    #[arg(value_name = "CONFIG.toml")]
    pub config: PathBuf,
    /// Override a key of the configuration: split=\"test\"
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// For an experiment: where its runs and tune.json go [default: reports/runs/NAME-tune]
    #[arg(long, value_name = "DIR", value_parser = places::path())]
    pub out: Option<PathBuf>,
    /// For an experiment: go on with an interrupted one
    #[arg(long)]
    pub resume: bool,
    /// For an experiment: use no network at all
    #[arg(long)]
    pub offline: bool,
    /// Only say what its runs may ask of models and pay: calls, tokens, money; needs no key
    #[arg(long)]
    pub dry_run: bool,
    /// One JSON document on standard output
    #[arg(long)]
    pub json: bool,
}
