//! Files that break, or keep for ever, whoever reads them: each costs itself alone.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use pericope_read::{Isolation, ReadError, WorkerLimits, WorkerPool};
use pericope_testkit::hostile::{self, pdf::READABLE};
use serde_json::Value;

use crate::common::{stderr, stdout, without_models};

/// Fifty pages, and files beside them.
fn folder(files: &[(&str, Vec<u8>)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let docs = folder.path().join("docs");
    fs::create_dir(&docs).unwrap();
    for i in 0..50 {
        fs::write(docs.join(format!("good-{i:02}.md")), format!("# Page {i}\n\nBadgers dig hole number {i}.\n"))
            .unwrap();
    }
    for (name, bytes) in files {
        fs::write(docs.join(name), bytes).unwrap();
    }
    folder
}

fn made(name: &str, scale: usize) -> Vec<u8> {
    hostile::document(name, scale).unwrap().1
}

/// The command, started so that others can look at it.
fn start(folder: &Path, args: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pericope"));
    command.current_dir(folder).env("PERICOPE_HOME", folder.join("no-home")).args(args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

const INDEX: [&str; 8] = ["index", "docs", "--into", "i", "--embedder", "none", "--tokenizer", "words"];

fn documents(folder: &Path) -> usize {
    let output =
        without_models(folder).args(["search", "badgers", "--in", "i", "--k", "200", "--json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let found: Value = serde_json::from_str(&stdout(&output)).unwrap();
    found["hits"].as_array().unwrap().len()
}

/// A process and its children, by their numbers.
fn family(parent: u32) -> Vec<u32> {
    let mut found = vec![parent];
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(id) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let status = fs::read_to_string(entry.path().join("status")).unwrap_or_default();
        let above = status.lines().find_map(|line| line.strip_prefix("PPid:"));
        if above.is_some_and(|above| above.trim() == parent.to_string()) {
            found.push(id);
        }
    }
    found
}

/// Its workers that are at it.
fn workers(parent: u32) -> Vec<u32> {
    let is_worker = |id: &u32| {
        fs::read(format!("/proc/{id}/cmdline"))
            .is_ok_and(|line| String::from_utf8_lossy(&line).contains("--read-worker"))
    };
    family(parent).into_iter().filter(is_worker).collect()
}

/// Bytes of memory that these processes have for themselves.
fn private_memory(processes: &[u32]) -> u64 {
    let of = |id: &u32| {
        let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap_or_default().to_owned();
        line.split_whitespace().next().and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0) << 10
    };
    processes.iter().map(of).sum()
}

/// Waits until it is so; the limit is for a test that would fail anyway.
fn until(what: &str, mut so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !so() {
        assert!(begun.elapsed() < Duration::from_secs(120), "still waiting: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn signal(name: &str, process: u32) {
    assert!(Command::new("kill").args([name, &process.to_string()]).status().unwrap().success());
}

/// A file of a family. What comes out of a bomb is packed first, which takes seconds: some times the memory is enough.
fn one_of(family: &hostile::Family) -> Vec<u8> {
    let most = if family.name.starts_with("pdf_bomb_") { 600 } else { usize::MAX };
    (family.make)(family.scale.min(most))
}

#[test]
fn every_hostile_file_is_named_or_read_and_the_others_are_indexed_in_bounded_memory() {
    const MEMORY: u64 = 128;
    let files: Vec<(String, Vec<u8>)> =
        hostile::untrusted().map(|family| (format!("{}.pdf", family.name), one_of(family))).collect();
    let files: Vec<(&str, Vec<u8>)> = files.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect();
    let folder = folder(&files);
    let memory = MEMORY.to_string();
    let args = [&INDEX[..], &["--json", "--memory", &memory, "--file-timeout", "4"]].concat();
    let child = start(folder.path(), &args);
    let id = child.id();
    let over = Arc::new(AtomicBool::new(false));
    let ended = Arc::clone(&over);
    let watch = std::thread::spawn(move || {
        let mut most = 0;
        while !ended.load(Ordering::Relaxed) {
            most = most.max(private_memory(&family(id)));
            std::thread::sleep(Duration::from_millis(5));
        }
        most
    });
    let output = child.wait_with_output().unwrap();
    over.store(true, Ordering::Relaxed);
    let most = watch.join().unwrap();
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(most < (MEMORY + 200) * 1_000_000, "{} MB", most / 1_000_000);
    assert_eq!(documents(folder.path()), 50);
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let named =
        |name: &str| said.lines().any(|line| line.contains("skipped") && line.contains(&format!("/{name}.pdf")));
    let skipped = hostile::untrusted().filter(|family| named(family.name)).count();
    let total = hostile::untrusted().count();
    assert_eq!(report["documents"], 50 + total - skipped, "each is named or read: {said}");
    for (name, why) in [
        ("pdf_cmap_brackets", "the PDF reader ran out of memory (128 MB)"),
        ("pdf_cmap_parentheses", "the PDF reader "),
        ("pdf_bomb_image", "the PDF reader ran out of memory (128 MB)"),
        ("pdf_laughs", "took longer than 4 s"),
        ("pdf_white", "not a PDF"),
    ] {
        let line = said.lines().find(|line| line.contains(&format!("/{name}.pdf"))).unwrap_or_default();
        assert!(line.contains("skipped") && line.contains(why), "{name}: {line:?} in {said}");
    }
    for name in ["pdf_form_bare", "pdf_form_image", "pdf_form_tight", "pdf_form_own"] {
        assert!(!named(name), "{name} holds text that can be read: {said}");
    }
}

#[test]
fn other_commands_survive_them_too() {
    let folder = folder(&[("m.pdf", made("pdf_cmap_brackets", 1_000_000)), ("ok.pdf", hostile::pdf::readable())]);
    fs::write(
        folder.path().join("docs/ask.md"),
        "# How do badgers dig?\n\nWith their claws, and they dig all night long, \
        in every kind of weather and in any soil that there is.\n",
    )
    .unwrap();
    let run = |args: &[&str]| -> Output { without_models(folder.path()).args(args).output().unwrap() };
    let cut = run(&["segment", "docs", "--format", "json", "--tokenizer", "words"]);
    let made = run(&["dataset", "from-docs", "docs", "--out", "q.json"]);
    let joined = run(&["dataset", "synthetic", "docs", "--out", "s.jsonl", "--documents", "2", "--parts", "2"]);
    for output in [&cut, &made, &joined] {
        let said = stderr(output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("skipped: docs/m.pdf: the PDF reader crashed"), "{said}");
    }
    assert!(stdout(&cut).contains(READABLE) && stdout(&cut).contains("hole number 49"));
    assert!(fs::read_to_string(folder.path().join("q.json")).unwrap().contains("How do badgers dig?"));
    let mut piped = without_models(folder.path());
    piped.args(["segment", "-", "--stdin-format", "pdf"]).write_stdin(made_bytes());
    let output = piped.output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
}

fn made_bytes() -> Vec<u8> {
    made("pdf_cmap_parentheses", 1_000_000)
}

#[test]
fn watching_goes_on_past_them() {
    let folder = folder(&[]);
    let child = start(folder.path(), &[&INDEX[..], &["--watch", "--file-timeout", "30"]].concat());
    until("the first pass", || folder.path().join("i/pericope.json").exists() && documents(folder.path()) == 50);
    let add = |name: &str, bytes: &[u8]| {
        let temporary = folder.path().join(name);
        fs::write(&temporary, bytes).unwrap();
        fs::rename(temporary, folder.path().join("docs").join(name)).unwrap();
    };
    // The first change may come before the folder is watched: so there is another one.
    add("m.pdf", &made_bytes());
    add("late.md", b"# Late\n\nBadgers come late.\n");
    until("a page beside it", || documents(folder.path()) == 51);
    add("later.md", b"# Later\n\nBadgers come later.\n");
    until("a page after it", || documents(folder.path()) == 52);
    signal("-INT", child.id());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("docs/m.pdf: the PDF reader crashed"), "{}", stderr(&output));
}

#[test]
fn a_worker_that_is_killed_costs_one_file() {
    let folder = folder(&[("m.pdf", made("pdf_laughs", 14)), ("ok.pdf", hostile::pdf::readable())]);
    let child = start(folder.path(), &[&INDEX[..], &["--file-timeout", "0"]].concat());
    let mut killed = false;
    until("a worker", || {
        // The good file is soon read: who is at it for long has the other one.
        let busy = |id: &u32| fs::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|stat| ticks(&stat) > 100);
        for worker in workers(child.id()).iter().filter(|id| busy(id)) {
            signal("-KILL", *worker);
            killed = true;
        }
        killed
    });
    let output = child.wait_with_output().unwrap();
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("skipped: docs/m.pdf: the PDF reader was killed"), "{said}");
    assert!(stdout(&output).contains("51 documents"), "{}", stdout(&output));
}

/// Processor time of a process, in hundredths of a second.
fn ticks(stat: &str) -> u64 {
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let number = |at: usize| fields.get(at).and_then(|n| n.parse::<u64>().ok()).unwrap_or(0);
    number(11) + number(12)
}

#[test]
fn an_interrupt_ends_a_run_that_reads_a_file_without_end() {
    let folder = folder(&[("zzz.pdf", made("pdf_laughs", 14))]);
    let child = start(folder.path(), &[&INDEX[..], &["--file-timeout", "0", "--json"]].concat());
    let id = child.id();
    until("a worker at it", || !workers(id).is_empty());
    let at_it = workers(id);
    // The others are read while it is.
    std::thread::sleep(Duration::from_millis(500));
    signal("-INT", id);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert_eq!(documents(folder.path()), 50, "what was complete is committed");
    until("no worker is left", || at_it.iter().all(|id| !Path::new(&format!("/proc/{id}/exe")).exists()));
}

fn pool(limits: WorkerLimits) -> WorkerPool {
    let command = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pericope"));
        command.arg("--read-worker");
        command
    };
    WorkerPool::new(command, limits)
}

#[test]
fn one_worker_reads_many_files() {
    let pool = pool(WorkerLimits { workers: 1, ..WorkerLimits::default() });
    assert_eq!(pool.started(), 0, "none before there is a file");
    let decode = |bytes: Vec<u8>| pool.decode("pdf", Path::new("x.pdf"), bytes);
    for _ in 0..20 {
        assert!(decode(hostile::pdf::readable()).unwrap().text.contains(READABLE));
        // What the reader itself refuses is no reason to end.
        assert!(matches!(decode(b"%PDF-1.4 nothing".to_vec()), Err(ReadError::Pdf { .. })));
    }
    assert_eq!(pool.started(), 1);
    let error = decode(made_bytes()).unwrap_err();
    assert!(matches!(&error, ReadError::Worker { .. }), "{error}");
    assert_eq!(error.to_string(), "x.pdf: the PDF reader crashed: the parts of the file lie too deep in each other");
    assert!(decode(hostile::pdf::readable()).is_ok());
    assert_eq!(pool.started(), 2);
}

#[test]
fn limits_are_kept_and_told() {
    let limits = WorkerLimits { workers: 2, memory: 300_000_000, time: Duration::from_secs(1) };
    let error = pool(limits).decode("pdf", Path::new("x.pdf"), made("pdf_laughs", 14)).unwrap_err();
    assert_eq!(error.to_string(), "x.pdf: the PDF reader took longer than 1 s");
    // On a busy machine a bomb may need longer than that until its memory is full.
    let pool = pool(WorkerLimits { time: Duration::from_secs(120), ..limits });
    let decode = |bytes: Vec<u8>| pool.decode("pdf", Path::new("x.pdf"), bytes).map(|decoded| decoded.text);
    let error = decode(made("pdf_bomb_repeated", 1_000)).unwrap_err();
    assert_eq!(error.to_string(), "x.pdf: the PDF reader ran out of memory (300 MB)");
    // A file that does not fit the share of one worker is read by one that has the shares of all.
    let before = pool.started();
    let bytes = made("pdf_bomb_flate", 80);
    assert!(decode(bytes).unwrap().contains(READABLE));
    assert_eq!(pool.started(), before + 2);
}

#[test]
fn a_program_that_is_no_worker_is_an_error() {
    let nowhere = WorkerPool::new(|| Command::new("/nowhere/at/all"), WorkerLimits::default());
    let error = nowhere.decode("pdf", Path::new("x.pdf"), hostile::pdf::readable()).unwrap_err();
    assert!(error.to_string().starts_with("x.pdf: the PDF reader could not be started: "), "{error}");
    let silent = WorkerPool::new(|| Command::new("true"), WorkerLimits::default());
    let error = silent.decode("pdf", Path::new("x.pdf"), hostile::pdf::readable()).unwrap_err();
    assert!(error.to_string().contains("ended without an answer"), "{error}");
    let loud = WorkerPool::new(|| Command::new("yes"), WorkerLimits::default());
    let error = loud.decode("pdf", Path::new("x.pdf"), hostile::pdf::readable()).unwrap_err();
    assert!(matches!(error, ReadError::Worker { .. }), "{error}");
}
