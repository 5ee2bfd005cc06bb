//! `pericope nightly`: a second night.

use std::fs;
use std::path::Path;

use pericope_nightly::History;
use pericope_testkit::faults::{Ended, Plan, Program, trace};
use serde_json::{Value, json};

use crate::common::{SMALL_EXPERIMENT, rounded, three_questions};

use super::table::{Scenario, hold};

/// One more night.
pub struct Night;

impl Night {
    /// The folder after a first night.
    pub fn prepare(folder: &Path) {
        three_questions(folder);
        fs::write(folder.join("nightly.toml"), format!("{SMALL_EXPERIMENT}[nightly]\nkeep = 1\n")).unwrap();
        let first = trace(&Self.program(folder), &Plan::default()).unwrap();
        assert_eq!(first.ended, Ended::Status(0), "{}", first.stderr);
    }
}

impl Scenario for Night {
    fn name(&self) -> &'static str {
        "nightly"
    }

    fn program(&self, folder: &Path) -> Program {
        Program::new(env!("CARGO_BIN_EXE_pericope"), folder)
            .env("PERICOPE_HOME", folder.join("no-home").to_string_lossy())
            .args(["nightly", "nightly.toml", "--history", "nights.h"])
    }

    fn watched(&self) -> &'static str {
        "nights.h"
    }

    fn state(&self, folder: &Path) -> Result<Value, String> {
        let dir = folder.join("nights.h");
        let history = History::open(&dir, "small").map_err(|e| e.to_string())?;
        let heads = history.heads().map_err(|e| e.to_string())?;
        let mut nights = Vec::new();
        for (i, head) in heads.iter().enumerate() {
            if head.number as usize != i + 1 {
                return Err(format!("night {} follows night {i}", head.number));
            }
            let night = history.night(head.number).map_err(|e| e.to_string())?;
            // Scores that a resumed night reads back may differ in the last bit.
            nights.push(rounded(json!({"number": head.number, "cells": night.cells, "questions": night.questions})));
        }
        // Of what people read, any whole version may stand there.
        for name in ["latest.json", "index.html", "feed.xml", "summary.md"] {
            let text = fs::read_to_string(dir.join(name)).map_err(|e| format!("{name}: {e}"))?;
            let whole = match name {
                "latest.json" => serde_json::from_str::<Value>(&text).is_ok(),
                "index.html" => text.trim_end().ends_with("</html>"),
                "feed.xml" => text.trim_end().ends_with("</feed>"),
                _ => !text.is_empty(),
            };
            if !whole {
                return Err(format!("{name} is not whole"));
            }
        }
        Ok(Value::Array(nights))
    }

    /// The night after is the second where that was broken off, and the third where it was kept.
    fn settled(&self, state: &Value, after: &Value) -> bool {
        let (state, after) = (state.as_array().unwrap(), after.as_array().unwrap());
        let alike = state.iter().all(|night| night["cells"] == after[0]["cells"]);
        alike && (state.len() == after.len() || state.len() == after.len() + 1)
    }
}

#[test]
fn a_night_is_in_the_history_or_not() {
    let folder = tempfile::tempdir().unwrap();
    Night::prepare(folder.path());
    hold(&Night, folder.path());
}
