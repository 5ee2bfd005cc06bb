//! `pericope index --into qdrant://...` and `pericope search --in qdrant://...`, against the server in memory.
//!
//! `PERICOPE_CRASH_KILLS` says how often the writer is killed (6 unless set), `PERICOPE_CRASH_SEED` at which moments.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Instant;

use crate::common::{HASHED, SMALL_EXPERIMENT, folder_with, search, stderr, stdout, three_questions, without_models};
use crate::crash::{Draw, number};
use pericope_testkit::qdrant::{Call, Fault, PointData, Server};
use serde_json::Value;

/// A few pages of several chunks each, and a file of several documents.
fn tree() -> tempfile::TempDir {
    let page =
        "# Pumps\n\nPrime the pump before use. Water rises.\n\n## Errors\n\nThe pump hums and stays dry. Bleed it.\n";
    let folder = folder_with(&[
        ("guide/pump.md", page),
        ("guide/pump.txt", "A siphon of another kind. It gurgles."),
        ("api/call.md", "# Calls\n\nThe start call wakes a motor. It answers at once."),
        ("tides.markdown", "# Tides\n\nThe moon pulls at the sea. Spring tides follow the new moon."),
    ]);
    let lines = r#"{"id": "one", "title": "Foxes", "text": "Foxes dig dens. They sleep by day."}
{"id": "two", "title": "Owls", "text": "Owls hoot at night."}
"#;
    fs::write(folder.path().join("docs/animals.jsonl"), lines).unwrap();
    folder
}

fn command(folder: &Path, url: &str, extra: &[&str]) -> Output {
    let mut command = without_models(folder);
    command.args(["index", "docs", "--into", url, "--json", "--segmenter", "sentence"]).args(extra);
    command.output().unwrap()
}

/// `pericope index docs --into URL` with vectors; what it reports.
fn index(folder: &Path, url: &str, extra: &[&str]) -> Value {
    let output = command(folder, url, &[&HASHED, extra].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    serde_json::from_str(&stdout(&output)).unwrap()
}

fn documents(answer: &Value) -> Vec<&str> {
    answer["hits"].as_array().unwrap().iter().map(|hit| hit["document"].as_str().unwrap()).collect()
}

/// All points of a collection: ids, payloads, vectors.
fn contents(server: &Server, collection: &str) -> BTreeMap<String, PointData> {
    server.points(collection)
}

fn upserts(server: &Server) -> u64 {
    server.counts().calls.get(&Call::Upsert).copied().unwrap_or(0)
}

fn numbers<const N: usize>(report: &Value, names: [&str; N]) -> [u64; N] {
    names.map(|name| report[name].as_u64().unwrap_or_else(|| panic!("{name}: {report}")))
}

/// Builds the folder's collection anew, under another name, and compares.
fn assert_clean(server: &Server, folder: &Path, when: &str) {
    let name = format!("clean-{}", server.collections().len());
    index(folder, &server.url(&name), &[]);
    let (found, clean) = (contents(server, "docs"), contents(server, &name));
    assert!(!clean.is_empty());
    assert!(found.keys().eq(clean.keys()), "{when}: {} chunks, not {}", found.len(), clean.len());
    for (id, point) in &found {
        assert_eq!(point, &clean[id], "{when}");
    }
}

#[test]
fn it_answers_as_an_embedded_index() {
    let (folder, server) = (tree(), Server::start().unwrap());
    let (folder, url) = (folder.path(), server.url("docs"));
    let report = index(folder, &url, &[]);
    let embedded = index(folder, "x.idx", &[]);
    let same = ["documents", "chunks", "documents_written", "chunks_written", "bytes", "texts_embedded", "skipped"];
    assert_eq!(numbers(&report, same), numbers(&embedded, same));
    assert_eq!(report["index"], format!("qdrant://{}/docs", server.address()));
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&report), keys(&embedded));
    for mode in ["bm25", "dense", "hybrid"] {
        for query in ["spring tides", "pump hums dry", "foxes", "motor"] {
            let extra = ["--mode", mode, "--k", "1", "--context", "1"];
            let (there, here) = (search(folder, &url, query, &extra), search(folder, "x.idx", query, &extra));
            assert_eq!(keys(&there), keys(&here));
            assert_eq!((&there["query"], &there["mode"]), (&here["query"], &here["mode"]));
            let (mut there, mut here) = (there["hits"][0].clone(), here["hits"][0].clone());
            // Weighed by other statistics.
            for hit in [&mut there, &mut here] {
                assert!(hit["score"].as_f64().unwrap() > 0.0);
                hit["score"] = Value::Null;
            }
            assert_eq!(there, here, "{mode} {query}");
        }
    }
    assert_eq!(search(folder, &url, "foxes", &[])["mode"], "hybrid");
    assert_eq!(search(folder, &url, "Spring \"TIDES\"?", &["--mode", "bm25"])["hits"][0]["type"], "md");
    assert!(documents(&search(folder, &url, "zebra", &["--mode", "bm25"])).is_empty());
}

#[test]
fn filters_groups_and_timing_hold() {
    let (folder, server) = (tree(), Server::start().unwrap());
    let (folder, url) = (folder.path(), server.url("docs"));
    index(folder, &url, &[]);
    let find = |extra: &[&str]| search(folder, &url, "pump siphon moon foxes call", extra);
    for mode in ["bm25", "dense", "hybrid"] {
        let find = |extra: &[&str]| find(&[&["--mode", mode], extra].concat());
        let below = find(&["--path", "docs/guide/"]);
        assert!(!documents(&below).is_empty() && documents(&below).iter().all(|d| d.starts_with("docs/guide/")));
        let errors = find(&["--heading", "errors"]);
        assert!(!documents(&errors).is_empty());
        for hit in errors["hits"].as_array().unwrap() {
            assert_eq!(hit["heading_path"], serde_json::json!(["Pumps", "Errors"]), "{mode}");
        }
        assert!(documents(&find(&["--type", "txt", "--k", "20"])).contains(&"docs/guide/pump.txt"));
        assert!(documents(&find(&["--type", "markdown", "--k", "20"])).contains(&"docs/tides.markdown"));
        assert!(documents(&find(&["--path", "docs/nowhere"])).is_empty());
        let whole = documents(&find(&["--k", "20"])).len();
        for nothing in [["--path", ""], ["--heading", "&"]] {
            assert_eq!(documents(&find(&[&nothing[..], &["--k", "20"]].concat())).len(), whole, "{mode} {nothing:?}");
        }
        let grouped = find(&["--group", "--k", "2", "--timing", "--repeat", "3"]);
        let groups = grouped["groups"].as_array().unwrap();
        assert_eq!(groups.len(), 2);
        assert!(groups.iter().all(|group| !group["hits"].as_array().unwrap().is_empty()));
        assert_eq!(grouped["timing"]["runs"], 3);
    }
    let output = without_models(folder).args(["search", "siphon", "--in", &url, "--timing"]).output().unwrap();
    assert!(stdout(&output).contains("docs/guide/pump.txt"), "{}", stdout(&output));
    assert!(stderr(&output).contains("p95") && stderr(&output).contains("hybrid"), "{}", stderr(&output));
}

#[test]
fn the_second_run_writes_what_changed_and_nothing_else() {
    let (folder, server) = (tree(), Server::start().unwrap());
    let (folder, url) = (folder.path(), server.url("docs"));
    index(folder, &url, &[]);
    let (before, stored) = (upserts(&server), contents(&server, "docs"));
    let again = index(folder, &url, &[]);
    let names = ["documents_written", "chunks_written", "texts_embedded", "files_unchanged"];
    assert_eq!(numbers(&again, names), [0, 0, 0, 5]);
    assert_eq!((upserts(&server), contents(&server, "docs")), (before, stored));

    fs::write(folder.join("docs/tides.markdown"), "# Tides\n\nNeap tides follow the half moon.").unwrap();
    assert_eq!(numbers(&index(folder, &url, &[]), names), [1, 1, 1, 4]);
    assert_clean(&server, folder, "after a change");
    // One line of many: the other document is left alone, and the one that is not there any more goes.
    let lines = r#"{"id": "two", "title": "Owls", "text": "Owls hoot at night."}
{"id": "three", "title": "Hares", "text": "Hares run."}
"#;
    fs::write(folder.join("docs/animals.jsonl"), lines).unwrap();
    let changed = index(folder, &url, &[]);
    assert_eq!(numbers(&changed, ["documents_written", "documents_removed"]), [1, 1]);
    let ids: Vec<String> =
        contents(&server, "docs").values().map(|p| p.payload["document"].as_str().unwrap().to_owned()).collect();
    assert!(ids.contains(&"three".to_owned()) && ids.contains(&"two".to_owned()) && !ids.contains(&"one".to_owned()));
    assert_eq!(numbers(&index(folder, &url, &[]), ["documents_written"]), [0]);
}

#[test]
fn prune_removes_what_is_gone_and_a_rebuild_takes_its_place() {
    let (folder, server) = (tree(), Server::start().unwrap());
    let (folder, url) = (folder.path(), server.url("docs"));
    index(folder, &url, &[]);
    fs::remove_file(folder.join("docs/guide/pump.txt")).unwrap();
    fs::remove_file(folder.join("docs/animals.jsonl")).unwrap();
    assert_eq!(numbers(&index(folder, &url, &[]), ["documents_removed"]), [0]);
    // Another folder was named: what is gone elsewhere stays.
    let mut elsewhere = without_models(folder);
    elsewhere.args(["index", "docs/api", "--into", &url, "--prune", "--json", "--segmenter", "sentence"]).args(HASHED);
    assert_eq!(elsewhere.output().unwrap().status.code(), Some(0));
    // A worker prunes its own part.
    let parts = ["1/2", "2/2"].map(|part| index(folder, &url, &["--prune", "--shard", part]));
    let removed: u64 = parts.iter().map(|report| report["documents_removed"].as_u64().unwrap()).sum();
    assert_eq!(removed, 3);
    assert_clean(&server, folder, "after a prune");

    // With another segmenter it is another collection, and nothing is written.
    let with_paragraphs = |extra: &[&str]| {
        let mut command = without_models(folder);
        command.args(["index", "docs", "--into", &url, "--json", "--segmenter", "paragraph"]).args(HASHED).args(extra);
        command.output().unwrap()
    };
    let (refused, stored) = (with_paragraphs(&[]), contents(&server, "docs"));
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("was built with segmenter"), "{}", stderr(&refused));
    assert_eq!(contents(&server, "docs"), stored);
    let output = with_paragraphs(&["--rebuild"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(server.collections().contains(&"docs-2".to_owned()));
    assert!(!server.collections().contains(&"docs-1".to_owned()));
    let hit = search(folder, &url, "spring tides", &["--k", "1"])["hits"][0]["text"].as_str().unwrap().to_owned();
    assert!(hit.contains("moon pulls") && hit.contains("Spring tides"), "a whole paragraph: {hit}");
}

#[test]
fn a_rebuild_that_failed_leaves_the_old_one_and_is_taken_up_again() {
    let (folder, server) = (tree(), Server::start().unwrap());
    let (folder, url) = (folder.path(), server.url("docs"));
    index(folder, &url, &[]);
    let before = contents(&server, "docs");
    fs::write(folder.join("docs/new.md"), "# New\n\nLater text.").unwrap();
    server.fail(Call::ChangeAliases, Fault::Reset, 1000);
    let output = command(folder, &url, &[&HASHED[..], &["--rebuild"]].concat());
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    server.mend();
    assert_eq!(contents(&server, "docs"), before, "the old collection is searched");
    // What was in the unfinished one and is gone by now does not come along.
    fs::remove_file(folder.join("docs/guide/pump.txt")).unwrap();
    index(folder, &url, &["--rebuild"]);
    assert_clean(&server, folder, "after the second rebuild");
    assert!(server.collections().contains(&"docs-2".to_owned()));
}

#[test]
fn a_rebuild_that_lacks_what_is_searched_is_not_published() {
    let (folder, server) = (tree(), Server::start().unwrap());
    let (folder, url) = (folder.path(), server.url("docs"));
    index(folder, &url, &[]);
    let before = contents(&server, "docs");
    let tides = folder.join("docs/tides.markdown");
    let text = fs::read_to_string(&tides).unwrap();
    fs::write(&tides, [0u8, 159, 146, 150, 0]).unwrap();
    let rebuild = || command(folder, &url, &[&HASHED[..], &["--rebuild"]].concat());
    for _ in 0..2 {
        let output = rebuild();
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("not published: 1 of") && said.contains("(docs/tides.markdown for one)"), "{said}");
        assert_eq!(server.collections(), ["docs-1", "docs-2"]);
        assert_eq!(contents(&server, "docs"), before);
    }
    fs::write(&tides, text).unwrap();
    index(folder, &url, &["--rebuild"]);
    assert_eq!(server.collections(), ["docs-2"]);
    assert_eq!(contents(&server, "docs"), before);
    // What was never searched is no loss.
    fs::write(folder.join("docs/new.md"), [0u8, 159, 146, 150, 0]).unwrap();
    let output = rebuild();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(!stderr(&output).contains("published"), "{}", stderr(&output));
    assert_eq!(server.collections(), ["docs-3"]);
    assert_eq!(contents(&server, "docs"), before);
    // Nor is a page that has no text any more.
    let moon = || documents(&search(folder, &url, "moon", &["--mode", "bm25"])).len();
    assert!(moon() > 0);
    fs::write(folder.join("docs/new.md"), "---\ntitle: New\n---\n").unwrap();
    fs::write(&tides, "").unwrap();
    let report = index(folder, &url, &["--rebuild"]);
    assert_eq!((report["empty"].as_u64(), report["skipped"].as_u64()), (Some(2), Some(0)), "{report}");
    assert_eq!(server.collections(), ["docs-4"]);
    assert_eq!(moon(), 0);
}

#[test]
fn two_workers_are_one() {
    let (folder, server) = (tree(), Server::start().unwrap());
    let (folder, url) = (folder.path(), server.url("docs"));
    let start = |part: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pericope"));
        command.current_dir(folder).env("PERICOPE_HOME", folder.join("no-home"));
        command
            .args(["index", "docs", "--into", &url, "--segmenter", "sentence", "--part", part, "--json"])
            .args(HASHED);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let mut written = Vec::new();
    for worker in ["1/2", "2/2"].map(start) {
        let output = worker.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
        written.push(numbers(&report, ["documents_written"])[0]);
    }
    assert!(written.iter().all(|&n| n > 0) && written.iter().sum::<u64>() == 6, "{written:?}");
    assert_clean(&server, folder, "by two workers");
}

#[test]
fn without_an_embedder_there_are_words_alone() {
    let (folder, server) = (tree(), Server::start().unwrap());
    let (folder, url) = (folder.path(), server.url("docs"));
    let output = command(folder, &url, &["--embedder", "none", "--tokenizer", "words"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let points = contents(&server, "docs");
    assert!(!points.is_empty() && points.values().all(|p| p.dense.is_empty() && !p.sparse.is_empty()));
    let answer = search(folder, &url, "owls", &[]);
    assert_eq!((&answer["mode"], documents(&answer)), (&Value::from("bm25"), vec!["two"]));
    let dense = without_models(folder).args(["search", "owls", "--in", &url, "--mode", "dense"]).output().unwrap();
    assert_eq!(dense.status.code(), Some(2));
    assert!(stderr(&dense).contains("--mode bm25"), "{}", stderr(&dense));
}

#[test]
fn mistakes_end_in_one_line_with_status_two() {
    let (folder, server) = (tree(), Server::start().unwrap());
    let (folder, url) = (folder.path(), server.url("docs"));
    index(folder, &url, &[]);
    let missing = server.url("nowhere");
    let secret = url.replace("qdrant://", "qdrant://sesame@");
    let wrong = secret.replace("/docs?", "/docs?shard=1&");
    let none = ["--embedder", "none", "--tokenizer", "words"];
    for (output, part) in [
        (command(folder, &url, &none), "embedder"),
        (command(folder, &wrong, &HASHED), "shard"),
        (command(folder, "qdrant://localhost", &HASHED), "no collection"),
        (command(folder, &url, &[&HASHED[..], &["--part", "3/2"]].concat()), "3/2"),
        (command(folder, &url, &[&HASHED[..], &["--shard", "1/2", "--rebuild"]].concat()), "--shard"),
        (without_models(folder).args(["search", "moon", "--in", &missing]).output().unwrap(), "no collection"),
        (without_models(folder).args(["search", "moon", "--in", &wrong]).output().unwrap(), "shard"),
    ] {
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{part}: {said}");
        assert!(said.contains(part) && !said.contains("sesame"), "{part}: {said}");
    }
    let with_key = index(folder, &secret, &[]);
    assert!(!with_key.to_string().contains("sesame"), "{with_key}");
}

/// On Unix 0.0.0.0 leads to this machine too, but is no address of it.
#[cfg(unix)]
#[test]
fn a_key_in_plain_text_is_warned_of_once_and_works() {
    let (folder, server) = (tree(), Server::start().unwrap());
    let folder = folder.path();
    let url = server.url("docs").replace("qdrant://127.0.0.1", "qdrant://sesame@0.0.0.0");
    let output = command(folder, &url, &HASHED);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert_eq!(said.matches("as plain text").count(), 1, "{said}");
    assert!(said.contains("warning: ") && said.contains("qdrants://") && !said.contains("sesame"), "{said}");
    let local = command(folder, &server.url("docs").replace("qdrant://", "qdrant://sesame@"), &HASHED);
    assert!(!stderr(&local).contains("plain text"), "{}", stderr(&local));
}

#[test]
fn a_wait_that_the_server_asks_for_is_told() {
    let (folder, server) = (tree(), Server::start().unwrap());
    let folder = folder.path();
    server.fail(Call::Upsert, Fault::Busy(std::time::Duration::from_secs(2)), 1);
    let output = command(folder, &server.url("docs"), &HASHED);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("storing chunks failed at 127.0.0.1:") && said.contains("attempt 2 of 9 in 2 s"), "{said}");
    assert_clean(&server, folder, "after a wait");
}

#[test]
fn a_server_that_is_down_ends_the_run_and_the_next_one_finishes() {
    let (folder, mut server) = (tree(), Server::start().unwrap());
    let folder = folder.path();
    let url = format!("{}&batch_points=2", server.url("docs"));
    let gives_up = |what: &str| {
        let output = command(folder, &url, &HASHED);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{what}: {said}");
        assert_eq!(said.trim().lines().count(), 1, "{what}: {said}");
        assert!(said.contains("is the server up?") && stdout(&output).is_empty(), "{what}: {said}");
    };
    server.stop();
    gives_up("from the start");
    let searched = without_models(folder).args(["search", "moon", "--in", &url]).output().unwrap();
    assert_eq!((searched.status.code(), stderr(&searched).trim().lines().count()), (Some(3), 1));
    server.restart().unwrap();
    // Each batch is stored by half, over and over.
    server.fail(Call::Upsert, Fault::Half, 1000);
    gives_up("half of a batch");
    server.mend();
    assert!(!contents(&server, "docs").is_empty(), "something was stored");
    index(folder, &url, &[]);
    assert_clean(&server, folder, "after the server came back");
    // Old chunks cannot be deleted: a document is there in two revisions.
    fs::write(folder.join("docs/tides.markdown"), "# Tides\n\nNeap tides follow the half moon.").unwrap();
    server.fail(Call::Delete, Fault::Reset, 1000);
    gives_up("deleting");
    server.mend();
    index(folder, &url, &[]);
    assert_clean(&server, folder, "after a half replacement");
}

/// A page of a dozen sentences.
fn page(draw: &mut Draw) -> String {
    let mut sentence = || (0..8).map(|_| format!("w{} ", draw.below(400))).collect::<String>();
    let sentences: Vec<String> = (0..12).map(|_| format!("S{}.", sentence().trim())).collect();
    format!("# Page\n\n{}\n", sentences.join(" "))
}

#[test]
fn killed_at_any_moment_it_ends_as_built_at_once() {
    let (kills, seed) = (number("PERICOPE_CRASH_KILLS", 6), number("PERICOPE_CRASH_SEED", 7));
    let mut draw = Draw::new(seed);
    let (root, server) = (tempfile::tempdir().unwrap(), Server::start().unwrap());
    let folder = root.path();
    fs::create_dir(folder.join("docs")).unwrap();
    for i in 0..40 {
        fs::write(folder.join(format!("docs/page-{i:02}.md")), page(&mut draw)).unwrap();
    }
    let url = format!("{}&batch_points=8&in_flight=2", server.url("docs"));
    let extra = ["--prune", "--commit-mb", "0.005"];
    let started = Instant::now();
    index(folder, &format!("{}&batch_points=8&in_flight=2", server.url("first")), &extra);
    let mut longest = started.elapsed();
    let (mut killed, mut ended) = (0, 0);
    while killed < kills {
        for _ in 0..1 + draw.below(3) {
            for _ in 0..draw.below(20) {
                let path = folder.join(format!("docs/page-{:02}.md", draw.below(50)));
                match draw.below(4) {
                    0 if path.exists() => fs::remove_file(path).unwrap(),
                    _ => fs::write(path, page(&mut draw)).unwrap(),
                }
            }
            let mut command = Command::new(env!("CARGO_BIN_EXE_pericope"));
            command.current_dir(folder).env("PERICOPE_HOME", folder.join("no-home"));
            command.args(["index", "docs", "--into", &url, "--segmenter", "sentence"]).args(HASHED).args(extra);
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            std::thread::sleep(longest.mul_f64(draw.below(1000) as f64 / 1000.0));
            match child.try_wait().unwrap() {
                Some(_) => ended += 1,
                None => {
                    child.kill().unwrap();
                    killed += 1;
                }
            }
            child.wait().unwrap();
        }
        let started = Instant::now();
        index(folder, &url, &extra);
        longest = longest.max(started.elapsed()).mul_f64(0.95);
        assert_clean(&server, folder, &format!("after {killed} kills, seed {seed}"));
    }
    println!("{killed} kills ({ended} runs had ended before), {} chunks at the end", contents(&server, "docs").len());
}

#[test]
fn chunkers_are_measured_in_collections_of_their_own() {
    let server = Server::start().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/v0.1");
    fs::copy(fixtures.join("questions.json"), folder.path().join("questions.json")).unwrap();
    let config = "kind = \"retrieval\"\nname = \"server\"\n[data]\nkind = \"squad\"\npath = \"questions.json\"\n\
        [retrieval]\nembedder = \"none\"\nmodes = [\"bm25\"]\nk = [1, 3]\n\
        [[chunker]]\nname = \"fixed\"\nspec = \"fixed:words=20\"\n[[chunker]]\nname = \"structure\"\nspec = \"structure\"\n";
    fs::write(folder.path().join("run.toml"), config).unwrap();
    let run = |extra: &[&str]| -> Value {
        let output =
            without_models(folder.path()).args(["eval", "run", "run.toml", "--json"]).args(extra).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        serde_json::from_str(&stdout(&output)).unwrap()
    };
    let place = format!("retrieval.in={}", server.url("eval"));
    let (here, there) = (run(&["--out", "here"]), run(&["--out", "there", "--set", &place]));
    for (embedded, served) in here["cells"].as_array().unwrap().iter().zip(there["cells"].as_array().unwrap()) {
        assert_eq!((&embedded["chunker"], &embedded["k"]), (&served["chunker"], &served["k"]));
        // The server's BM25 takes its mean length from the settings: on four questions it finds the same.
        assert_eq!(embedded["metrics"]["hit"], served["metrics"]["hit"], "{served}");
    }
    let mut names = server.collections();
    names.retain(|name| name.starts_with("eval-"));
    for chunker in ["eval-fixed", "eval-structure"] {
        assert!(names.iter().any(|name| name.starts_with(chunker)), "{names:?}");
    }
    // A second run builds anew and finds the same.
    assert_eq!(run(&["--out", "again", "--set", &place])["cells"][0]["metrics"], there["cells"][0]["metrics"]);
}

#[test]
fn an_address_of_another_kind_is_no_folder() {
    let tree = tree();
    let folder = tree.path();
    three_questions(folder);
    fs::write(folder.join("small.toml"), SMALL_EXPERIMENT).unwrap();
    for place in ["http://127.0.0.1:6333/docs", "grpc://127.0.0.1:6334/docs", "qdrant:docs"] {
        let output = command(folder, place, &["--embedder", "none", "--tokenizer", "words"]);
        assert_eq!(output.status.code(), Some(2), "{place}: {}", stderr(&output));
        assert!(stderr(&output).contains("write qdrant://HOST:6334/COLLECTION"), "{place}: {}", stderr(&output));
        let searched = without_models(folder).args(["search", "moon", "--in", place]).output().unwrap();
        assert_eq!(searched.status.code(), Some(2), "{place}: {}", stderr(&searched));
    }
    let set = ["--set", "retrieval.in=http://127.0.0.1:6333/docs"];
    let output = without_models(folder).args(["eval", "run", "small.toml", "--out", "run"]).args(set).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("retrieval.in begins with http://"), "{}", stderr(&output));
    let left: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(!left.iter().any(|name| name.contains(':') || name == "run"), "{left:?}");
    // Our own scheme counts in any case.
    let server = Server::start().unwrap();
    index(folder, &server.url("docs").replace("qdrant://", "QDRANT://"), &[]);
    assert!(!contents(&server, "docs").is_empty());
}

#[test]
fn an_experiment_takes_the_place_of_no_collection_of_others() {
    let (tree, server) = (tree(), Server::start().unwrap());
    let folder = tree.path();
    let url = server.url("mine-fixed");
    index(folder, &url, &[]);
    let before = contents(&server, "mine-fixed");
    three_questions(folder);
    fs::write(folder.join("small.toml"), SMALL_EXPERIMENT).unwrap();
    let place = format!("retrieval.in={}", server.url("mine"));
    let args = ["eval", "run", "small.toml", "--out", "run", "--set", &place];
    let output = without_models(folder).args(args).output().unwrap();
    assert!(matches!(output.status.code(), Some(2 | 3)), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(said.contains("`mine-fixed-1`, which no evaluation made") && said.contains("retrieval.in"), "{said}");
    assert_eq!(contents(&server, "mine-fixed"), before);
    assert_eq!(documents(&search(folder, &url, "spring tides", &["--mode", "bm25", "--k", "1"])).len(), 1);
}
