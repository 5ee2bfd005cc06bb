use std::path::PathBuf;

use clap::Args;

use crate::commands::dataset::{QuestionArgs, SourceArgs};
use crate::places;

pub const COMPARE_EXAMPLES: &str = "Examples:
  pericope compare docs/
  pericope compare docs/ --chunker recursive:tokens=400 --chunker mine=structure:max_tokens=500
  pericope compare docs/ --chunker 'command:python3 my_chunker.py' --out compared --questions 500
  pericope compare docs/ --embedder none            (words alone: fast, needs no model)
  pericope compare --questions-file kept.json --out compared-again

Reads the documents as `pericope index` does, drafts questions about them, cuts them in five ways and in yours, and says
which way finds the answers best within the same number of tokens, and how sure that is. Into --out go questions.json,
compare.toml (for `pericope eval run`) and run/index.html. Exit status 1 where files could not be read.
docs/compare.md has more.";

/// `pericope compare`
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Files or folders of documents
    #[arg(value_name = "PATH", required_unless_present = "questions_file")]
    pub paths: Vec<PathBuf>,
    /// A chunker of yours, beside the five: a spec, or NAME=SPEC; may be given several times
    #[arg(long, short, value_name = "[NAME=]SPEC")]
    pub chunker: Vec<String>,
    /// Compare the chunkers named with --chunker alone
    #[arg(long, requires = "chunker")]
    pub only: bool,
    /// Where everything goes
    #[arg(long, value_name = "DIR", default_value = "pericope-compare", value_parser = places::path())]
    pub out: PathBuf,
    /// Take these questions, and the documents that are in the file with them, rather than draft some (SQuAD's layout)
    #[arg(long, value_name = "FILE.json", conflicts_with_all = ["paths", "llm", "kinds"], value_parser = places::path())]
    pub questions_file: Option<PathBuf>,
    /// Embedding model: minilm, openai:MODEL, fastembed:MODEL or none [default: minilm where it is installed, else none]
    #[arg(long, value_name = "SPEC")]
    pub embedder: Option<String>,
    #[command(flatten)]
    pub drafting: QuestionArgs,
    #[command(flatten)]
    pub source: SourceArgs,
    /// One JSON document on standard output
    #[arg(long)]
    pub json: bool,
}
