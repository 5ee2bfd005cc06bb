//! Chunks fit the model that embeds them, counted as it counts.

use std::fs;
use std::path::Path;

use crate::common::{root, stderr, stdout, without_models};

fn index(folder: &Path, into: &str, more: &[&str]) -> String {
    let args = ["index", "pages", "--into", into];
    let output = without_models(folder).args(args).args(more).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    stdout(&output) + &stderr(&output)
}

#[test]
fn the_default_limit_is_what_a_model_reads_of_a_passage() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("pages")).unwrap();
    fs::write(folder.path().join("pages/a.md"), "The river rises in spring and falls in autumn. ".repeat(40)).unwrap();
    // It reads 40 tokens.
    let model = root().join("crates/encode/tests/golden/embed-bert").display().to_string();
    let said = index(folder.path(), "a.idx", &["--embedder", &model]);
    assert!(said.contains("structure:max_tokens=40") && said.contains(&format!("tokens by {model}@")), "{said}");
    assert!(!said.contains("longer than"), "{said}");
    // Again: the tokenizer that the index remembers is the same.
    let said = index(folder.path(), "a.idx", &["--embedder", &model]);
    assert!(said.contains("tokens by"), "{said}");
    // A prompt before every passage takes some of it.
    let said = index(folder.path(), "b.idx", &["--embedder", &format!("{model},prompts=e5-small")]);
    let most: usize = said.split("max_tokens=").nth(1).unwrap().split([',', ' ']).next().unwrap().parse().unwrap();
    assert!((20..40).contains(&most), "{said}");
    assert!(!said.contains("longer than"), "{said}");
    // What is named comes first, and headings take room where there is any.
    let said = index(folder.path(), "c.idx", &["--embedder", &model, "--max-tokens", "12", "--tokenizer", "words"]);
    assert!(said.contains("structure:max_tokens=12") && said.contains("tokens by words"), "{said}");
    // An index keeps the limit that it was made with.
    let said = index(folder.path(), "c.idx", &["--embedder", &model]);
    assert!(said.contains("structure:max_tokens=12") && said.contains("tokens by words"), "{said}");
    let said = index(folder.path(), "d.idx", &["--embedder", &model, "--prefix-headings"]);
    assert!(said.contains("structure:max_tokens=8"), "{said}");
    // A table of vectors reads texts of any length.
    let table = root().join("crates/encode/tests/golden/static-tiny").display().to_string();
    let said = index(folder.path(), "e.idx", &["--embedder", &format!("static:{table}")]);
    assert!(said.contains("structure:max_tokens=256") && said.contains("tokens by words"), "{said}");
}

#[test]
fn an_estimate_needs_no_model() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("pages")).unwrap();
    fs::write(folder.path().join("pages/a.md"), "One. Two.").unwrap();
    let args = ["index", "pages", "--into", "a.idx", "--embedder", "e5-small", "--dry-run"];
    let output = without_models(folder.path()).args(args).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(!folder.path().join("a.idx").exists());
}

#[test]
fn a_known_model_counts_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.md"), "One. Two.").unwrap();
    let args = ["segment", "a.md", "--tokenizer", "e5-small"];
    let output = without_models(folder.path()).args(args).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("e5-small") && stderr(&output).contains("models pull"), "{}", stderr(&output));
}
