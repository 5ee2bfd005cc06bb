//! What `pericope segment-eval` is told.

use std::path::PathBuf;

use clap::Args;
use pericope_segment::split::Split;

use crate::places;

pub const SEGMENT_EVAL_EXAMPLES: &str = "Examples:
  pericope segment-eval --data wiki.jsonl --segmenter texttiling --segmenter window
  pericope segment-eval --data wiki.jsonl --segmenter window --known-count --json
  pericope segment-eval --data choi/ --data wiki.jsonl -s fusion -s bayesseg --plot cuts.svg --per-document cuts.jsonl
  pericope segment-eval --data wiki.jsonl -s llm:config=model.toml -s topic --documents 20
  pericope segment-eval eval/segmentation.toml

Data: one JSON document a line: {\"id\": ..., \"sentences\": [...], \"boundaries\": [...]}; a segment ends after
sentence i (1-based), the document's end is not listed. Or Choi's .ref files, a Wiki-727K folder, WikiSection JSON.";

/// `pericope segment-eval`
#[derive(Debug, Args)]
pub struct SegmentEvalArgs {
    /// An experiment file with data and segmenters: writes a report
    #[arg(value_name = "CONFIG.toml", conflicts_with_all = ["data", "segmenter", "known_count", "plot", "per_document"])]
    pub config: Option<PathBuf>,
    /// Documents with known boundaries: our JSONL, Choi's .ref files, a Wiki-727K folder, WikiSection JSON; may be given
    /// several times
    #[arg(long, required_unless_present = "config", value_name = "PATH", value_parser = places::path())]
    pub data: Vec<PathBuf>,
    /// Segmenter to score; may be given several times
    #[arg(long, short, required_unless_present = "config", value_name = "SPEC")]
    pub segmenter: Vec<String>,
    /// Tell the segmenters the true number of segments
    #[arg(long)]
    pub known_count: bool,
    /// Most documents of a set, drawn by the hash of their ids; 0: all
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub documents: usize,
    /// Seed of that draw
    #[arg(long, value_name = "N", default_value_t = 7)]
    pub seed: u64,
    /// Only the documents of this split, as `pericope train` splits them by their ids: train, validation or test
    #[arg(long, alias = "part", value_name = "PART")]
    pub split: Option<Split>,
    /// Draw the segmentations as coloured bars, the truth on top (at most 40 documents)
    #[arg(long, value_name = "FILE.svg", value_parser = places::path())]
    pub plot: Option<PathBuf>,
    /// Write every document's boundaries and figures, a JSON object a line
    #[arg(long, value_name = "FILE.jsonl", value_parser = places::path())]
    pub per_document: Option<PathBuf>,
    /// Take what language models say (the segmenter llm) from their cache alone
    #[arg(long)]
    pub offline: bool,
    /// With an experiment file: the report's folder [default: reports/runs/NAME]
    #[arg(long, value_name = "DIR", requires = "config", conflicts_with = "data", value_parser = places::path())]
    pub out: Option<PathBuf>,
    /// With an experiment file: override a key
    #[arg(long, value_name = "KEY=VALUE", requires = "config", conflicts_with = "data")]
    pub set: Vec<String>,
    /// With an experiment file: only print what it comes down to, every key with its default filled in and a checksum of all,
    /// as one JSON document; needs no data and no model
    #[arg(long, requires = "config", conflicts_with_all = ["data", "out"])]
    pub settings: bool,
    /// Only say what the segmenters may ask of models that cost something: calls, tokens, money, seconds; nothing is cut or
    /// written, and no key is needed
    #[arg(long, conflicts_with_all = ["settings", "plot", "per_document"])]
    pub dry_run: bool,
    /// One JSON document on standard output
    #[arg(long)]
    pub json: bool,
}
