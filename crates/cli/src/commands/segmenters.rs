//! `pericope segmenters`

use pericope::segmenters;
use pericope_segment::registry::{Needs, POLICY_KEYS, SegmenterEntry};
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
    needs_encoder: bool,
    keys: Vec<KeyRow>,
}

/// Runs the command.
pub fn run(json: bool) -> Outcome {
    if json {
        return print_json(&segmenters().iter().map(row).collect::<Vec<_>>());
    }
    for entry in segmenters() {
        let model = match entry.needs {
            Needs::None => "",
            Needs::Encoder | Needs::Model => "  (needs a model: pericope models pull minilm)",
            Needs::LanguageModel => "  (asks a language model)",
        };
        let line = Line::styled(Style::Bold, entry.name).and("  ").and(entry.summary);
        line.and_styled(Style::Soft, model).say()?;
        entry.keys.iter().try_for_each(show)?;
        Line::text("    ").and_styled(Style::Soft, format_args!("e.g. {}", entry.example)).and("\n").say()?;
    }
    Line::styled(Style::Bold, "every segmenter").and("  also takes").say()?;
    POLICY_KEYS.iter().try_for_each(show)?;
    Ok(Status::Done)
}

fn row(entry: &SegmenterEntry) -> Row {
    Row {
        name: entry.name,
        summary: entry.summary,
        example: entry.example,
        needs_encoder: matches!(entry.needs, Needs::Encoder | Needs::Model),
        keys: rows(entry.keys),
    }
}
