//! The command line, as data: names, help texts, examples. Parsing touches neither disk nor network.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use pericope_segment::split::Split;
use pericope_store::{EXPAND_TOKENS, Expand, LanguageChoice, RERANK_DEPTH, Shard};

use crate::commands::compare::{COMPARE_EXAMPLES, CompareArgs};
use crate::commands::dataset::{
    CLASSES_EXAMPLES, ClassesArgs, DRAFT_EXAMPLES, DatasetSplitArgs, DraftArgs, REVIEW_EXAMPLES, ReviewArgs,
    SPLIT_EXAMPLES, SplitArgs, VALIDATE_EXAMPLES, ValidateArgs,
};
use crate::commands::demo::{DEMO_EXAMPLES, DemoArgs};
use crate::commands::mcp::{MCP_EXAMPLES, McpArgs};
use crate::commands::rerankers::rerank_help;
use crate::commands::serve::{KeysCommand, SERVE_EXAMPLES, ServeArgs};
use crate::commands::train_embed::{TRAIN_EMBED_EXAMPLES, TrainEmbedArgs};
use crate::commands::train_hiercrf::{TRAIN_HIERCRF_EXAMPLES, TrainHiercrfArgs};
use crate::commands::train_judge::{TRAIN_JUDGE_EXAMPLES, TrainJudgeArgs};
use crate::commands::train_topic::{TRAIN_TOPIC_EXAMPLES, TrainTopicArgs};
use crate::places;
use crate::project::checked_url_prefix;
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
    /// Make question sets
    #[command(subcommand)]
    Dataset(DatasetCommand),
    /// Train a segmenter on documents whose boundaries are known
    #[command(subcommand)]
    Train(TrainCommand),
    /// Try settings on validation documents and show which does best
    #[command(after_help = TUNE_EXAMPLES)]
    Tune(TuneArgs),
    /// Get and check model files
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
        after_help = "Examples:\n  pericope completions bash > ~/.local/share/bash-completion/completions/pericope\n  pericope completions zsh > ~/.zfunc/_pericope"
    )]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

const SEGMENT_EXAMPLES: &str = "Examples:
  pericope segment README.md
  pericope segment docs/ --segmenter fixed:words=100 --format json
  pericope segment article.md --segmenter window --max-tokens 128 --format html > cuts.html
  pericope segment book.md --segmenter hiercrf --format tree | jq '.. | .children? // empty | length'
  cat notes.txt | pericope segment - --segmenter recursive:chars=800
  pericope segment book.md --segmenter llm:model=qwen2.5:7b,base_url=http://127.0.0.1:11434/v1

`pericope segmenters` lists the segmenters with their keys.";

const SEGMENT_EVAL_EXAMPLES: &str = "Examples:
  pericope segment-eval --data wiki.jsonl --segmenter texttiling --segmenter window
  pericope segment-eval --data wiki.jsonl --segmenter window --known-count --json
  pericope segment-eval --data choi/ --data wiki.jsonl -s fusion -s bayesseg --plot cuts.svg --per-document cuts.jsonl
  pericope segment-eval --data wiki.jsonl -s llm:config=model.toml -s topic --documents 20
  pericope segment-eval eval/segmentation.toml

Data: one JSON document a line: {\"id\": ..., \"sentences\": [...], \"boundaries\": [...]}; a segment ends after
sentence i (1-based), the document's end is not listed. Or Choi's .ref files, a Wiki-727K folder, WikiSection JSON.";

const PULL_EXAMPLES: &str = "Examples:
  pericope models pull minilm
  pericope models pull static                # gets minilm, and makes its static vectors
  pericope models pull multilingual-e5-small
  HF_ENDPOINT=https://mirror.example pericope models pull bge-m3

Files of minilm are checked against published checksums. Of the others the hub's own checksums are recorded at the first
pull, with the commit; `models verify` compares with them.";

const DISTIL_EXAMPLES: &str = "Examples:
  pericope models distil                     # of minilm, for --embedder static; less than a minute
  pericope models distil minilm --dimension 128 --out small-vectors
  pericope index docs/ --into docs.idx --segmenter fusion --embedder static
  pericope segment docs/ --segmenter fusion:embedder=static:small-vectors

Every token of the vocabulary goes through the encoder by itself; the vectors go to their principal components and are
weighted by how rare the token is (Model2Vec's recipe). A text's vector is the mean of its tokens'.";

const INIT_EXAMPLES: &str = "Examples:
  pericope init
  pericope init docs README.md --url-prefix https://docs.example.org/
  pericope init docs --segmenter window --embedder none

Writes .pericope/pericope.toml, which may be edited. From then on `pericope index` and `pericope search 'x'` need no
--into and no --in in this folder and those below it, and documents are called by their paths from this folder on.
The index lies in .pericope/index, which git ignores.";

/// `pericope init`
#[derive(Debug, Args)]
pub struct InitArgs {
    /// Files or folders to index [default: the whole folder]
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Segmenter and its settings: name or name:key=value,key=value
    #[arg(long, short, value_name = "SPEC", default_value = "structure")]
    pub segmenter: String,
    /// Embedding model: minilm, static, a name that `models list` shows, a folder with a model, openai:MODEL,
    /// fastembed:MODEL or none [default: minilm where it is installed, else none]
    #[arg(long, value_name = "SPEC")]
    pub embedder: Option<String>,
    /// What stands before a document's path in its address
    #[arg(long, value_name = "URL", value_parser = checked_url_prefix)]
    pub url_prefix: Option<String>,
}

const INDEX_EXAMPLES: &str = "Examples:
  pericope index                        (in a project: see pericope init)
  pericope index docs/ --into docs.idx
  pericope index docs/ --into words.idx --embedder none --segmenter structure
  pericope index handbuch/ --into handbuch.idx --embedder none --language de
  pericope index docs/ --into docs.idx --embedder bge-small-en-v1.5        # after: pericope models pull bge-small-en-v1.5
  pericope index docs/ --into docs.idx --embedder ./my-model,dimensions=256
  pericope index corpus.jsonl --into corpus.idx --segmenter 'same-size:reference=window'

  pericope index docs/ --into docs.idx --prune --watch
  pericope index docs/ --into qdrant://localhost:6334/docs --prune
  pericope index docs/ --into qdrant://localhost:6334/docs --shard 2/4
  pericope index docs/ --into docs.idx --late-chunking
  pericope index docs/ --into docs.idx --context-llm model.toml --dry-run
  pericope index --verify docs.idx

Indexing the same folder, named in the same way, again replaces what changed, and costs little where nothing did; an
index remembers its segmenter, embedder, tokenizer and language and refuses others. Hidden files and what .gitignore names are
left out, and so are links out of the folder (--follow-links) and other indexes. Ctrl-C writes what is complete and ends
with status 130; the same command goes on from there.";

const SEARCH_EXAMPLES: &str = "Examples:
  pericope search 'how long does a starter keep'        (in a project: see pericope init)
  pericope search 'how long does a starter keep' --in docs.idx
  pericope search 'replication slot' --in docs.idx --mode bm25 --k 5 --json
  pericope search 'token expired' --in docs.idx --path docs/api/ --heading errors --type md --context 1
  pericope search 'token expired' --in docs.idx --expand parent --expand-tokens 800 --k 3
  pericope search 'token expired' --in docs.idx --rerank cross-encoder:model=models/ms-marco-MiniLM-L6-v2 --k 5
  pericope search 'token expired' --in docs.idx --rerank http://127.0.0.1:8080/rerank --rerank-depth 100 --json
  pericope search 'token expired' --in docs.idx --group --timing --repeat 100
  pericope search 'token expired' --in qdrant://localhost:6334/docs";

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
    /// Chunks under this many tokens are avoided
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

/// `pericope segment`
#[derive(Debug, Args)]
pub struct SegmentArgs {
    /// Files or folders; - reads standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub policy: PolicyArgs,
    /// How to print the chunks
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    pub format: OutputFormat,
    /// Only say what the segmenter may ask of models that cost something: calls, tokens, money, seconds; nothing is cut, and no
    /// key is needed
    #[arg(long)]
    pub dry_run: bool,
    /// What standard input is written in: md, mdx, html, rst, asciidoc, txt, jsonl or pdf
    #[arg(long, value_name = "FORMAT", default_value = "md")]
    pub stdin_format: String,
    /// Also follow links that lead out of the folder that was named; without it they are left out, and a note names them
    #[arg(long)]
    pub follow_links: bool,
    #[command(flatten)]
    pub time: TimeArgs,
}

/// How chunks are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// For people
    Text,
    /// One JSON object a line and chunk
    Json,
    /// One JSON object a line and document: its segments within segments, coarse to fine, whatever the size limits (hiercrf alone)
    Tree,
    /// A page that shows the cuts in the text
    Html,
}

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

/// `pericope index`
#[derive(Debug, Args)]
pub struct IndexArgs {
    /// Files or folders; in a project those of its settings, where none is named
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// The index's folder, or a collection on a Qdrant server: qdrant://HOST:PORT/COLLECTION [default: the project's index]
    #[arg(long, value_name = "DIR|URL", requires = "paths", value_parser = places::index)]
    pub into: Option<String>,
    /// Only read all files of the index in DIR and check them: exit status 0 where it is whole, 1 where it is damaged
    #[arg(long, value_name = "DIR", conflicts_with_all = ["paths", "into", "prune", "watch", "rebuild", "shard"])]
    #[arg(value_parser = places::path())]
    pub verify: Option<PathBuf>,
    #[command(flatten)]
    pub policy: PolicyArgs,
    /// Embedding model: minilm, static, a name that `models list` shows, a folder with a model, openai:MODEL (at
    /// OPENAI_BASE_URL, key in OPENAI_API_KEY), fastembed:MODEL (where built in) or none [default: minilm, or what a
    /// project's settings say]
    #[arg(long, value_name = "SPEC")]
    pub embedder: Option<String>,
    /// The language in which the documents' words are read, by its code (de, ja, ...), or auto: that of each document is
    /// detected [default: what the index was made with, and auto for a new one]
    #[arg(long, value_name = "CODE|auto")]
    pub language: Option<LanguageChoice>,
    /// Let the embedder read the headings above a chunk before its text, and the header of a table before rows that continue
    /// it. Chunks leave room for them: 224 tokens, where nothing else is said
    #[arg(long)]
    pub prefix_headings: bool,
    /// Embed every chunk within its document (late chunking): the model reads the whole document, in overlapping windows where it
    /// is longer than the model's, and a chunk's vector is the mean of its tokens'. For models in a folder, of the list or minilm
    /// that pool by the mean
    #[arg(long, conflicts_with_all = ["prefix_headings", "context_llm"])]
    pub late_chunking: bool,
    /// Have a language model write a sentence or two that place each chunk in its document, which the embedder reads before
    /// its text and by whose words it is found too: a file with a table [llm.context], and limits.budget. Chunks leave room
    /// for them: 192 tokens, where nothing else is said. A chunk that the model has nothing usable for has none
    #[arg(long, value_name = "CONFIG.toml", value_parser = places::path())]
    pub context_llm: Option<PathBuf>,
    /// Remove the documents of files below PATH that are not there any more, and of a PATH that is not. A file that is there and
    /// was left out this time (--glob, .gitignore) keeps its documents
    #[arg(long)]
    pub prune: bool,
    /// Stay, and follow what changes below PATH, until Ctrl-C
    #[arg(long, conflicts_with = "json")]
    pub watch: bool,
    /// Believe size, time and number of a file that was indexed before, rather than read it to see whether it changed
    #[arg(long)]
    pub trust_mtime: bool,
    /// Memory for what is on its way from the files to the index, in MB
    #[arg(long, value_name = "MB", default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..))]
    pub memory: u32,
    /// Text between two commits, in MB: what a crash costs at most
    #[arg(long, value_name = "MB", default_value_t = 64.0, value_parser = positive)]
    pub commit_mb: f64,
    /// A file of vectors to ask before the embedder, and to keep new ones in; several indexes may share it
    #[arg(long, value_name = "FILE", value_parser = places::path())]
    pub embedding_cache: Option<PathBuf>,
    /// Build the index anew (also with another segmenter or embedder); the old one is searched until the new one is
    /// complete
    #[arg(long)]
    pub rebuild: bool,
    /// Only the I-th of N shards of the files, by a hash of their paths: N workers write one collection together
    #[arg(long, alias = "part", value_name = "I/N", conflicts_with = "rebuild")]
    pub shard: Option<Shard>,
    /// Only say how many texts and tokens models that cost something would be sent; nothing is asked, embedded or written
    #[arg(long, conflicts_with = "watch")]
    pub dry_run: bool,
    /// Largest file that is read, in MB; 0 for no limit
    #[arg(long, value_name = "MB", default_value_t = 0)]
    pub max_file_mb: u64,
    #[command(flatten)]
    pub time: TimeArgs,
    #[command(flatten)]
    pub files: FileArgs,
    /// One JSON document on standard output
    #[arg(long)]
    pub json: bool,
}

/// How long a document may take.
#[derive(Debug, Clone, Copy, Args)]
pub struct TimeArgs {
    /// Seconds that a document may take to be read, and then to be cut, and as many again for each MB of it; what takes
    /// longer is left out; 0 for no limit. Sixty times as long where a language model is asked, whose calls have limits of their own
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
    /// Only below headings that hold these words; may be given several times, and one is enough
    #[arg(long, value_name = "TEXT")]
    pub heading: Vec<String>,
    /// Only in files of this type: md, html, txt, rst; may be given several times, and one is enough
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
    #[arg(long, value_name = "N", default_value_t = EXPAND_TOKENS, value_parser = at_least_one)]
    pub expand_tokens: usize,
    #[arg(long, value_name = "SPEC", help = rerank_help())]
    pub rerank: Option<String>,
    /// With --rerank: hits that are scored; the best of them are given, before anything is expanded
    #[arg(long, value_name = "N", default_value_t = RERANK_DEPTH, value_parser = at_least_one)]
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
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = at_least_one)]
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

fn positive(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|n: &f64| *n > 0.0 && n.is_finite()).ok_or_else(|| "a number above 0".to_owned())
}

fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|k| *k > 0).ok_or_else(|| "a whole number from 1 on".to_owned())
}

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

/// `pericope nightly`
#[derive(Debug, Args)]
pub struct NightlyArgs {
    /// The experiment, with its [[gate]]s
    #[arg(value_name = "CONFIG.toml")]
    pub config: PathBuf,
    /// Folder of the history [default: nightly.history of the configuration, else reports/nightly]
    #[arg(long, value_name = "DIR", value_parser = places::path())]
    pub history: Option<PathBuf>,
    /// Override a key of the configuration: nightly.keep=10
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Use no network at all: the webhook is not called
    #[arg(long)]
    pub offline: bool,
    /// Only say what the night may ask of models and pay: calls, tokens, money; needs no key
    #[arg(long, conflicts_with_all = ["pin", "unpin", "accept", "export", "import", "page"])]
    pub dry_run: bool,
    /// What to do instead of running a night
    #[command(flatten)]
    pub action: NightlyAction,
    /// Print latest.json on standard output
    #[arg(long)]
    pub json: bool,
}

/// What `pericope nightly` does without running a night; one at a time.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub struct NightlyAction {
    /// Compare with this night for good, beside the last good one: a number, or last
    #[arg(long, value_name = "NIGHT")]
    pub pin: Option<WhichNight>,
    /// Forget the pinned night
    #[arg(long)]
    pub unpin: bool,
    /// A failed night is as it should be: compare later ones with it
    #[arg(long, value_name = "NIGHT")]
    pub accept: Option<WhichNight>,
    /// Write the whole history as JSON lines
    #[arg(long, value_name = "FILE.jsonl", value_parser = places::path())]
    pub export: Option<PathBuf>,
    /// Add the nights of such a file
    #[arg(long, value_name = "FILE.jsonl", value_parser = places::path())]
    pub import: Option<PathBuf>,
    /// Write page, feed and summaries of the last night again
    #[arg(long)]
    pub page: bool,
}

impl NightlyAction {
    /// True where one is asked for.
    pub fn is_some(&self) -> bool {
        self.pin.is_some()
            || self.unpin
            || self.accept.is_some()
            || self.export.is_some()
            || self.import.is_some()
            || self.page
    }
}

/// A night of the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhichNight {
    /// The newest.
    Last,
    /// The one of this number.
    Number(u32),
}

impl std::str::FromStr for WhichNight {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "last" => Ok(WhichNight::Last),
            number => number
                .parse()
                .ok()
                .filter(|n| *n > 0)
                .map(WhichNight::Number)
                .ok_or_else(|| "a night's number from 1 on, or last".to_owned()),
        }
    }
}

const NIGHTLY_EXAMPLES: &str = "Examples:
  pericope nightly eval/nightly.toml
  pericope nightly eval/nightly.toml --history /var/lib/pericope/nightly --quiet
  pericope nightly eval/nightly.toml --pin last          (compare with this night for good)
  pericope nightly eval/nightly.toml --accept last       (it failed, and that is how it should be)
  pericope nightly eval/nightly.toml --export nights.jsonl

Prints the verdict in one line; exit status 1 where a check does not hold. In the history's folder: index.html,
latest.json, feed.xml, summary.md, junit.xml, badge.svg, metrics.prom, history.db, and nights/NUMBER/ with each night's full
report. docs/nightly.md has more: scheduling, retention, notifications.";

/// `pericope dataset`
#[derive(Debug, Subcommand)]
pub enum DatasetCommand {
    /// Turn headings that ask something into questions, and their sections into answers
    #[command(after_help = "Examples:
  pericope dataset from-docs docs/ --out questions.json
  pericope dataset from-docs docs/ --out questions.json --segmentation boundaries.jsonl")]
    FromDocs(FromDocsArgs),
    /// Draft questions about any documents, without a model or with one
    #[command(after_help = DRAFT_EXAMPLES)]
    Draft(DraftArgs),
    /// Check questions: is the answer where it says, can it be told from other documents, how hard is it
    #[command(after_help = VALIDATE_EXAMPLES)]
    Validate(ValidateArgs),
    /// Write a page on which questions are read, kept, dropped or mended; apply what was decided there
    #[command(after_help = REVIEW_EXAMPLES)]
    Review(ReviewArgs),
    /// Part documents with known boundaries into those to train on, to validate on and to test on; near copies stay together
    #[command(after_help = SPLIT_EXAMPLES)]
    Split(DatasetSplitArgs),
    /// Put documents of several classes into one file, for experiments on classification
    #[command(after_help = CLASSES_EXAMPLES)]
    Classes(ClassesArgs),
    /// Join parts of unrelated documents at known places, for segment-eval
    #[command(after_help = "Examples:
  pericope dataset synthetic docs/ --out joined.jsonl --documents 200 --parts 8 --sentences 3-11
  pericope dataset synthetic wiki.jsonl --out joined.jsonl && pericope segment-eval --data joined.jsonl -s fusion")]
    Synthetic(SyntheticArgs),
}

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

/// `pericope dataset from-docs`
#[derive(Debug, Args)]
pub struct FromDocsArgs {
    /// Files or folders of documentation
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Questions in SQuAD's layout
    #[arg(long, value_name = "FILE.json", value_parser = places::path())]
    pub out: PathBuf,
    /// True segment boundaries, for segment-eval
    #[arg(long, value_name = "FILE.jsonl", value_parser = places::path())]
    pub segmentation: Option<PathBuf>,
    /// Fewest words of an answer
    #[arg(long, value_name = "N", default_value_t = 15)]
    pub min_answer_words: usize,
    /// Leave out documents that hold no question
    #[arg(long)]
    pub no_distractors: bool,
    /// Also follow links that lead out of the folder that was named; without it they are left out, and a note names them
    #[arg(long)]
    pub follow_links: bool,
    #[command(flatten)]
    pub time: TimeArgs,
    /// One JSON document on standard output
    #[arg(long)]
    pub json: bool,
}

/// `pericope train`
#[derive(Debug, Subcommand)]
pub enum TrainCommand {
    /// Compute the sentence vectors of training data once, for the trainings that read vectors
    #[command(after_help = TRAIN_EMBED_EXAMPLES)]
    Embed(TrainEmbedArgs),
    /// HierCRF: the tree of a document's segments, from vectors of its sentences
    #[command(after_help = TRAIN_HIERCRF_EXAMPLES)]
    Hiercrf(TrainHiercrfArgs),
    /// Judge: which blocks of a text answer a question, and where (CogLTX); for answers, reranking and reading without chunks
    #[command(after_help = TRAIN_JUDGE_EXAMPLES)]
    Judge(TrainJudgeArgs),
    /// Topic: where a document's sections end, from vectors of its sentences, words, paragraphs and form
    #[command(after_help = TRAIN_TOPIC_EXAMPLES)]
    Topic(TrainTopicArgs),
    /// WeSWin: a boundary's probability after each sentence, read in windows; with questions, WeSWin-Ret
    #[command(after_help = TRAIN_WESWIN_EXAMPLES)]
    Weswin(TrainWeswinArgs),
    /// NSP: whether a sentence follows the one before it
    #[command(after_help = TRAIN_NSP_EXAMPLES)]
    Nsp(TrainNspArgs),
}

/// What every training takes.
#[derive(Debug, Args)]
pub struct TrainArgs {
    /// Documents with known boundaries, as segment-eval reads them, or folders with files *.jsonl and *.jsonl.gz; may be
    /// given several times
    #[arg(long, required = true, value_name = "PATH", value_parser = places::path())]
    pub data: Vec<PathBuf>,
    /// Folder of the model and of the state that an interrupted training goes on from
    #[arg(long, value_name = "DIR", value_parser = places::path())]
    pub out: PathBuf,
    /// Base model: the name of an installed one, or a folder with config.json, model.safetensors and tokenizer.json
    #[arg(long, value_name = "NAME|DIR", default_value = "minilm", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub base: String,
    /// Go on from a trained model instead of the base model: a file or folder of an earlier training (weswin: or `shipped`).
    /// Layers that it trained and that are frozen now stay as it has them; --out must be another folder
    #[arg(long, value_name = "MODEL", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub start: Option<String>,
    /// Train on all documents, those that are otherwise kept for validation and test too, but for those of --held-out
    #[arg(long)]
    pub no_holdout: bool,
    #[command(flatten)]
    pub split: SplitArgs,
    /// Tokens of a sequence, special tokens included [default: 512, or what the base model reads; nsp: 256]
    #[arg(long, value_name = "N")]
    pub tokens: Option<usize>,
    /// Lower layers that stay as they are
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub frozen: usize,
    /// Train changes of this rank to the matrices of the layers, in place of the layers themselves (LoRA): a small model, though every
    /// layer changes (with --frozen 0); 0: the layers themselves [default: that of the model of --start; 0 without one]
    #[arg(long, value_name = "N")]
    pub rank: Option<usize>,
    /// Passes over the data, at most [default: 4; nsp: 1]
    #[arg(long, value_name = "X")]
    pub epochs: Option<f64>,
    /// Sequences a step [default: 8; nsp: 32]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub batch: Option<usize>,
    /// Sequences whose gradients are worked out at once: less memory where it is lower [default: 2; nsp: 8]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub micro_batch: Option<usize>,
    /// Highest learning rate of the encoder [default: 1.5e-4; nsp: 1e-4]
    #[arg(long, value_name = "X")]
    pub learning_rate: Option<f64>,
    /// Highest learning rate of the heads
    #[arg(long, value_name = "X", default_value_t = 1e-3)]
    pub head_learning_rate: f64,
    /// Validations without a better F1 after which training ends
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = at_least_one)]
    pub patience: usize,
    /// Validations a pass [default: 4; nsp: 8]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub validations: Option<usize>,
    /// Steps at most; 0: as many as the passes have
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub max_steps: usize,
    /// Another seed, another order
    #[arg(long, value_name = "N", default_value_t = 7)]
    pub seed: u64,
    /// Write half precision: half the size
    #[arg(long)]
    pub half: bool,
    /// One JSON document on standard output
    #[arg(long)]
    pub json: bool,
}

/// `pericope train weswin`
#[derive(Debug, Args)]
pub struct TrainWeswinArgs {
    #[command(flatten)]
    pub common: TrainArgs,
    /// Questions in SQuAD's layout, for the head that says which sentences answer; may be given several times. They are
    /// parted as documents are; without any the model has no such head
    #[arg(long, value_name = "FILE.json", value_parser = places::path())]
    pub questions: Vec<PathBuf>,
    /// A batch of questions comes with every so many steps
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = at_least_one)]
    pub questions_every: usize,
    /// Give a batch of questions a step of its own rather than a part in that of the boundaries; with --questions-every 1
    /// batches of boundaries and of questions alternate, as published
    #[arg(long)]
    pub questions_apart: bool,
    /// Training sequences: cr-1, or ss-4 where documents are few
    #[arg(long, value_name = "PARTITION", default_value = "cr-1")]
    pub partition: String,
}

/// `pericope train nsp`
#[derive(Debug, Args)]
pub struct TrainNspArgs {
    #[command(flatten)]
    pub common: TrainArgs,
}

const TRAIN_WESWIN_EXAMPLES: &str = "Examples:
  pericope train weswin --data docs.seg.jsonl --data wiki.jsonl --out models/mine
  pericope train weswin --data few.jsonl --start shipped --partition ss-4 --learning-rate 5e-5 --out models/tuned
  pericope segment README.md --segmenter weswin:model=models/mine

Documents are parted by a hash of their ids: 80 in 100 train, 10 validate, 10 are left for (--validation, --test, --by)
  pericope segment-eval --data docs.seg.jsonl --split test -s weswin:model=models/mine
Training ends when the F1 on the validation documents rises no more. Stopped at any moment, the same command goes on from
the state in --out, which is saved once a minute: at most the last 60 seconds are lost.
With --questions each validation says how often the sentence ranked first answers, and the mean reciprocal rank (MRR).
Frozen layers are run once; what they give is kept in --out until the end (768 bytes a token of MiniLM).
Make data from documentation: pericope dataset from-docs docs/ --out questions.json --segmentation docs.seg.jsonl";

const TRAIN_NSP_EXAMPLES: &str = "Examples:
  pericope train nsp --data docs.seg.jsonl --data wiki.jsonl --out models/nsp
  pericope segment README.md --segmenter nsp:model=models/nsp
  pericope segment README.md --segmenter nsp:model=/path/to/bert-base-uncased,one_minus_p=1e-4     (no training needed)

Neighbouring sentences against sentences from another document. Documents are parted as for `train weswin`.";

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

const TUNE_EXAMPLES: &str = "Example: how a trained model reads documents best (partition, weighting, threshold)
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

/// `pericope models`
#[derive(Debug, Subcommand)]
pub enum ModelsCommand {
    /// Show the models that are known and which are installed
    List {
        /// One JSON document on standard output
        #[arg(long)]
        json: bool,
    },
    /// Fetch a model and check it; goes on where an interrupted fetch stopped
    #[command(after_help = PULL_EXAMPLES)]
    Pull {
        /// Name, as `models list` shows it
        #[arg(default_value = "minilm")]
        name: String,
    },
    /// Make static vectors of an encoder: one vector a token, a hundred times as quick to embed with
    #[command(after_help = DISTIL_EXAMPLES)]
    Distil {
        /// The encoder: an installed model, or a folder with config.json, model.safetensors and tokenizer.json
        #[arg(default_value = "minilm", value_name = "NAME|DIR")]
        model: String,
        /// Folder of the static vectors, in Model2Vec's layout [default: that of the embedder `static`, for minilm]
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
        /// Numbers of a vector, at most the encoder's
        #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=65_536))]
        dimension: u32,
        /// One JSON document on standard output
        #[arg(long)]
        json: bool,
    },
    /// Compare an installed model's files with their checksums
    Verify {
        /// Name; all installed models where none is given
        name: Option<String>,
    },
}
