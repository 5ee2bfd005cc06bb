//! `pericope index`: a new index, a second run after changes, a rebuild.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use pericope_index::{IndexError, IndexReader};
use pericope_testkit::documents::copy_folder;
use pericope_testkit::faults::{Ended, Plan, Program, trace};
use serde_json::{Value, json};

use super::table::{Scenario, hold};

const INTO: &str = "x.idx";

/// A run of `pericope index` over `docs`.
struct Index {
    name: &'static str,
    embedder: &'static str,
    rebuild: bool,
}

impl Scenario for Index {
    fn name(&self) -> &'static str {
        self.name
    }

    fn program(&self, folder: &Path) -> Program {
        let program = Program::new(env!("CARGO_BIN_EXE_pericope"), folder)
            .env("PERICOPE_HOME", folder.join("no-home").to_string_lossy())
            .args(["index", "docs", "--into", INTO, "--embedder", self.embedder, "--tokenizer", "words", "--prune"])
            .args(["--max-tokens", "40"]);
        if self.rebuild { program.args(["--rebuild"]) } else { program }
    }

    fn watched(&self) -> &'static str {
        INTO
    }

    fn state(&self, folder: &Path) -> Result<Value, String> {
        // Opening may mend, and what is looked at must not be changed by it.
        let copy = tempfile::tempdir().map_err(|e| e.to_string())?;
        let dir = copy.path().join(INTO);
        if !folder.join(INTO).exists() {
            return Ok(Value::Null);
        }
        copy_folder(&folder.join(INTO), &dir);
        let reader = match IndexReader::open(&dir) {
            Ok(reader) => reader,
            Err(IndexError::NotAnIndex { .. } | IndexError::Unfinished { .. }) => return Ok(Value::Null),
            Err(error) => return Err(error.to_string()),
        };
        let contents = reader.contents().map_err(|e| e.to_string())?;
        contents.agree()?;
        let mut documents = BTreeMap::<&str, Vec<Value>>::new();
        for (id, chunk) in &contents.chunks {
            documents.entry(&chunk.document).or_default().push(json!([id.to_string(), chunk.text]));
        }
        // Before the first commit there is an index without chunks, as good as none.
        if documents.is_empty() { Ok(Value::Null) } else { Ok(json!(documents)) }
    }

    /// There may be several commits in a run, so each document is as before or as after. A rebuild takes the place of the
    /// whole index.
    fn allowed(&self, state: &Value, before: &Value, after: &Value) -> bool {
        if self.rebuild {
            return state == before || state == after;
        }
        let names = [state, before, after].into_iter().filter_map(Value::as_object).flat_map(|object| object.keys());
        names.into_iter().all(|name| {
            let found = state.get(name);
            found == before.get(name) || found == after.get(name)
        })
    }
}

/// A folder with some documents of two kinds.
fn documents(folder: &Path) {
    let docs = folder.join("docs");
    fs::create_dir(&docs).unwrap();
    for i in 0..5 {
        let text =
            format!("# Part {i}\n\nThe fox {i} ran over the hill. It was late.\n\n## More\n\nA badger slept {i}.\n");
        fs::write(docs.join(format!("page-{i}.md")), text).unwrap();
    }
    let line =
        |i: usize| format!("{}\n", json!({"id": format!("line-{i}"), "text": format!("An owl called {i} times.")}));
    fs::write(docs.join("many.jsonl"), (0..4).map(line).collect::<String>()).unwrap();
}

/// The same after a first run, with some changes since.
fn changed(folder: &Path, scenario: &Index) {
    documents(folder);
    let first = trace(&Index { rebuild: false, ..*scenario }.program(folder), &Plan::default()).unwrap();
    assert_eq!(first.ended, Ended::Status(0), "{}", first.stderr);
    fs::write(folder.join("docs/page-1.md"), "# Part 1\n\nA hare sat there.\n").unwrap();
    fs::remove_file(folder.join("docs/page-2.md")).unwrap();
    fs::write(folder.join("docs/new.txt"), "Something new.\n").unwrap();
}

#[test]
fn a_new_index_is_there_or_not() {
    let scenario = Index { name: "index, first", embedder: "hashed", rebuild: false };
    let folder = tempfile::tempdir().unwrap();
    documents(folder.path());
    hold(&scenario, folder.path());
}

#[test]
fn an_index_that_is_brought_up_to_date_is_old_or_new() {
    let scenario = Index { name: "index, again with --prune", embedder: "hashed", rebuild: false };
    let folder = tempfile::tempdir().unwrap();
    changed(folder.path(), &scenario);
    hold(&scenario, folder.path());
}

#[test]
fn a_rebuilt_index_is_old_or_new() {
    let scenario = Index { name: "index --rebuild", embedder: "none", rebuild: true };
    let folder = tempfile::tempdir().unwrap();
    changed(folder.path(), &scenario);
    hold(&scenario, folder.path());
}
