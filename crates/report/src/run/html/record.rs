//! What was run, so that it can be run again.

use std::collections::BTreeMap;

use crate::kit::markup::Markup;
use crate::run::Report;
use pericope_eval::format;
use pericope_eval::record::RunRecord;

use crate::kit::section as wrap;
use crate::kit::table::{Head, Row, Value, table};

/// Bytes of the configuration that are shown; `run.json` holds it all.
const CONFIG: usize = 40_000;

pub(super) fn section(m: &mut Markup, report: &Report) {
    wrap(m, "run", "What was run", |m| {
        let run = &report.run;
        m.element("dl", &[("class", "record")], |m| {
            for (name, value) in facts(run) {
                m.leaf("dt", &[], name);
                m.leaf("dd", &[], &value);
            }
        });
        checksums(m, run);
        if !run.config.is_null() {
            m.element("details", &[], |m| {
                m.leaf("summary", &[], "The configuration, all defaults and overrides in place");
                let json = serde_json::to_string_pretty(&run.config).unwrap_or_default();
                let shown = json.get(..json.floor_char_boundary(CONFIG)).unwrap_or("");
                m.element("pre", &[("tabindex", "0")], |m| {
                    m.text(shown);
                    if shown.len() < json.len() {
                        m.text("\n… the rest is in run.json");
                    }
                });
            });
        }
        for (name, text) in &run.prompts {
            m.element("details", &[], |m| {
                m.leaf("summary", &[], &format!("The prompt “{name}” as used"));
                m.leaf("pre", &[("tabindex", "0")], text.get(..text.floor_char_boundary(CONFIG)).unwrap_or(""));
            });
        }
        m.leaf(
            "p",
            &[("class", "note")],
            "The same figures as data: summary.json. Every question with what was retrieved for it: items.jsonl. The record \
             of the run: run.json. They lie beside this page, or in the run’s folder that it was made from.",
        );
    });
}

/// The record's single values, those that are known.
pub(in crate::run) fn facts(run: &RunRecord) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    if !run.version.is_empty() {
        facts.push(("Version", format!("pericope {}", run.version)));
    }
    if !run.started.is_empty() {
        facts.push(("Started", run.started.clone()));
    }
    if !run.finished.is_empty() {
        facts.push(("Finished", run.finished.clone()));
    }
    if let Some(seconds) = run.seconds {
        facts.push(("Took", format::seconds(seconds)));
    }
    if let Some(paid) = run.paid {
        let all = "all sittings, failed items and checks of the judge included";
        facts.push(("Paid for models", format!("{} ({all})", format::decimal(paid, 4))));
    }
    let mut machine = Vec::new();
    if !run.machine.os.is_empty() {
        machine.push(run.machine.os.clone());
    }
    if run.machine.cores > 0 {
        machine.push(format::plural(run.machine.cores, "core"));
    }
    if !machine.is_empty() {
        facts.push(("Machine", machine.join(", ")));
    }
    if !run.seeds.is_empty() {
        let seeds: Vec<String> = run.seeds.iter().map(|(name, seed)| format!("{name} {seed}")).collect();
        facts.push(("Seeds", seeds.join(", ")));
    }
    facts
}

fn checksums(m: &mut Markup, run: &RunRecord) {
    let sums = &run.checksums;
    let kinds: [(&str, &BTreeMap<String, String>); 3] =
        [("data", &sums.data), ("model", &sums.models), ("prompt", &sums.prompts)];
    let rows: Vec<Row> = kinds
        .iter()
        .flat_map(|(kind, files)| {
            files.iter().enumerate().map(|(i, (name, sum))| Row {
                head: name.clone(),
                place: None,
                values: vec![Value::words(*kind), Value::words(sum)],
                opens: i == 0,
                data: Vec::new(),
            })
        })
        .collect();
    if !rows.is_empty() {
        let heads = [Head::words("file"), Head::words("kind"), Head::words("SHA-256")];
        m.element("div", &[("class", "checksums")], |m| table(m, "What went in, by checksum", &heads, &rows));
    }
}
