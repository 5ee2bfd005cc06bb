//! `pericope eval run`, in a folder that holds an earlier run, and `--resume`.

use std::fs;
use std::path::Path;

use pericope_testkit::faults::{Ended, Plan, Program, trace};
use serde_json::{Value, json};

use crate::common::{SECOND_CHUNKER, SMALL_EXPERIMENT, three_questions};

use super::table::{Scenario, hold};

/// A run into `out`.
struct Run {
    resume: bool,
}

impl Scenario for Run {
    fn name(&self) -> &'static str {
        if self.resume { "eval run --resume" } else { "eval run" }
    }

    fn program(&self, folder: &Path) -> Program {
        let program = Program::new(env!("CARGO_BIN_EXE_pericope"), folder)
            .env("PERICOPE_HOME", folder.join("no-home").to_string_lossy())
            .args(["eval", "run", "small.toml", "--out", "run.out"]);
        if self.resume { program.args(["--resume"]) } else { program }
    }

    fn watched(&self) -> &'static str {
        "run.out"
    }

    fn state(&self, folder: &Path) -> Result<Value, String> {
        let out = folder.join("run.out");
        // A run is what has a summary; without one it is not finished, and says so to whoever reads it.
        let Ok(text) = fs::read_to_string(out.join("summary.json")) else { return Ok(Value::Null) };
        let summary: Value = serde_json::from_str(&text).map_err(|e| format!("summary.json: {e}"))?;
        let items = fs::read_to_string(out.join("items.jsonl")).map_err(|e| format!("items.jsonl: {e}"))?;
        let items: Result<Vec<Value>, _> = items.lines().map(serde_json::from_str).collect();
        let items = items.map_err(|e| format!("items.jsonl: {e}"))?;
        let record = fs::read_to_string(out.join("run.json")).map_err(|e| format!("run.json: {e}"))?;
        serde_json::from_str::<Value>(&record).map_err(|e| format!("run.json: {e}"))?;
        let cells: Vec<Value> =
            summary["cells"].as_array().into_iter().flatten().map(|cell| cell["metrics"].clone()).collect();
        let found = |item: &Value| json!([item["chunker"], item["question_id"], item["metrics"], item["status"]]);
        Ok(json!({"cells": cells, "items": items.iter().map(found).collect::<Vec<_>>()}))
    }
}

fn prepared(folder: &Path) {
    three_questions(folder);
    fs::write(folder.join("small.toml"), format!("{SMALL_EXPERIMENT}{SECOND_CHUNKER}")).unwrap();
}

#[test]
fn a_run_has_a_summary_of_all_its_items_or_none() {
    let folder = tempfile::tempdir().unwrap();
    prepared(folder.path());
    hold(&Run { resume: false }, folder.path());
}

#[test]
fn a_run_that_is_resumed_ends_like_one_that_was_not_broken_off() {
    let folder = tempfile::tempdir().unwrap();
    prepared(folder.path());
    // The first session is killed when half of its calls are made.
    let whole = trace(&Run { resume: false }.program(folder.path()), &Plan::default()).unwrap();
    assert_eq!(whole.ended, Ended::Status(0), "{}", whole.stderr);
    fs::remove_file(folder.path().join("run.out/summary.json")).unwrap();
    let items = fs::read_to_string(folder.path().join("run.out/items.jsonl")).unwrap();
    fs::write(folder.path().join("run.out/items.jsonl"), &items[..items.len() * 2 / 3]).unwrap();
    hold(&Run { resume: true }, folder.path());
}
