//! One module a command.

pub mod calibrate;
mod classification;
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
mod segment_eval_table;
pub mod segmenters;
pub mod serve;
mod settings;
pub mod sweep;
pub mod synthetic;
pub mod train;
mod train_data;
pub mod train_embed;
pub mod train_hiercrf;
pub mod train_judge;
mod train_judge_data;
mod train_over_vectors;
mod train_report;
pub mod train_topic;
mod train_topic_adapt;
pub mod tune;
mod tune_segmenter;

use std::io::Write;

use clap::CommandFactory;

use crate::args::Cli;
use crate::status::{Outcome, Status};
use crate::terminal::Output;

/// `pericope completions SHELL`
pub fn completions(shell: clap_complete::Shell) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "pericope", &mut script);
    // A script of ours.
    std::io::stdout().write_all(&script)?;
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
