use std::path::PathBuf;

use clap::Args;

use crate::places;

pub const DEMO_EXAMPLES: &str = "Examples:
  pericope demo
  pericope demo --out handbook            (keeps the pages and their questions, to try the other commands on)
  pericope demo --json | jq -r '.chunkers[] | [.spec, .span_recall] | @tsv'
  NO_COLOR=1 pericope demo | less

Cuts 28 pages that come with the program in five ways, indexes each by words, asks the pages' own questions, and says how
much of the answers was found. It needs no model, no network and no documents. In the table a token is a word.
Tables and text fit the terminal; elsewhere the variable COLUMNS says how wide they are (40 to 120).";

/// `pericope demo`
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Write the pages (pages/) and the questions (questions.json) into this folder, which must be new or empty
    #[arg(long, value_name = "DIR", value_parser = places::path())]
    pub out: Option<PathBuf>,
    /// One JSON document on standard output
    #[arg(long)]
    pub json: bool,
}
