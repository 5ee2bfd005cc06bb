//! `pericope segmenters`

use pericope::segmenters;
use pericope_segment::registry::{POLICY_KEYS, SegmenterEntry, SettingKey};
use serde::Serialize;

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

#[derive(Serialize)]
struct KeyRow {
    name: &'static str,
    default: &'static str,
    doc: &'static str,
}

/// Runs the command.
pub fn run(json: bool) -> Outcome {
    if json {
        return print_json(&segmenters().iter().map(row).collect::<Vec<_>>());
    }
    for entry in segmenters() {
        let model = if !entry.needs.is_none() { "  (needs a model: pericope models pull minilm)" } else { "" };
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
    let key = |key: &SettingKey| KeyRow { name: key.name, default: key.default, doc: key.doc };
    Row {
        name: entry.name,
        summary: entry.summary,
        example: entry.example,
        needs_encoder: !entry.needs.is_none(),
        keys: entry.keys.iter().map(key).collect(),
    }
}

fn show(key: &SettingKey) -> std::io::Result<()> {
    let default = if key.default.is_empty() { String::new() } else { format!(" [{}]", key.default) };
    say!("    {:<14} {}{default}", key.name, key.doc);
    Ok(())
}
