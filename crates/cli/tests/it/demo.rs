//! `pericope demo`, as a newcomer types it: no model, no network, no documents.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use crate::common::{root, stderr, stdout, without_models};

fn demo(folder: &Path, columns: &str, args: &[&str]) -> Output {
    let mut command = without_models(folder);
    // No proxy, so no network: whatever asked for one would fail.
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
        command.env(name, "http://127.0.0.1:9");
    }
    command.env("COLUMNS", columns).env_remove("CLICOLOR_FORCE").arg("demo").args(args).output().unwrap()
}

/// The text without the times, which differ from run to run.
fn timeless(text: &str) -> String {
    let mut out = String::new();
    let mut column = None;
    for line in text.lines() {
        let chars: Vec<char> = line.chars().collect();
        match column {
            _ if line.starts_with("cut by") => column = line.find("seconds"),
            Some(_) if line.is_empty() => column = None,
            Some(start) => {
                let time: String = chars[start..start + 7].iter().collect();
                assert!(time.trim().parse::<f64>().is_ok(), "{line}");
                let (before, after) = (&chars[..start], &chars[start + 7..]);
                out.extend(before.iter().chain(&['#'; 7]).chain(after));
                out.push('\n');
                continue;
            }
            None => {}
        }
        match line.strip_prefix("All of it in ") {
            Some(_) => out.push_str("All of it in # s. Type next:"),
            None => out.push_str(line),
        }
        out.push('\n');
    }
    out
}

fn snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

#[test]
fn a_table_a_cut_and_what_to_type_next_in_any_width() {
    let folder = tempfile::tempdir().unwrap();
    for columns in [120, 60, 40] {
        let output = demo(folder.path(), &columns.to_string(), &[]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!(stderr(&output), "");
        let said = stdout(&output);
        let widest =
            said.lines().filter(|line| !line.starts_with("  ")).map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= columns, "{widest} columns of {columns}:\n{said}");
        assert!(!said.contains('\u{1b}'), "no colours where no terminal is");
        snapshot(&format!("demo_{columns}"), &timeless(&said));
    }
    assert!(folder.path().read_dir().unwrap().next().is_none(), "it leaves nothing behind");
}

#[test]
fn colours_are_for_terminals_and_can_be_refused() {
    let folder = tempfile::tempdir().unwrap();
    let run = |name: &str| {
        let mut command = without_models(folder.path());
        command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").env(name, "1");
        stdout(&command.args(["demo"]).output().unwrap())
    };
    let coloured = run("CLICOLOR_FORCE");
    assert!(
        coloured.contains("\u{1b}[36m▌") && coloured.contains("\u{1b}[35m▌") && coloured.contains("\u{1b}[1;33m──")
    );
    assert!(!run("NO_COLOR").contains('\u{1b}'));
}

#[test]
fn programs_get_one_document() {
    let folder = tempfile::tempdir().unwrap();
    let output = demo(folder.path(), "60", &["--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let said: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!((&said["documents"], &said["questions"]), (&json!(28), &json!(172)));
    assert_eq!((&said["mode"], &said["counter"]), (&json!("bm25"), &json!("words")));
    let rows = said["chunkers"].as_array().unwrap();
    let mut specs: Vec<&str> = rows.iter().map(|row| row["spec"].as_str().unwrap()).collect();
    let found: Vec<f64> = rows.iter().map(|row| row["span_recall"].as_f64().unwrap()).collect();
    assert!(found.is_sorted_by(|a, b| a >= b) && found.iter().all(|x| (0.0..=1.0).contains(x)), "{found:?}");
    specs.sort_unstable();
    assert_eq!(
        specs,
        ["bayesseg", "fixed:words=100", "recursive:chars=600", "same-size:reference=structure", "structure"]
    );
    for row in rows {
        assert!(row["chunks"].as_u64().unwrap() > 28 && row["mean_tokens"].as_f64().unwrap() > 1.0, "{row}");
        assert!(row["seconds"].as_f64().is_some());
        assert_eq!(row["difference"].is_array(), row["spec"] != "fixed:words=100", "{row}");
    }
    let page = &said["page"];
    let source = fs::read_to_string(root().join("corpora/handbook").join(page["document"].as_str().unwrap())).unwrap();
    let chunks = page["chunks"].as_array().unwrap();
    for chunk in chunks {
        let (start, end) = (chunk["start"].as_u64().unwrap() as usize, chunk["end"].as_u64().unwrap() as usize);
        assert_eq!(chunk["text"], source[start..end]);
        let gap = chunk["gap"].as_u64().map(|gap| &page["scores"][gap as usize]);
        assert_eq!(chunk.get("score"), gap);
    }
    assert!(chunks.len() > 3 && chunks[0]["score"].is_number() && chunks.last().unwrap().get("score").is_none());
    assert!(said["next"].as_array().unwrap().iter().any(|next| next["command"] == "pericope compare docs/"));
}

/// What comes with the program is the corpus of the checkout. `UPDATE_DOCS=1` packs it anew.
#[test]
fn its_pages_are_the_handbook_and_what_it_says_to_type_works() {
    let mut files: Vec<_> = fs::read_dir(root().join("corpora/handbook")).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let line = |path: &Path| json!({"id": name(path), "text": fs::read_to_string(path).unwrap()}).to_string() + "\n";
    let packed: String = files.iter().map(|path| line(path)).collect();
    let place = root().join("crates/cli/src/commands/demo/handbook.jsonl");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&place, &packed).unwrap();
    }
    let current = fs::read_to_string(&place).unwrap() == packed;
    assert!(current, "the handbook has changed: UPDATE_DOCS=1 cargo test -p pericope-cli --test it demo");

    let folder = tempfile::tempdir().unwrap();
    let output = demo(folder.path(), "100", &["--out", "handbook"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let written = folder.path().join("handbook");
    assert_eq!(fs::read_dir(written.join("pages")).unwrap().count(), files.len());
    for path in &files {
        assert_eq!(fs::read(written.join("pages").join(name(path))).unwrap(), fs::read(path).unwrap(), "{path:?}");
    }
    let kept = fs::read_to_string(root().join("corpora/handbook-questions.json")).unwrap();
    assert_eq!(fs::read_to_string(written.join("questions.json")).unwrap(), kept);

    let said = stdout(&output);
    let next: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("  pericope ")).collect();
    assert_eq!(next.len(), 4, "{said}");
    // The model is not pulled here.
    for line in next.iter().filter(|line| !line.starts_with("models")) {
        let words = line.split('\'').enumerate();
        // A shell keeps what stands between quotes together.
        let words: Vec<&str> = words
            .flat_map(|(i, part)| if i % 2 == 1 { vec![part] } else { part.split_whitespace().collect() })
            .collect();
        let output = without_models(folder.path()).args(&words).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{line}: {}", stderr(&output));
        if words[0] == "search" {
            let first = stdout(&output);
            assert!(first.lines().next().unwrap().contains("sourdough"), "{first}");
        }
    }
    let again = demo(folder.path(), "100", &["--out", "handbook"]);
    assert_eq!(again.status.code(), Some(2));
    assert!(stderr(&again).contains("is not empty"), "{}", stderr(&again));
}
