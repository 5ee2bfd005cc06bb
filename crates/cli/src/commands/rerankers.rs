//! `pericope rerankers`

use pericope::encode::rerankers::{ADDRESS, RerankerEntry};
use pericope::rerankers;
use serde::Serialize;

use crate::commands::keys::{KeyRow, rows, show};
use crate::commands::print_json;
use crate::status::{Outcome, Status};
use crate::terminal::{Line, Style};

#[derive(Serialize)]
struct Row {
    name: &'static str,
    summary: &'static str,
    example: &'static str,
    /// Whether queries and passages leave this machine.
    sends: bool,
    keys: Vec<KeyRow>,
}

/// Runs the command.
pub fn run(json: bool) -> Outcome {
    if json {
        return print_json(&rerankers().iter().map(row).collect::<Vec<_>>());
    }
    for entry in rerankers() {
        Line::styled(Style::Bold, shown(entry)).and("  ").and(entry.summary).say()?;
        entry.keys.iter().try_for_each(show)?;
        Line::text("    ").and_styled(Style::Soft, format_args!("e.g. {}", entry.example)).and("\n").say()?;
    }
    Ok(Status::Done)
}

/// The help of `--rerank`.
pub fn rerank_help() -> String {
    let names = rerankers().iter().map(shown).collect::<Vec<_>>().join(", ");
    format!(
        "What orders the best hits anew, by comparing the text of each with the query: {names}, with their keys as \
         name:key=value; `pericope rerankers` lists them"
    )
}

/// The name as specs begin with it.
fn shown(entry: &RerankerEntry) -> &'static str {
    if entry.name == ADDRESS.0 { "https://HOST/PATH" } else { entry.name }
}

fn row(entry: &RerankerEntry) -> Row {
    Row { name: entry.name, summary: entry.summary, example: entry.example, sends: entry.sends, keys: rows(entry.keys) }
}
