//! The command line, as data: the commands, and what several of them are told. What one is told stands in its module.
//! Parsing touches neither disk nor network.

use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use crate::commands::compare::{COMPARE_EXAMPLES, CompareArgs};
use crate::commands::dataset::DatasetCommand;
use crate::commands::demo::{DEMO_EXAMPLES, DemoArgs};
use crate::commands::eval::EvalCommand;
use crate::commands::index::{INDEX_EXAMPLES, IndexArgs};
use crate::commands::init::{INIT_EXAMPLES, InitArgs};
use crate::commands::mcp::{MCP_EXAMPLES, McpArgs};
use crate::commands::models::ModelsCommand;
use crate::commands::nightly::{NIGHTLY_EXAMPLES, NightlyArgs};
use crate::commands::search::{SEARCH_EXAMPLES, SearchArgs};
use crate::commands::segment::{SEGMENT_EXAMPLES, SegmentArgs};
use crate::commands::segment_eval::{SEGMENT_EVAL_EXAMPLES, SegmentEvalArgs};
use crate::commands::serve::{KeysCommand, SERVE_EXAMPLES, ServeArgs};
use crate::commands::train::TrainCommand;
use crate::commands::tune::{TUNE_EXAMPLES, TuneArgs};
use crate::worker::ReadLimits;

/// Cut documents into passages, index them, and measure what the cutting does to retrieval and answers.
#[derive(Debug, Parser)]
#[command(name = "pericope", version, arg_required_else_help = true, max_term_width = 110)]
#[command(after_help = "Exit status: 0 done, 1 a check did not hold or input was left out, 2 wrong usage or \
    configuration, 3 failed while running, 130 interrupted.\nStart here: pericope demo. Then pericope models pull minilm, and pericope index docs/ --into docs.idx")]
pub struct Cli {
    /// Say less: no progress, no notes; errors still show
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show in seconds what cutting does to search, on pages that come with the program
    #[command(after_help = DEMO_EXAMPLES)]
    Demo(DemoArgs),
    /// Cut files into chunks and print them
    #[command(after_help = SEGMENT_EXAMPLES)]
    Segment(SegmentArgs),
    /// Score segmenters against documents whose boundaries are known
    #[command(after_help = SEGMENT_EVAL_EXAMPLES)]
    SegmentEval(SegmentEvalArgs),
    /// Make a project: settings and an index of its own, for this folder and those below it
    #[command(after_help = INIT_EXAMPLES)]
    Init(InitArgs),
    /// Cut, embed and index files or folders
    #[command(after_help = INDEX_EXAMPLES)]
    Index(IndexArgs),
    /// Search an index
    #[command(after_help = SEARCH_EXAMPLES)]
    Search(SearchArgs),
    /// Serve indexes over HTTP: an API, pages, search boxes
    #[command(after_help = SERVE_EXAMPLES)]
    Serve(ServeArgs),
    /// Serve indexes to agents by the Model Context Protocol
    #[command(after_help = MCP_EXAMPLES)]
    Mcp(McpArgs),
    /// Make, list and remove the keys of a server
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Say which chunker is best for some documents: draft questions, run chunkers, decide
    #[command(after_help = COMPARE_EXAMPLES)]
    Compare(CompareArgs),
    /// Compare chunkers by retrieval and answers
    #[command(subcommand)]
    Eval(EvalCommand),
    /// Run an experiment every night and say whether anything got worse
    #[command(after_help = NIGHTLY_EXAMPLES)]
    Nightly(NightlyArgs),
    /// Make, check and split data: questions, boundaries, classes
    #[command(subcommand)]
    Dataset(DatasetCommand),
    /// Train a segmenter, or a judge that finds and reranks answers
    #[command(subcommand)]
    Train(TrainCommand),
    /// Try settings on validation documents and show which does best
    #[command(after_help = TUNE_EXAMPLES)]
    Tune(TuneArgs),
    /// Get, make and check model files
    #[command(subcommand)]
    Models(ModelsCommand),
    /// List the segmenters with their keys
    Segmenters {
        /// One JSON document on standard output
        #[arg(long)]
        json: bool,
    },
    /// List the rerankers with their keys
    Rerankers {
        /// One JSON document on standard output
        #[arg(long)]
        json: bool,
    },
    /// Print a completion script for a shell
    #[command(
        after_help = "Examples:\n  mkdir -p ~/.local/share/bash-completion/completions\n  pericope completions bash > ~/.local/share/bash-completion/completions/pericope\n  mkdir -p ~/.zfunc\n  pericope completions zsh > ~/.zfunc/_pericope\n\nzsh looks in ~/.zfunc where ~/.zshrc says fpath=(~/.zfunc $fpath) before compinit."
    )]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// What the size policy may be told on the command line.
#[derive(Debug, Args)]
pub struct PolicyArgs {
    /// Segmenter and its settings: name or name:key=value,key=value [default: structure, or what a project's settings say]
    #[arg(long, short, value_name = "SPEC")]
    pub segmenter: Option<String>,
    /// Most tokens of a chunk; 0 for no limit [default: what the spec says, else what the embedder reads, at most 512; 256 for minilm
    /// and where nothing embeds]
    #[arg(long, value_name = "N")]
    pub max_tokens: Option<usize>,
    /// Fewest tokens of a chunk: smaller ones are joined with those beside them, within --max-tokens
    #[arg(long, value_name = "N")]
    pub min_tokens: Option<usize>,
    /// Sentences that a chunk repeats of the one before it
    #[arg(long, value_name = "S")]
    pub overlap: Option<usize>,
    /// What counts tokens: minilm, words, a model of `pericope models list`, a tokenizer.json or the folder of one, or cl100k and o200k
    /// (where built in)
    /// [default: that of the model that embeds the chunks; else minilm where the segmenter reads with it, else words]
    #[arg(long, value_name = "NAME|DIR|FILE")]
    pub tokenizer: Option<String>,
    /// What semantic segmenters embed sentences with: minilm, static (a hundred times as quick), or another embedder
    /// [default: static where the index has static vectors, else minilm]
    #[arg(long, value_name = "SPEC")]
    pub segment_embedder: Option<String>,
    /// Take what language models and embedding endpoints say from their caches alone; nothing is asked, and no key is needed
    #[arg(long)]
    pub offline: bool,
}

/// How long a document may take.
#[derive(Debug, Clone, Copy, Args)]
pub struct TimeArgs {
    /// Seconds that a document may take to be read, and then to be cut, and as many again for each MB of it; what takes
    /// longer is left out; 0 for no limit. Sixty times as long where a language model is asked, whose calls have limits of their own; a
    /// program that cuts has its own time beside it
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = seconds)]
    pub file_timeout: f64,
}

impl TimeArgs {
    /// The limits of reading, with that much memory for the readers of untrusted formats, in bytes.
    pub fn limits(self, memory: u64) -> ReadLimits {
        ReadLimits { time: Duration::from_secs_f64(self.file_timeout), memory }
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    /// Some thirty years.
    const MOST: f64 = 1e9;
    text.parse().ok().filter(|n| (0.0..=MOST).contains(n)).ok_or_else(|| "a number of seconds from 0 on".to_owned())
}

/// Which files of a folder are read.
#[derive(Debug, Clone, Args)]
pub struct FileArgs {
    /// Only files that match: '*.md', 'guide/**'; with ! before it, all others; may be given several times
    #[arg(long, value_name = "PATTERN")]
    pub glob: Vec<String>,
    /// Also files that .gitignore or .ignore leave out
    #[arg(long)]
    pub no_ignore: bool,
    /// Also files and folders whose names begin with a dot
    #[arg(long)]
    pub hidden: bool,
    /// Also follow links that lead out of the folder that was named; without it they are left out, and a note names them
    #[arg(long)]
    pub follow_links: bool,
}

impl FileArgs {
    /// The same for the walk through folders.
    pub fn walk(&self) -> pericope_read::WalkOptions {
        pericope_read::WalkOptions {
            gitignore: !self.no_ignore,
            hidden: self.hidden,
            globs: self.glob.clone(),
            follow_links: self.follow_links,
            ..pericope_read::WalkOptions::default()
        }
    }
}

/// Which documents are read.
#[derive(Debug, Clone, Args)]
pub struct SourceArgs {
    /// Largest file that is read, in MB; 0 for no limit
    #[arg(long, value_name = "MB", default_value_t = 0)]
    pub max_file_mb: u64,
    #[command(flatten)]
    pub time: TimeArgs,
    #[command(flatten)]
    pub files: FileArgs,
}

impl SourceArgs {
    /// Bytes of the largest file that is read; 0 for no limit.
    pub fn max_bytes(&self) -> u64 {
        self.max_file_mb.saturating_mul(1_000_000)
    }
}

pub fn positive(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|n: &f64| *n > 0.0 && n.is_finite()).ok_or_else(|| "a number above 0".to_owned())
}

pub fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|k| *k > 0).ok_or_else(|| "a whole number from 1 on".to_owned())
}
