//! What `pericope dataset` is told; what one of its commands alone is told stands beside it where it is short.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use pericope_eval::data::draft::QuestionKind;

use super::classes::{CLASSES_EXAMPLES, ClassesArgs};
use super::from_docs::FromDocsArgs;
use super::split::{DatasetSplitArgs, SPLIT_EXAMPLES};
use super::synthetic::SyntheticArgs;
use crate::args::SourceArgs;
use crate::places;

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

pub const DRAFT_EXAMPLES: &str = "Examples:
  pericope dataset draft docs/ --out questions.json
  pericope dataset draft docs/ --out questions.json --questions 500 --kinds heading,definition
  pericope dataset draft docs/ --out questions.json --llm model.toml --dry-run
  pericope dataset validate questions.json
  pericope dataset review questions.json --out review.html

No model is needed. Kinds: asked (headings that ask), heading (paths of other headings), definition (what is X),
table (row and column of a table), terms (rare words of a sentence). Half ask for sections (asked, heading), half for a few
sentences; kinds and documents take turns. The words of headings
that became queries are taken out of the documents; every byte keeps its place. docs/compare.md has more.
With --llm a model writes the questions and quotes the answers: a file with a table [llm.generator], as experiments have it.";

pub const VALIDATE_EXAMPLES: &str = "Examples:
  pericope dataset validate questions.json
  pericope dataset validate questions.json --json

Broken: the answer is not where the file says. Doubtful: the answer also stands elsewhere, another question asks the same, or
a heading says all of the question. The ranks are those of a search by words (BM25) over passages of about 100 words.
Exit status 1 where a question is broken.";

pub const REVIEW_EXAMPLES: &str = "Examples:
  pericope dataset review questions.json --out review.html
  pericope dataset review questions.json --apply decisions.json --out kept.json

The page needs no server and loads nothing. Keys: j and k go through the questions, y keeps, n drops, e mends, s saves the
decisions as decisions.json.";

/// How questions are drafted.
#[derive(Debug, Clone, Args)]
pub struct QuestionArgs {
    /// Questions to draft, at most
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub questions: u32,
    /// Another seed, other questions
    #[arg(long, value_name = "N", default_value_t = 7)]
    pub seed: u64,
    /// Kinds of questions, by commas [default: asked,heading,definition,table,terms]
    #[arg(long, value_name = "KINDS", value_delimiter = ',', conflicts_with = "llm")]
    pub kinds: Vec<QuestionKind>,
    /// Have a model write the questions: a file with a table [llm.generator], and limits.budget
    #[arg(long, value_name = "CONFIG.toml")]
    pub llm: Option<PathBuf>,
    /// Say how many calls, tokens and how much money models take (with --llm, or with an embedder behind an endpoint), ask
    /// nothing and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Use no network at all: a model's answers come from the cache alone
    #[arg(long)]
    pub offline: bool,
}

/// `pericope dataset draft`
#[derive(Debug, Args)]
pub struct DraftArgs {
    /// Files or folders of documents, read as `pericope index` does
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Documents and questions in SQuAD's layout
    #[arg(long, value_name = "FILE.json", value_parser = places::path())]
    pub out: PathBuf,
    #[command(flatten)]
    pub drafting: QuestionArgs,
    #[command(flatten)]
    pub source: SourceArgs,
    /// One JSON document on standard output
    #[arg(long)]
    pub json: bool,
}

/// `pericope dataset validate`
#[derive(Debug, Args)]
pub struct ValidateArgs {
    /// Questions in SQuAD's layout
    #[arg(value_name = "FILE.json", value_parser = places::path())]
    pub questions: PathBuf,
    /// One JSON document on standard output
    #[arg(long)]
    pub json: bool,
}

/// `pericope dataset review`
#[derive(Debug, Args)]
pub struct ReviewArgs {
    /// Questions in SQuAD's layout
    #[arg(value_name = "FILE.json", value_parser = places::path())]
    pub questions: PathBuf,
    /// The page to write; with --apply, the questions that stay
    #[arg(long, value_name = "FILE", value_parser = places::path())]
    pub out: PathBuf,
    /// Apply the decisions that the page saved
    #[arg(long, value_name = "DECISIONS.json", value_parser = places::path())]
    pub apply: Option<PathBuf>,
    /// With --apply: leave out the questions without a decision
    #[arg(long, requires = "apply")]
    pub drop_undecided: bool,
    /// One JSON document on standard output
    #[arg(long)]
    pub json: bool,
}
