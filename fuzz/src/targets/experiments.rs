//! Experiments in TOML with `--set`.

use std::path::Path;

use pericope_eval::config::{ConfigError, Configuration, Experiment, ExperimentFile};
use pericope_eval::sweep;
use pericope_segeval::config::SegmentationExperiment;
use pericope_segment::registry::list;

use super::parts::{parts, text};

pub(super) const WORDS: &[&str] = &[
    "[data]\n",
    "[[chunker]]\n",
    "[retrieval]\n",
    "[answer]\n",
    "[judge]\n",
    "[limits]\n",
    "[[gate]]\n",
    "[nightly]\n",
    "[llm.judge]\n",
    "[llm.generator]\n",
    "[sweep]\n",
    "[tune]\n",
    "[[set]]\n",
    "[[segmenter]]\n",
    "kind = ",
    "name = ",
    "spec = ",
    "path = ",
    "\u{1e}",
    "retrieval.k=[1]",
    "chunker.fixed.spec=",
    "a.b.c=",
    "=",
    "\"",
    "'''",
    "{",
    "}",
    "[",
    "]",
    "nan",
    "inf",
    "-1",
    "9223372036854775807",
    "2026-01-01",
    "${",
    ":-",
    "}",
];

/// The first part is the file, the others are settings of `--set`.
pub(super) fn experiments(data: &[u8]) {
    let mut parts = parts(data);
    let file = text(parts.next().unwrap_or_default());
    let settings: Vec<String> = parts.take(8).map(text).collect();
    let path = Path::new("experiment.toml");
    if let Ok(opened) = ExperimentFile::parse(file.clone(), path) {
        let _ = opened.note();
    }
    match Experiment::parse(&file, path, &settings, list()) {
        Ok(experiment) => {
            let _ = experiment.unused();
            let _ = sweep::variants(&experiment, list());
            let written = toml::to_string(&experiment).expect("an experiment can be written");
            let again: Experiment = toml::from_str(&written).expect("what is written can be read");
            // Not a number is not equal to itself: compared as text.
            let again = toml::to_string(&again).expect("an experiment can be written");
            assert_eq!(again, written, "it is read as it is written");
        }
        Err(error) => one_line(&error),
    }
    if let Err(error) = SegmentationExperiment::parse(&file, path, &settings, list()) {
        one_line(&error);
    }
}

/// Messages about TOML are one line, so that a log can hold them.
fn one_line(error: &ConfigError) {
    let text = error.to_string();
    assert!(!text.is_empty() && !text.contains('\n'), "{text:?} is not one line");
}
