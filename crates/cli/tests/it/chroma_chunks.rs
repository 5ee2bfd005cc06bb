//! Chunks that Chroma's benchmark published, through `chunks:FILE`: they are the same chunks, and get the published figures.
//!
//! Needs `$PERICOPE_DATA/questions/chroma`, `$PERICOPE_DATA/../peers/chroma_spans` and an installed MiniLM; says so and passes where
//! one is missing.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::common::{model_or_skip, pericope, stderr, stdout};

/// Chunkings of the benchmark. (Its cluster chunker's bare full stops have no place in the corpora.)
const NAMES: [&str; 2] = ["recursive_200_0", "semchunk_200"];

/// Those that are embedded and searched, which takes half a minute each.
const SEARCHED: &str = NAMES[0];

fn read(path: PathBuf) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn published_chunks_get_their_published_figures() {
    let test = "published_chunks_get_their_published_figures";
    let data = PathBuf::from(std::env::var_os("PERICOPE_DATA").unwrap_or_default());
    let (chroma, spans) = (data.join("questions/chroma"), data.join("../peers/chroma_spans"));
    if !chroma.is_dir() || !spans.is_dir() {
        eprintln!(
            "SKIPPED: {test}: PERICOPE_DATA names no folder with questions/chroma and, beside it, peers/chroma_spans"
        );
        return;
    }
    if !model_or_skip(test) {
        return;
    }
    let (chroma, spans) = (chroma.canonicalize().unwrap(), spans.canonicalize().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let mut config = format!(
        "kind = \"retrieval\"\nname = \"chroma\"\n[data]\nkind = \"chroma\"\npath = '{}'\n[retrieval]\nk = [5]\n[answer]\ngenerator = \"none\"\n",
        chroma.display()
    );
    for name in NAMES {
        let chunks = read(spans.join(format!("{name}.json")))["chunks"].clone();
        let line = |chunk: &Value| {
            let (document, start, end) = (&chunk["corpus_id"], &chunk["start"], &chunk["end"]);
            json!({"document": document, "start": start, "end": end, "offsets": "chars"}).to_string() + "\n"
        };
        fs::write(root.join(format!("{name}.jsonl")), chunks.as_array().unwrap().iter().map(line).collect::<String>())
            .unwrap();
    }
    config += &format!("[[chunker]]\nname = \"{SEARCHED}\"\nspec = \"chunks:{SEARCHED}.jsonl\"\n");
    fs::write(root.join("chroma.toml"), config).unwrap();
    let ran = pericope(root).args(["eval", "run", "chroma.toml", "--out", "out"]).output().unwrap();
    assert_eq!(ran.status.code(), Some(0), "{}", stderr(&ran));
    let summary = read(root.join("out/summary.json"));
    let published = &read(spans.join(format!("{SEARCHED}.json")))["exact_search"];
    for (ours, theirs) in [
        ("span_recall", "recall"),
        ("span_precision", "precision"),
        ("iou", "iou"),
        ("precision_omega", "precision_omega"),
    ] {
        let found = summary["cells"][0]["metrics"][ours].as_f64().unwrap();
        let golden = published[theirs].as_f64().unwrap();
        assert!((found - golden).abs() < 0.0005, "{SEARCHED}: {ours} = {found}, published {golden}");
    }
    // And their texts, one by one.
    let corpora = chroma.join("corpora");
    let listed = |name: &str| -> BTreeSet<(String, usize, usize)> {
        let chunks = read(spans.join(format!("{name}.json")))["chunks"].clone();
        let number = |value: &Value| usize::try_from(value.as_u64().unwrap()).unwrap();
        let of = |chunk: &Value| {
            (chunk["corpus_id"].as_str().unwrap().to_owned(), number(&chunk["start"]), number(&chunk["end"]))
        };
        chunks.as_array().unwrap().iter().map(of).collect()
    };
    for name in NAMES {
        // As paths: what the command calls the documents.
        let lines = fs::read_to_string(root.join(format!("{name}.jsonl"))).unwrap();
        let lines: String = (lines.lines())
            .map(|line| {
                let mut line: Value = serde_json::from_str(line).unwrap();
                line["document"] = json!(format!("{}.md", line["document"].as_str().unwrap()));
                format!("{line}\n")
            })
            .collect();
        fs::write(root.join("paths.jsonl"), lines).unwrap();
        let spec = format!("chunks:{}", root.join("paths.jsonl").display());
        let files = ["chatlogs.md", "state_of_the_union.md", "wikitexts.md"];
        let cut = pericope(&corpora)
            .arg("segment")
            .args(files)
            .args(["--segmenter", &spec, "--format", "json", "--tokenizer", "words"])
            .output()
            .unwrap();
        assert_eq!(cut.status.code(), Some(0), "{}", stderr(&cut));
        let mut found = BTreeSet::new();
        for line in stdout(&cut).lines() {
            let chunk: Value = serde_json::from_str(line).unwrap();
            let file = chunk["document"].as_str().unwrap();
            let source = fs::read_to_string(corpora.join(file)).unwrap();
            let chars = |key: &str| {
                let at = usize::try_from(chunk[key].as_u64().unwrap()).unwrap();
                source[..at].chars().count()
            };
            found.insert((file.trim_end_matches(".md").to_owned(), chars("start"), chars("end")));
        }
        assert_eq!(found, listed(name));
    }
}
