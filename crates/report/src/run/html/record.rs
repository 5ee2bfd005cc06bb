//! What was run, so that it can be run again.

use maud::{Markup, html};
use pericope_eval::record::RunRecord;

use crate::kit::{Head, Row, Value, record, section as wrap, table};
use crate::run::facts::facts;
use crate::run::report::Report;

/// Bytes of the configuration that are shown; `run.json` holds it all.
const CONFIG: usize = 40_000;

pub(super) fn section(report: &Report) -> Markup {
    let run = &report.run;
    let json = serde_json::to_string_pretty(&run.config).unwrap_or_default();
    let body = html! {
        (record(facts(run)))
        (checksums(run))
        @if !run.config.is_null() {
            details {
                summary { "The configuration, all defaults and overrides in place" }
                pre tabindex="0" {
                    (start(&json))
                    @if json.len() > CONFIG { "\n… the rest is in run.json" }
                }
            }
        }
        @for (name, text) in &run.prompts {
            details {
                summary { "The prompt “" (name) "” as used" }
                pre tabindex="0" { (start(text)) }
            }
        }
        p class="note" {
            "The same figures as data: summary.json. Every question with what was retrieved for it: items.jsonl. The record \
             of the run: run.json. They lie beside this page, or in the run’s folder that it was made from."
        }
    };
    wrap("run", "What was run", body)
}

fn start(text: &str) -> &str {
    text.get(..text.floor_char_boundary(CONFIG)).unwrap_or("")
}

fn checksums(run: &RunRecord) -> Markup {
    let sums = &run.checksums;
    let kinds = [("data", &sums.data), ("model", &sums.models), ("prompt", &sums.prompts)];
    let row = |kind: &str, i: usize, name: &str, sum: &str| {
        Row::new(name, vec![Value::words(kind), Value::words(sum)]).opens(i == 0)
    };
    let rows: Vec<Row> = (kinds.iter())
        .flat_map(|(kind, files)| files.iter().enumerate().map(move |(i, (name, sum))| row(kind, i, name, sum)))
        .collect();
    let heads = [Head::words("file"), Head::words("kind"), Head::words("SHA-256")];
    html! {
        @if !rows.is_empty() { div class="checksums" { (table("What went in, by checksum", &heads, &rows)) } }
    }
}
