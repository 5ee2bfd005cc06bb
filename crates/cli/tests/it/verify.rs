//! `pericope index --verify`, and what a search says of a damaged index.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{pericope, stderr, stdout};

/// Runs the command in a folder; its exit status, standard output and standard error.
fn run(folder: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let output = pericope(folder).args(args).output().unwrap();
    (output.status.code(), stdout(&output), stderr(&output))
}

#[test]
fn verify_names_every_damaged_file_and_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::create_dir(at.join("docs")).unwrap();
    for i in 0..20 {
        fs::write(at.join(format!("docs/{i}.md")), format!("# Foxes {i}\n\nFoxes dig holes, {i} of them.\n")).unwrap();
    }
    let index = ["index", "docs", "--into", "x.idx", "--embedder", "hashed", "--tokenizer", "words"];
    let (status, _, said) = run(at, &index);
    assert_eq!(status, Some(0), "{said}");
    assert_eq!(run(at, &["index", "--verify", "x.idx"]), (Some(0), "x.idx is whole\n".into(), String::new()));
    let (status, json, _) = run(at, &["index", "--verify", "x.idx", "--json"]);
    let report: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((status, &report["whole"], &report["damaged"]), (Some(0), &true.into(), &Value::Array(vec![])));

    let mut spoilt = Vec::new();
    for (part, ending) in [("text", "store"), ("vectors", "vectors")] {
        let files = fs::read_dir(at.join("x.idx").join(part)).unwrap().map(|file| file.unwrap().path());
        let file = files.into_iter().find(|file| file.extension().is_some_and(|end| end == ending)).unwrap();
        let mut bytes = fs::read(&file).unwrap();
        bytes[40] ^= 1;
        fs::write(&file, bytes).unwrap();
        spoilt.push(file.file_name().unwrap().to_str().unwrap().to_owned());
    }
    let (status, said, _) = run(at, &["index", "--verify", "x.idx"]);
    assert_eq!((status, said.lines().count()), (Some(1), 2), "{said}");
    let (status, json, _) = run(at, &["index", "--verify", "x.idx", "--json"]);
    let report: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((status, &report["whole"]), (Some(1), &false.into()));
    for name in &spoilt {
        assert!(said.lines().any(|line| line.contains(name.as_str()) && line.contains("--rebuild")), "{said}");
        let damaged = report["damaged"].as_array().unwrap();
        assert!(damaged.iter().any(|one| one["file"].as_str().unwrap().ends_with(name)), "{json}");
    }
    for mode in ["bm25", "dense"] {
        let (status, found, said) = run(at, &["search", "foxes", "--in", "x.idx", "--mode", mode]);
        assert_eq!((status, found.as_str()), (Some(3), ""), "{mode}: {said}");
        assert!(spoilt.iter().any(|name| said.contains(name)) && said.contains("--rebuild"), "{mode}: {said}");
    }
}

#[test]
fn verify_wants_an_index_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("notes.md"), "Foxes.").unwrap();
    for args in [
        ["index", "--verify", "."].as_slice(),
        &["index", "--verify", "absent"],
        &["index", "--verify"],
        &["index", "notes.md", "--verify", "x.idx"],
        &["index", "--verify", "x.idx", "--into", "y.idx"],
        &["index", "--verify", "x.idx", "--rebuild"],
        &["index", "notes.md"],
        &["index", "--into", "x.idx"],
    ] {
        let (status, out, said) = run(folder.path(), args);
        assert_eq!((status, out.as_str()), (Some(2), ""), "{args:?}: {said}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}
