//! One module a command.

pub mod compare;
pub mod dataset;
pub mod demo;
mod dry_run;
mod dry_run_segmenters;
pub mod eval;
pub mod index;
pub mod init;
mod keys;
pub mod mcp;
pub mod models;
pub mod nightly;
pub mod rerankers;
pub mod search;
pub mod segment;
pub mod segment_eval;
pub mod segmenters;
pub mod serve;
mod settings;
mod sweep;
pub mod train;
pub mod tune;

use std::io::Write;

use clap::CommandFactory;

use crate::args::Cli;
use crate::status::{Outcome, Status};
use crate::terminal::{Output, unwritten};

/// `pericope completions SHELL`
pub fn completions(shell: clap_complete::Shell) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "pericope", &mut script);
    // A script of ours.
    std::io::stdout().write_all(&script).map_err(unwritten)?;
    Ok(Status::Done)
}

/// Prints one JSON document.
pub fn print_json(value: &impl serde::Serialize) -> Outcome {
    let mut text = serde_json::to_string_pretty(value).map_err(anyhow::Error::from)?;
    text.push('\n');
    print_json_text(&text)
}

/// Prints JSON that is written already.
pub fn print_json_text(json: &str) -> Outcome {
    let mut out = Output::standard();
    out.json(json)?;
    out.flush()?;
    Ok(Status::Done)
}
