//! Files as the first version wrote them (`tests/fixtures/v0.1`) open for good: an index, a run's folder, a nightly
//! history. A change of a format comes with a step that leads there, and with a new folder beside this one.

use std::fs::File;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use serde_json::Value;

use crate::common::{model_or_skip, pericope, rounded, stderr, stdout, without_models};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/v0.1")
}

fn unpack(name: &str, into: &Path) {
    let file = File::open(fixtures().join(name)).unwrap();
    tar::Archive::new(GzDecoder::new(file)).unpack(into).unwrap();
}

fn json(path: &Path) -> Value {
    serde_json::from_reader(File::open(path).unwrap()).unwrap()
}

fn searched(folder: &Path, mode: &str, with_model: bool) -> Value {
    let mut command = if with_model { pericope(folder) } else { without_models(folder) };
    let output = command
        .args(["search", "when is the oven fired", "--in", "index", "--json", "--k", "3", "--mode", mode])
        .env(PRECISION.0, PRECISION.1)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let mut answer: Value = serde_json::from_str(&stdout(&output)).unwrap();
    for hit in answer["hits"].as_array_mut().unwrap() {
        // Said since; lines where the index knows them.
        let hit = hit.as_object_mut().unwrap();
        assert!(hit.shift_remove("id").is_some());
        hit.shift_remove("lines");
    }
    answer
}

#[test]
fn an_old_index_is_searched_by_words_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    unpack("index.tar.gz", folder.path());
    assert_eq!(rounded(searched(folder.path(), "bm25", false)), rounded(json(&fixtures().join("search_bm25.json"))));
}

#[test]
fn an_old_index_takes_everything_for_english() {
    let folder = tempfile::tempdir().unwrap();
    unpack("index.tar.gz", folder.path());
    let meta = pericope_index::IndexMeta::read(&folder.path().join("index")).unwrap();
    assert_eq!(meta.built_with().language.unwrap().to_string(), "en");
    std::fs::write(folder.path().join("ofen.md"), "Die Öfen werden jeden Morgen angeheizt.\n").unwrap();
    let args =
        ["index", "ofen.md", "--into", "index", "--segmenter", "structure", "--embedder", "none", "--language", "de"];
    // The tokenizer is the index's own, and its model is not here.
    let output = without_models(folder.path()).args(args).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("pericope models pull minilm"), "{}", stderr(&output));
}

/// The old scores are of vectors in single precision.
const PRECISION: (&str, &str) = ("PERICOPE_PRECISION", "f32");

/// The report of `pericope index` on the documents of the old index, and what it said beside it.
fn indexed(folder: &Path) -> (Value, String) {
    let output = pericope(folder)
        .args(["index", "docs", "--into", "index", "--segmenter", "structure", "--json"])
        .env(PRECISION.0, PRECISION.1)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    (serde_json::from_str(&stdout(&output)).unwrap(), stderr(&output))
}

#[test]
fn old_vectors_are_not_searched_and_it_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    unpack("index.tar.gz", folder.path());
    let index = pericope_index::IndexReader::open(&folder.path().join("index")).unwrap();
    let query = pericope_store::Query::new("", pericope_store::Mode::Dense, 3).with_vector(vec![1.0; 384]);
    let error = pericope_store::Retriever::search(&index, &query).unwrap_err();
    assert!(error.kind().is_usage(), "{error}");
    let said = error.to_string();
    assert!(said.contains("earlier version") && said.contains("`pericope index`"), "{said}");
    assert!(said.contains("--mode bm25") && !said.contains('\n'), "{said}");
    let output = without_models(folder.path()).args(["index", "--verify", "index"]).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("index is whole\n7 chunks have no vector"), "{}", stdout(&output));
}

#[test]
fn an_old_index_is_embedded_again_once_and_then_searched_as_it_was() {
    if !model_or_skip("an_old_index_is_embedded_again_once_and_then_searched_as_it_was") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    unpack("index.tar.gz", folder.path());
    std::fs::create_dir(folder.path().join("docs")).unwrap();
    for file in std::fs::read_dir(fixtures().join("docs")).unwrap().map(Result::unwrap) {
        std::fs::copy(file.path(), folder.path().join("docs").join(file.file_name())).unwrap();
    }
    // Of the old seven chunks one shows nothing: the end of a page in HTML.
    let (report, said) = indexed(folder.path());
    assert_eq!((&report["documents"], &report["chunks"]), (&3.into(), &6.into()), "{report}");
    assert_eq!(&report["texts_embedded"], 6, "{report}");
    assert_eq!(said.lines().filter(|line| line.contains("earlier version")).count(), 1, "{said}");
    assert!(!folder.path().join("index/vectors/segments").exists(), "the old vectors are gone");
    let (report, said) = indexed(folder.path());
    assert_eq!((&report["documents"], &report["chunks"]), (&3.into(), &6.into()), "{report}");
    assert_eq!((&report["documents_written"], &report["texts_embedded"]), (&0.into(), &0.into()), "{report}");
    assert!(!said.contains("earlier version"), "{said}");
    for mode in ["bm25", "dense", "hybrid"] {
        let (mut now, mut then) =
            (searched(folder.path(), mode, true), json(&fixtures().join(format!("search_{mode}.json"))));
        for found in [&mut now, &mut then] {
            for hit in found["hits"].as_array_mut().unwrap() {
                // Sums of floats differ in their last bits from one processor to the next, and what a word weighs depends on the
                // number of chunks, of which there was one more, the first of its page.
                let score = ((hit["score"].as_f64().unwrap() * 1e5).round() / 1e5).into();
                hit["score"] = if mode == "dense" { score } else { Value::Null };
                hit["ordinal"] = Value::Null;
            }
        }
        assert_eq!(now, then, "{mode}");
    }
}

#[test]
fn the_report_of_an_old_run_is_written_again_word_for_word() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    std::fs::create_dir(&run).unwrap();
    for name in ["run.json", "summary.json", "items.jsonl", "chunkers.jsonl"] {
        std::fs::copy(fixtures().join("run").join(name), run.join(name)).unwrap();
    }
    let output = without_models(folder.path()).args(["eval", "report", "run"]).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let lines = |path: PathBuf| -> Vec<String> {
        std::fs::read_to_string(path).unwrap().lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
    };
    assert_eq!(lines(run.join("summary.md")), lines(fixtures().join("run/summary.md")));
    assert!(run.join("index.html").is_file() && run.join("items.html").is_file());
}

/// Numbers as they are read back: parsing may change the last digit of a float.
fn same(written: &str, there: &str) {
    let value = |text: &str| rounded(serde_json::from_str(text).unwrap());
    assert_eq!(value(written), value(there));
    let keys = |text: &str| -> Vec<String> { text.split('"').skip(1).step_by(2).map(str::to_owned).collect() };
    assert_eq!(keys(written), keys(there), "the order of keys, and texts");
}

#[test]
fn an_old_summary_is_read_and_written_without_a_change() {
    let read = |name: &str| std::fs::read_to_string(fixtures().join("run").join(name)).unwrap();
    let summary: pericope_eval::record::Summary = serde_json::from_str(&read("summary.json")).unwrap();
    // Null where nothing was compared is said since.
    let written = serde_json::to_string(&summary).unwrap();
    same(&written.replace(r#","verdict":null"#, ""), &read("summary.json"));
    for line in read("items.jsonl").lines() {
        let item: pericope_eval::record::Item = serde_json::from_str(line).unwrap();
        same(&serde_json::to_string(&item).unwrap(), line);
    }
    let record: pericope_eval::record::RunRecord = serde_json::from_str(&read("run.json")).unwrap();
    same(&serde_json::to_string(&record).unwrap(), &read("run.json"));
}

#[test]
fn an_old_history_is_opened_and_says_the_same() {
    let folder = tempfile::tempdir().unwrap();
    unpack("nightly.tar.gz", folder.path());
    let history = pericope_nightly::History::open(&folder.path().join("nightly"), "fixture").unwrap();
    let heads = history.heads().unwrap();
    assert_eq!(heads.iter().map(|head| head.number).collect::<Vec<_>>(), [1, 2]);
    let latest = json(&fixtures().join("latest.json"));
    let night = history.night(2).unwrap();
    assert_eq!(night.line, latest["text"].as_str().unwrap());
    for cell in latest["cells"].as_array().unwrap() {
        let key: pericope_eval::cell::CellKey = serde_json::from_value(cell.clone()).unwrap();
        for (metric, mean) in cell["metrics"].as_object().unwrap() {
            let now = night.cell(&key).unwrap().mean(&metric.as_str().into()).unwrap();
            assert!((now - mean.as_f64().unwrap()).abs() < 1e-12, "{key:?} {metric}");
        }
    }
}
