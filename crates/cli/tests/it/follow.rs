//! `pericope index` over time: again, watched, interrupted, over bad input; and what `search` can be told.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::common::{self, HASHED, folder_with, report, stderr, stdout, without_models};
use serde_json::Value;

fn index(folder: &Path, extra: &[&str]) -> std::process::Output {
    let mut command = without_models(folder);
    command.args(["index", "docs", "--into", "x.idx", "--json"]).args(HASHED).args(extra);
    command.output().unwrap()
}

fn search(folder: &Path, query: &str, extra: &[&str]) -> Value {
    common::search(folder, "x.idx", query, extra)
}

#[test]
fn a_rebuild_says_whether_it_is_published() {
    let folder = folder_with(&[("a.md", "Foxes dig."), ("b.md", "Owls hoot.")]);
    assert!(report(&index(folder.path(), &[])).get("published").is_none());
    fs::write(folder.path().join("docs/b.md"), [0u8, 159, 146, 150, 0]).unwrap();
    let held = report(&index(folder.path(), &["--rebuild"]));
    assert_eq!((&held["published"], &held["documents"]), (&false.into(), &1.into()), "{held}");
    let mut command = without_models(folder.path());
    let told = command.args(["index", "docs", "--into", "x.idx", "--rebuild"]).args(HASHED).output().unwrap();
    assert!(stdout(&told).contains("x.idx (rebuild, not published): 1 document"), "{}", stdout(&told));
    fs::write(folder.path().join("docs/b.md"), "Owls hoot.").unwrap();
    let built = report(&index(folder.path(), &["--rebuild"]));
    assert_eq!((&built["published"], &built["documents"]), (&true.into(), &2.into()), "{built}");
}

#[test]
fn the_second_run_reads_what_changed() {
    let long: String = (0..80).map(|i| format!("Sentence {i} of many about foxes. ")).collect();
    let folder = folder_with(&[("a.md", &long), ("b.md", "Hares run."), ("c.txt", "Owls hoot.")]);
    let first = report(&index(folder.path(), &["--max-tokens", "20"]));
    assert_eq!((first["documents"].as_u64(), first["files_unchanged"].as_u64()), (Some(3), Some(0)));
    let chunks = first["chunks"].as_u64().unwrap();
    assert!(chunks > 20 && first["texts_embedded"].as_u64() == Some(chunks), "{first}");
    let again = report(&index(folder.path(), &["--max-tokens", "20"]));
    assert_eq!((again["documents_written"].as_u64(), again["files_unchanged"].as_u64()), (Some(0), Some(3)));
    fs::write(folder.path().join("docs/b.md"), "Hares sleep.").unwrap();
    let changed = report(&index(folder.path(), &["--max-tokens", "20", "--trust-mtime"]));
    assert_eq!((changed["documents_written"].as_u64(), changed["texts_embedded"].as_u64()), (Some(1), Some(1)));
    // A file of another name with the same text: its vectors are known.
    fs::rename(folder.path().join("docs/a.md"), folder.path().join("docs/z.md")).unwrap();
    let renamed = report(&index(folder.path(), &["--max-tokens", "20", "--prune"]));
    assert_eq!((renamed["texts_embedded"].as_u64(), renamed["documents_removed"].as_u64()), (Some(0), Some(1)));
    assert_eq!(renamed["chunks"].as_u64(), Some(chunks));
}

#[test]
fn documents_outlive_the_name_of_their_file() {
    let lines = "{\"id\": \"one\", \"text\": \"Foxes dig.\"}\n{\"id\": \"two\", \"text\": \"Owls hoot.\"}\n";
    let folder = folder_with(&[("a.jsonl", lines)]);
    assert_eq!(report(&index(folder.path(), &[]))["documents"], 2);
    fs::rename(folder.path().join("docs/a.jsonl"), folder.path().join("docs/b.jsonl")).unwrap();
    for _ in 0..2 {
        assert_eq!(report(&index(folder.path(), &["--prune"]))["documents"], 2);
        for (word, document) in [("foxes", "one"), ("owls", "two")] {
            assert_eq!(search(folder.path(), word, &["--mode", "bm25"])["hits"][0]["document"], document);
        }
    }
}

#[test]
fn prune_stays_below_the_paths_that_were_named() {
    let folder = folder_with(&[("a/one.md", "Foxes dig."), ("b/two.md", "Hares run."), ("b/three.md", "Owls hoot.")]);
    index(folder.path(), &[]);
    fs::remove_dir_all(folder.path().join("docs/a")).unwrap();
    fs::remove_file(folder.path().join("docs/b/three.md")).unwrap();
    let mut command = without_models(folder.path());
    command.args(["index", "./docs/b/", "--into", "x.idx", "--json", "--prune"]).args(HASHED);
    assert_eq!(report(&command.output().unwrap())["documents"], 2, "what lies elsewhere stays");
    assert_eq!(report(&index(folder.path(), &["--prune"]))["documents"], 1);
}

#[test]
fn bad_input_is_named_counted_and_survived() {
    let folder = folder_with(&[
        ("good.md", "# Good\n\nFoxes dig dens."),
        ("broken.html", "<html><body><p>Unclosed <b>tags <div></span><table><tr><td>cell &#xFFFFFFF; <script>if (a<b"),
        ("big.txt", ""),
        ("scan.pdf", "%PDF-1.4\n1 0 obj << >> endobj\ntrailer << >>\n%%EOF\n"),
    ]);
    let docs = folder.path().join("docs");
    fs::write(docs.join("big.txt"), "word ".repeat(300_000)).unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(".", docs.join("loop")).unwrap();
        std::os::unix::fs::symlink("self.md", docs.join("self.md")).unwrap();
    }
    for _ in 0..2 {
        let output = index(folder.path(), &["--max-file-mb", "1"]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        for name in ["big.txt", "scan.pdf", "loop", "self.md"] {
            assert!(said.contains(name), "{name} is not named: {said}");
        }
        assert!(!said.contains("good.md") && !said.contains("broken.html"), "{said}");
        let report = report(&output);
        assert_eq!((report["skipped"].as_u64(), report["documents"].as_u64()), (Some(4), Some(2)), "{said}");
    }
    assert_eq!(search(folder.path(), "foxes", &["--mode", "bm25"])["hits"][0]["document"], "docs/good.md");
}

#[test]
fn a_file_that_is_read_in_part_is_indexed_and_named() {
    let folder = folder_with(&[("good.md", "# Good\n\nFoxes dig dens.")]);
    fs::write(folder.path().join("docs/part.pdf"), pericope_testkit::hostile::pdf::readable_in_part()).unwrap();
    let missing = "incomplete: docs/part.pdf: page 1 of 1 could not be read in full: the parser gave up";
    let output = index(folder.path(), &[]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains(missing) && said.contains("1 of the inputs was read in part"), "{said}");
    assert!(!said.contains("skipped") && !said.contains("left out"), "{said}");
    let report = report(&output);
    let counts = ["documents", "skipped", "incomplete"].map(|key| report[key].as_u64());
    assert_eq!(counts, [Some(2), Some(0), Some(1)], "{report}");
    assert_eq!(search(folder.path(), "readable", &["--mode", "bm25"])["hits"][0]["document"], "docs/part.pdf");

    let segment = without_models(folder.path()).args(["segment", "docs", "--segmenter", "paragraph"]).output().unwrap();
    let said = stderr(&segment);
    assert_eq!(segment.status.code(), Some(1), "{said}");
    assert!(said.contains(missing) && said.contains("1 of the inputs could not be read in full"), "{said}");
    assert!(!said.contains("skipped") && !said.contains("could not be cut"), "{said}");
}

#[test]
fn search_filters_groups_and_shows_neighbours() {
    let page =
        "# Pumps\n\nPrime the pump before use. Water rises.\n\n## Errors\n\nThe pump hums and stays dry. Bleed it.\n";
    let folder = folder_with(&[
        ("guide/pump.md", page),
        ("guide/pump.txt", "A pump of another kind. It hums."),
        ("api/pump.md", "# Pump calls\n\nThe pump call starts a pump."),
    ]);
    index(folder.path(), &["--segmenter", "sentence"]);
    let documents = |answer: &Value| -> Vec<String> {
        answer["hits"].as_array().unwrap().iter().map(|h| h["document"].as_str().unwrap().to_owned()).collect()
    };
    let bm25 = ["--mode", "bm25"];
    let found = |extra: &[&str]| search(folder.path(), "pump", &[&bm25, extra].concat());
    assert!(documents(&found(&["--path", "docs/guide/"])).iter().all(|d| d.starts_with("docs/guide/")));
    assert_eq!(documents(&found(&["--type", "txt"])), ["docs/guide/pump.txt"]);
    let errors = found(&["--heading", "errors"]);
    assert!(documents(&errors).iter().all(|d| d == "docs/guide/pump.md") && !documents(&errors).is_empty());
    assert_eq!(errors["hits"][0]["type"], "md");
    assert!(errors["hits"][0]["anchor"].is_null() || errors["hits"][0]["anchor"].is_string());

    let answer = search(folder.path(), "\"stays dry\"", &[&bm25[..], &["--context", "1", "--k", "1"]].concat());
    let context = &answer["hits"][0]["context"];
    let (start, end) = (context["start"].as_u64().unwrap() as usize, context["end"].as_u64().unwrap() as usize);
    assert_eq!(context["text"], page[start..end]);
    assert!(context["text"].as_str().unwrap().contains("Bleed it"), "{context}");

    let grouped = search(folder.path(), "pump", &["--group", "--mode", "dense", "--k", "2"]);
    let groups = grouped["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 2);
    assert_ne!(groups[0]["document"], groups[1]["document"]);
    assert_eq!(grouped["hits"][0], groups[0]["hits"][0]);
    for group in groups {
        assert!(group["hits"].as_array().unwrap().iter().all(|h| h["document"] == group["document"]));
    }

    let timed = search(folder.path(), "pump", &["--timing", "--repeat", "5"]);
    let timing = &timed["timing"];
    assert_eq!(timing["runs"], 5);
    assert!(0.0 < timing["p50_ms"].as_f64().unwrap() && timing["p50_ms"].as_f64() <= timing["p95_ms"].as_f64());

    // For people: neighbours, groups and times at once.
    let mut command = without_models(folder.path());
    command.args(["search", "pump", "--in", "x.idx", "--group", "--context", "1", "--timing", "--repeat", "2"]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("docs/guide/pump.md") && stderr(&output).contains("p95"));
}

#[test]
fn an_older_format_says_how_to_go_on() {
    let folder = folder_with(&[("a.md", "Foxes dig.")]);
    index(folder.path(), &[]);
    let meta = folder.path().join("x.idx/pericope.json");
    let text = fs::read_to_string(&meta).unwrap();
    let old = text.lines().map(|line| if line.contains("\"format\"") { "  \"format\": 1," } else { line });
    fs::write(&meta, old.collect::<Vec<_>>().join("\n")).unwrap();
    let output = index(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--rebuild"), "{}", stderr(&output));
    assert_eq!(report(&index(folder.path(), &["--rebuild"]))["documents"], 1);
}

/// A child whose standard error is read line by line.
pub struct Running {
    child: Child,
    lines: Receiver<String>,
}

impl Running {
    pub fn start(folder: &Path, extra: &[&str]) -> Self {
        Self::under(":", folder, extra)
    }

    /// After a command of the shell that takes its place.
    fn under(before: &str, folder: &Path, extra: &[&str]) -> Self {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{before}; exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_pericope")]);
        command.current_dir(folder).env("PERICOPE_HOME", folder.join("no-home"));
        command.args(["index", "docs", "--into", "x.idx"]).args(HASHED).args(extra);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let errors = child.stderr.take().unwrap();
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(errors).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, lines }
    }

    pub fn wait_for(&mut self, what: &str) {
        let until = Instant::now() + Duration::from_secs(60);
        let mut seen = Vec::new();
        while Instant::now() < until {
            if let Ok(line) = self.lines.recv_timeout(Duration::from_millis(200)) {
                if line.contains(what) {
                    return;
                }
                seen.push(line);
            }
        }
        panic!("{what:?} was never said, but {seen:?}");
    }

    fn tell(&self, signal: &str) {
        let status = Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        assert!(status.success());
    }

    pub fn interrupt(self) -> Option<i32> {
        self.end_by("-INT")
    }

    fn end_by(self, signal: &str) -> Option<i32> {
        self.tell(signal);
        self.end()
    }

    fn end(mut self) -> Option<i32> {
        let until = Instant::now() + Duration::from_secs(60);
        while Instant::now() < until {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        self.child.kill().unwrap();
        panic!("the interrupt was not heard");
    }
}

#[cfg(unix)]
#[test]
fn a_watched_tree_is_followed_until_the_interrupt() {
    let folder = folder_with(&[("a.md", "Foxes dig."), ("b.md", "Hares run.")]);
    let docs = folder.path().join("docs");
    let mut running = Running::start(folder.path(), &["--watch"]);
    running.wait_for("watching");
    fs::write(docs.join("c.md"), "Owls hoot.").unwrap();
    running.wait_for("indexed: docs/c.md");
    fs::write(docs.join("a.md"), "Foxes sleep.").unwrap();
    running.wait_for("indexed: docs/a.md");
    fs::remove_file(docs.join("b.md")).unwrap();
    running.wait_for("removed: docs/b.md");
    // Others may search in between.
    assert_eq!(search(folder.path(), "sleep", &[])["hits"].as_array().unwrap().len(), 2);
    fs::create_dir(docs.join("new")).unwrap();
    fs::write(docs.join("new/d.md"), "Eels swim.").unwrap();
    running.wait_for("indexed: docs/new/d.md");
    assert_eq!(running.interrupt(), Some(0));
    let report = report(&index(folder.path(), &["--prune"]));
    assert_eq!((report["documents"].as_u64(), report["files_unchanged"].as_u64()), (Some(3), Some(3)), "{report}");
}

#[cfg(unix)]
#[test]
fn a_change_that_the_stamp_hides_is_seen_while_it_is_watched() {
    let folder = folder_with(&[("a.md", "Foxes dig.")]);
    let page = folder.path().join("docs/a.md");
    // Old enough for its stamp to be believed.
    let time = std::time::SystemTime::now() - Duration::from_secs(3600);
    let write = |text: &str| {
        fs::write(&page, text).unwrap();
        fs::File::options().write(true).open(&page).unwrap().set_modified(time).unwrap();
    };
    write("Foxes dig.");
    let mut running = Running::start(folder.path(), &["--watch"]);
    running.wait_for("watching");
    // The first pass after the watch began believes stamps: a change of another file shows that it is over.
    fs::write(folder.path().join("docs/b.md"), "Hares run.").unwrap();
    running.wait_for("indexed: docs/b.md");
    write("Foxes nap.");
    running.wait_for("indexed: docs/a.md");
    assert_eq!(running.interrupt(), Some(0));
}

#[cfg(unix)]
#[test]
fn the_end_of_the_terminal_ends_the_run_unless_it_was_told_to_stay() {
    let folder = folder_with(&[("a.md", "Foxes dig.")]);
    // Under `nohup` this process ignores hangups, and so do its children, as they should.
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    let under_nohup = mask.is_some_and(|mask| mask & 1 == 1);
    for (signal, ignored) in [("-HUP", false), ("-TERM", true)] {
        if under_nohup && !ignored {
            println!("SKIPPED: the end of the terminal: these tests run under nohup");
            continue;
        }
        let mut running = Running::under(if ignored { "trap '' HUP" } else { ":" }, folder.path(), &["--watch"]);
        running.wait_for("watching");
        if ignored {
            running.tell("-HUP");
            fs::write(folder.path().join("docs/b.md"), "Hares run.").unwrap();
            running.wait_for("indexed: docs/b.md");
        }
        assert_eq!(running.end_by(signal), Some(0), "{signal}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_says_so_and_is_gone_on_with() {
    let text: String =
        (0..400).map(|i| format!("Sentence {i} tells of foxes and their dens in banks of sand. ")).collect();
    let pages: Vec<(String, String)> = (0..600).map(|i| (format!("p{i:03}.md"), format!("# P{i}\n\n{text}"))).collect();
    let pages: Vec<(&str, &str)> = pages.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let folder = folder_with(&pages);
    // A rebuild is made beside the index, and taken up again likewise.
    for (extra, place) in [(&[][..], "x.idx/text"), (&["--rebuild"][..], "x.idx/build-1/text")] {
        let begun = std::time::SystemTime::now();
        let mut running = Running::start(folder.path(), &[&["--memory", "4"][..], extra].concat());
        let until = Instant::now() + Duration::from_secs(60);
        // Words of this run are on the disk.
        let wrote = || {
            let files = std::fs::read_dir(folder.path().join(place)).into_iter().flatten().flatten();
            let mut files = files.filter(|file| file.path().extension().is_some_and(|end| end == "store"));
            files.any(|file| file.metadata().and_then(|about| about.modified()).is_ok_and(|time| time >= begun))
        };
        while !wrote() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(10));
        }
        running.tell("-INT");
        running.wait_for(": the same command goes on");
        assert_eq!(running.end(), Some(130));
        let rest = report(&index(folder.path(), extra));
        assert_eq!(rest["documents"], 600);
        let unchanged = rest["files_unchanged"].as_u64().unwrap();
        assert!(0 < unchanged && unchanged < 600, "{unchanged} were written before the interrupt");
    }
}
