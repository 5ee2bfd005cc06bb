//! What `pericope search` is told.

use clap::{Args, ValueEnum};
use pericope_store::{EXPAND_TOKENS, Expand, RERANK_DEPTH};

use crate::args::at_least_one;
use crate::commands::rerankers::rerank_help;
use crate::places;

pub const SEARCH_EXAMPLES: &str = "Examples:
  pericope search 'how long does a starter keep'        (in a project: see pericope init)
  pericope search 'how long does a starter keep' --in docs.idx
  pericope search 'replication slot' --in docs.idx --mode bm25 --k 5 --json
  pericope search 'token expired' --in docs.idx --path docs/api/ --heading errors --type md --context 1
  pericope search 'token expired' --in docs.idx --expand parent --expand-tokens 800 --k 3
  pericope search 'token expired' --in docs.idx --rerank cross-encoder:model=models/ms-marco-MiniLM-L6-v2 --k 5
  pericope search 'token expired' --in docs.idx --rerank http://127.0.0.1:8080/rerank --rerank-depth 100 --json
  pericope search 'token expired' --in docs.idx --group --timing --repeat 100
  pericope search 'token expired' --in qdrant://localhost:6334/docs";

/// `pericope search`
#[derive(Debug, Args)]
pub struct SearchArgs {
    /// What to look for
    pub query: String,
    /// The index's folder, or a collection on a Qdrant server: qdrant://HOST:PORT/COLLECTION [default: the project's index]
    #[arg(long = "in", value_name = "DIR|URL", value_parser = places::index)]
    pub index: Option<String>,
    /// How to rank: bm25 (words), dense (meaning) or hybrid (both) [default: hybrid where the index has vectors]
    #[arg(long, value_name = "MODE")]
    pub mode: Option<String>,
    /// Number of hits, at least 1; with --group, number of documents
    #[arg(long, short, default_value_t = 10, value_parser = at_least_one)]
    pub k: usize,
    /// Only in documents whose ids begin with this: docs/guide/; may be given several times, and one is enough
    #[arg(long, value_name = "PREFIX")]
    pub path: Vec<String>,
    /// Only below or with headings that hold these words; may be given several times, and one is enough
    #[arg(long, value_name = "TEXT")]
    pub heading: Vec<String>,
    /// Only in files of this type: md (MDX too), html, rst, adoc, pdf, txt, or another ending; may be given several times, and one
    /// is enough
    #[arg(long = "type", value_name = "TYPE")]
    pub file_type: Vec<String>,
    /// Show so many chunks before and after each hit, too
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub context: usize,
    /// What is given back in place of each chunk that is found: parent (the coarsest section around it that fits), merge (a
    /// section where most of its chunks are found), neighbours:N (N chunks before and after it), segment (the best run of
    /// chunks around it) or none
    #[arg(long, value_name = "HOW", default_value_t = Expand::None, conflicts_with = "context")]
    pub expand: Expand,
    /// With --expand: tokens of a hit, at most
    #[arg(long, value_name = "N", requires = "expand", default_value_t = EXPAND_TOKENS, value_parser = at_least_one)]
    pub expand_tokens: usize,
    #[arg(long, value_name = "SPEC", help = rerank_help())]
    pub rerank: Option<String>,
    /// With --rerank: hits that are scored; the best of them are given, before anything is expanded
    #[arg(long, value_name = "N", requires = "rerank", default_value_t = RERANK_DEPTH, value_parser = at_least_one)]
    pub rerank_depth: usize,
    /// Put the hits of a document together: the best three of each
    #[arg(long)]
    pub group: bool,
    /// What offsets count
    #[arg(long, value_enum, value_name = "UNIT", default_value_t = Offsets::Bytes)]
    pub offsets: Offsets,
    /// Say how long the query took: half of the runs, and 95 in 100, took no longer
    #[arg(long)]
    pub timing: bool,
    /// With --timing: ask so many times
    #[arg(long, value_name = "N", requires = "timing", default_value_t = 20, value_parser = at_least_one)]
    pub repeat: usize,
    /// Only say what embedding the query would be sent where that costs something; nothing is searched
    #[arg(long)]
    pub dry_run: bool,
    /// One JSON document on standard output
    #[arg(long)]
    pub json: bool,
}

/// What offsets count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Offsets {
    /// Bytes of UTF-8
    Bytes,
    /// Characters (Unicode scalar values)
    Chars,
}
