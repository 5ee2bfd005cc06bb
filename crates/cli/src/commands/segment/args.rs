//! What `pericope segment` is told.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::args::{PolicyArgs, TimeArgs};

pub const SEGMENT_EXAMPLES: &str = "Examples:
  pericope segment README.md
  pericope segment docs/ --segmenter fixed:words=100 --format json
  pericope segment article.md --segmenter window --max-tokens 128 --format html > cuts.html
  pericope segment book.md --segmenter hiercrf --format tree | jq '.. | .children? // empty | length'
  cat notes.txt | pericope segment - --segmenter recursive:chars=800
  pericope segment book.md --segmenter llm:model=qwen2.5:7b,base_url=http://127.0.0.1:11434/v1

`pericope segmenters` lists the segmenters with their keys.";

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
