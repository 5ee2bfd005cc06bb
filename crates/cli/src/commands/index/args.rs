//! What `pericope index` is told.

use std::path::PathBuf;

use clap::Args;
use pericope_store::{LanguageChoice, Shard};

use crate::args::{PolicyArgs, SourceArgs, positive};
use crate::places;

pub const INDEX_EXAMPLES: &str = "Examples:
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
    #[command(flatten)]
    pub source: SourceArgs,
    /// One JSON document on standard output
    #[arg(long)]
    pub json: bool,
}
