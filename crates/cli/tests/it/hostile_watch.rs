//! `--watch` over folders that are replaced.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::common::folder_with;
use crate::follow::Running;

fn copy(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("-r").args([from, to]).status().unwrap().success());
}

#[test]
fn a_folder_that_is_replaced_is_followed() {
    let folder = folder_with(&[("a.md", "Foxes dig."), ("sub/s.md", "Hares run.")]);
    let (docs, old) = (folder.path().join("docs"), folder.path().join("docs.old"));
    let mut running = Running::start(folder.path(), &["--watch"]);
    running.wait_for("watching");
    fs::rename(&docs, &old).unwrap();
    copy(&old, &docs);
    fs::write(docs.join("c.md"), "Owls hoot.").unwrap();
    running.wait_for("indexed: docs/c.md");
    // A folder in it.
    fs::rename(docs.join("sub"), folder.path().join("sub.old")).unwrap();
    copy(&folder.path().join("sub.old"), &docs.join("sub"));
    fs::write(docs.join("sub/t.md"), "Eels swim.").unwrap();
    running.wait_for("indexed: docs/sub/t.md");
    fs::write(docs.join("sub/u.md"), "Bees hum.").unwrap();
    running.wait_for("indexed: docs/sub/u.md");
    assert_eq!(running.interrupt(), Some(0));
}

#[test]
fn a_folder_that_is_gone_is_waited_for() {
    let folder = folder_with(&[("a.md", "Foxes dig.")]);
    let docs = folder.path().join("docs");
    let mut running = Running::start(folder.path(), &["--watch"]);
    running.wait_for("watching");
    fs::remove_dir_all(&docs).unwrap();
    running.wait_for("docs is gone: waiting for it");
    fs::create_dir(&docs).unwrap();
    fs::write(docs.join("b.md"), "Owls hoot.").unwrap();
    running.wait_for("indexed: docs/b.md");
    fs::write(docs.join("c.md"), "Eels swim.").unwrap();
    running.wait_for("indexed: docs/c.md");
    assert_eq!(running.interrupt(), Some(0));
}

#[test]
fn a_file_that_was_named_goes_as_those_in_folders_do() {
    let folder = folder_with(&[("a.md", "Foxes dig.")]);
    let readme = folder.path().join("README.md");
    fs::write(&readme, "Owls hoot.").unwrap();
    let mut running = Running::start(folder.path(), &["README.md", "--watch"]);
    running.wait_for("watching");
    fs::remove_file(&readme).unwrap();
    running.wait_for("removed: README.md");
    fs::write(&readme, "Eels swim.").unwrap();
    running.wait_for("indexed: README.md");
    assert_eq!(running.interrupt(), Some(0));
    // What went before anybody watched goes with --prune, as it does without --watch.
    fs::remove_file(&readme).unwrap();
    let mut running = Running::start(folder.path(), &["README.md", "--watch", "--prune"]);
    running.wait_for("watching");
    assert_eq!(running.interrupt(), Some(0));
    let output = crate::common::without_models(folder.path())
        .args(["search", "eels foxes", "--in", "x.idx", "--json", "--mode", "bm25"])
        .output()
        .unwrap();
    let found = crate::common::stdout(&output);
    assert!(found.contains("docs/a.md") && !found.contains("README.md"), "{found}");
}

#[test]
fn a_rebuild_that_would_lose_documents_is_gone_on_with_while_it_is_watched() {
    let line = "{\"id\": \"p\", \"text\": \"Owls hoot.\"}\n";
    let folder = folder_with(&[("a.md", "Foxes dig."), ("c.jsonl", line)]);
    let mut running = Running::start(folder.path(), &["--watch"]);
    running.wait_for("watching");
    assert_eq!(running.interrupt(), Some(0));
    fs::write(folder.path().join("docs/c.jsonl"), "{bad").unwrap();
    // A path that is not there, and leaves the index, is not waited for.
    let rebuild = ["gone/d.md", "--prune", "--watch", "--rebuild", "--segmenter", "sentence"];
    let mut running = Running::start(folder.path(), &rebuild);
    running.wait_for("the rebuild is not published");
    running.wait_for("watching");
    fs::write(folder.path().join("docs/c.jsonl"), line).unwrap();
    running.wait_for("indexed: docs/c.jsonl");
    assert_eq!(running.interrupt(), Some(0));
    let meta = fs::read_to_string(folder.path().join("x.idx/pericope.json")).unwrap();
    assert!(meta.contains("\"segmenter\": \"sentence"), "{meta}");
}

#[test]
fn a_link_that_leads_elsewhere_is_followed() {
    let folder = folder_with(&[]);
    for (release, text) in [("r1", "Foxes dig."), ("r2", "Owls hoot.")] {
        fs::create_dir_all(folder.path().join(release)).unwrap();
        fs::write(folder.path().join(release).join(format!("{release}.md")), text).unwrap();
    }
    let docs = folder.path().join("docs");
    symlink("r1", &docs).unwrap();
    let mut running = Running::start(folder.path(), &["--watch"]);
    running.wait_for("watching");
    fs::write(folder.path().join("r1/more.md"), "Bees hum.").unwrap();
    running.wait_for("indexed: docs/more.md");
    symlink("r2", folder.path().join("next")).unwrap();
    fs::rename(folder.path().join("next"), &docs).unwrap();
    running.wait_for("docs was replaced: following the new one");
    running.wait_for("indexed: docs/r2.md");
    running.wait_for("removed: docs/r1.md");
    fs::write(folder.path().join("r2/late.md"), "Eels swim.").unwrap();
    running.wait_for("indexed: docs/late.md");
    assert_eq!(running.interrupt(), Some(0));
}

#[test]
fn a_planted_file_removes_nothing_while_it_is_watched() {
    let folder = folder_with(&[("a.md", "Foxes dig."), ("sub/b.md", "Owls hoot.")]);
    let docs = folder.path().join("docs");
    let mut running = Running::start(folder.path(), &["--watch"]);
    running.wait_for("watching");
    let meta = r#"{"format": 2, "segmenter": "structure", "tokenizer": "words", "program": "0.1.0"}"#;
    fs::write(docs.join("sub/pericope.json"), meta).unwrap();
    fs::write(docs.join("c.md"), "Eels swim.").unwrap();
    running.wait_for("left out: docs/sub: is an index of Pericope");
    running.wait_for("indexed: docs/c.md");
    assert_eq!(running.interrupt(), Some(0));
    let output = crate::common::without_models(folder.path())
        .args(["search", "owls", "--in", "x.idx", "--json", "--mode", "bm25"])
        .output()
        .unwrap();
    assert!(crate::common::stdout(&output).contains("docs/sub/b.md"));
}
