//! The tiny models and the documents of `scripts/golden/golden_training.py`.

use std::path::{Path, PathBuf};

use pericope_encode::Base;
use pericope_learn::Sentences;
use pericope_learn::training::LabelledDocument;
use serde::Deserialize;

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/training")
}

pub fn base() -> Base {
    Base::open(&folder().display().to_string()).unwrap()
}

#[derive(Deserialize)]
struct Line {
    id: String,
    sentences: Vec<String>,
    boundaries: Vec<usize>,
}

pub fn tokens<S: AsRef<str>>(base: &Base, texts: &[S]) -> Sentences {
    let ids: Vec<Vec<u32>> = texts.iter().map(|text| base.tokens.ids(text.as_ref(), 45)).collect();
    Sentences::new(ids.iter().map(Vec::as_slice), 45)
}

pub fn documents(base: &Base) -> Vec<LabelledDocument> {
    let text = std::fs::read_to_string(folder().join("documents.jsonl")).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Line>(line).unwrap());
    let labelled = lines.map(|line| {
        let ends = (1..=line.sentences.len()).map(|i| line.boundaries.contains(&i)).collect();
        LabelledDocument { id: line.id, sentences: tokens(base, &line.sentences), ends }
    });
    labelled.collect()
}

pub fn close(found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len());
    let off = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    eprintln!("losses differ by {off} at most over {} steps", found.len());
    assert!(off < 1e-3, "differs by {off}: {found:?} {expected:?}");
}

/// The folder of a golden model: one of this crate's, or an encoder of `pericope-encode`'s (`bert-tiny`).
pub fn golden(name: &str) -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR"));
    let own = crates.join("tests/golden").join(name);
    if own.is_dir() { own } else { crates.join("../encode/tests/golden").join(name) }
}

/// A copy of a model; a copy, because checksums are kept beside the files.
pub fn copied(name: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for file in ["config.json", "model.safetensors", "tokenizer.json"] {
        std::fs::copy(golden(name).join(file), dir.path().join(file)).unwrap();
    }
    dir
}

pub fn path(dir: &tempfile::TempDir) -> String {
    dir.path().display().to_string()
}
