//! Runs of experiments and nights are killed again and again, and what comes out is what comes out of runs that nobody
//! killed: nothing is lost, nothing is there twice, nothing stays locked, nothing half written stays.
//!
//! `PERICOPE_CRASH_KILLS` says how often each of them is killed (10 unless set), `PERICOPE_CRASH_SEED` at which moments
//! (7 unless set).

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use pericope_nightly::{History, NightlyRun};
use pericope_util::FolderLock;
use serde_json::Value;

use crate::common::{root, rounded, stderr, timeless};
use crate::crash::{Draw, number};

const CONFIG: &str = r#"
kind = "retrieval"
name = "killed"
[data]
kind = "squad"
path = "questions.json"
[retrieval]
embedder = "none"
modes = ["bm25"]
k = [1, 3]
[[chunker]]
name = "fixed"
spec = "fixed:words=60"
[[chunker]]
name = "blocks"
spec = "paragraph"
[[chunker]]
name = "sentences"
spec = "sentence"
[[gate]]
metric = "span_recall"
k = 3
max_drop = 0.03
"#;

/// An experiment on some articles of the handbook, in a folder of its own.
fn bed() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(root().join("corpora/handbook-questions.json")).unwrap();
    let mut questions: Value = serde_json::from_str(&text).unwrap();
    questions["data"].as_array_mut().unwrap().truncate(12);
    fs::write(folder.path().join("questions.json"), questions.to_string()).unwrap();
    fs::write(folder.path().join("x.toml"), CONFIG).unwrap();
    folder
}

fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pericope"));
    command.current_dir(folder).env("PERICOPE_HOME", folder.join("no-home")).env_remove("GITHUB_STEP_SUMMARY");
    command.args(args).stdin(Stdio::null());
    command
}

/// Lets a command end by itself.
fn finish(folder: &Path, args: &[&str], when: &str) -> Output {
    let output = command(folder, args).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{when}: {}", stderr(&output));
    output
}

/// Starts a command and kills it after `wait`; gives what it said where it ended before that.
fn kill(folder: &Path, args: &[&str], wait: Duration) -> Option<Output> {
    let mut child =
        command(folder, args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
    std::thread::sleep(wait);
    if child.try_wait().unwrap().is_some() {
        return Some(child.wait_with_output().unwrap());
    }
    child.kill().unwrap();
    child.wait().unwrap();
    None
}

/// The names in a folder.
fn names(folder: &Path) -> BTreeSet<String> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

fn seeded(more: u64) -> Draw {
    Draw((number("PERICOPE_CRASH_SEED", 7) + more).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
}

/// Compares a run's folder with that of a run that nobody disturbed.
fn assert_same_run(found: &Path, clean: &Path, when: &str) {
    let read = |folder: &Path, name: &str| fs::read_to_string(folder.join(name)).unwrap();
    assert!(read(found, "items.jsonl") == read(clean, "items.jsonl"), "{when}: items.jsonl is another");
    let summary = |folder| rounded(timeless(serde_json::from_str(&read(folder, "summary.json")).unwrap()));
    assert_eq!(summary(found), summary(clean), "{when}");
    let chunkers = |folder| -> Vec<Value> {
        let rows = read(folder, "chunkers.jsonl");
        rows.lines().map(|row| serde_json::from_str::<Value>(row).unwrap()["name"].clone()).collect()
    };
    assert_eq!(chunkers(found), chunkers(clean), "{when}");
}

#[test]
fn a_run_that_is_killed_at_any_moment_ends_as_one_that_was_not() {
    let bed = bed();
    let folder = bed.path();
    let mut draw = seeded(0);
    let run = |out| ["eval", "run", "x.toml", "--resume", "--quiet", "--out", out];
    let before = Instant::now();
    finish(folder, &run("clean"), "undisturbed");
    let whole = before.elapsed();
    let (mut killed, mut ended) = (0, 0);
    while killed < number("PERICOPE_CRASH_KILLS", 10) {
        for _ in 0..1 + draw.below(3) {
            match kill(folder, &run("x"), whole.mul_f64(draw.below(1000) as f64 / 1000.0)) {
                Some(_) => ended += 1,
                None => killed += 1,
            }
        }
        let when = format!("after {killed} kills");
        // The lock died with its holder.
        drop(FolderLock::take(&folder.join("x")).expect("nothing stays locked"));
        finish(folder, &run("x"), &when);
        assert_same_run(&folder.join("x"), &folder.join("clean"), &when);
        assert_eq!(names(&folder.join("x")), names(&folder.join("clean")), "{when}");
        if draw.below(3) > 0 {
            fs::remove_dir_all(folder.join("x")).unwrap();
        }
    }
    println!("{killed} kills of eval run ({ended} runs had ended before), each taken up to the same end");
}

#[test]
fn nights_that_are_killed_at_any_moment_are_there_whole_or_not_at_all() {
    let bed = bed();
    let folder = bed.path();
    let mut draw = seeded(1);
    let night = ["nightly", "x.toml", "--history", "h", "--quiet", "--json"];
    let reported = |output: &Output| {
        let said: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(said["verdict"], "passed");
        u32::try_from(said["night"].as_u64().unwrap()).unwrap()
    };
    let before = Instant::now();
    let mut told = vec![reported(&finish(folder, &night, "the first night"))];
    let whole = before.elapsed();
    let clean = folder.join("h/nights/000001");
    let (mut killed, mut started) = (0, 1);
    while killed < number("PERICOPE_CRASH_KILLS", 10) {
        for _ in 0..1 + draw.below(3) {
            started += 1;
            match kill(folder, &night, whole.mul_f64(draw.below(1000) as f64 / 1000.0)) {
                Some(output) => told.push(reported(&output)),
                None => killed += 1,
            }
        }
        let when = format!("after {killed} kills");
        started += 1;
        told.push(reported(&finish(folder, &night, &when)));
        let history = History::open(&folder.join("h"), "killed").unwrap();
        let heads = history.heads().unwrap();
        let numbers: Vec<u32> = heads.iter().map(|head| head.number).collect();
        assert_eq!(numbers, (1..=u32::try_from(heads.len()).unwrap()).collect::<Vec<_>>(), "{when}");
        assert!(told.iter().all(|number| numbers.contains(number)), "{when}: a night that was told of is lost");
        assert!(told.is_sorted_by(|a, b| a < b) && heads.len() <= started, "{when}: a night is there twice");
        assert_eq!(heads.iter().map(|head| &head.uid).collect::<BTreeSet<_>>().len(), heads.len(), "{when}");
        let cells = |night: &NightlyRun| rounded(serde_json::to_value(&night.cells).unwrap());
        let first = history.night(1).unwrap();
        for head in &heads {
            // Whole: every part is read, with its checksum.
            let found = history.night(head.number).unwrap();
            assert!(
                found.questions == first.questions && cells(&found) == cells(&first),
                "{when}: night {}",
                head.number
            );
            assert_same_run(&folder.join(format!("h/nights/{:06}", head.number)), &clean, &when);
        }
        let latest: Value = serde_json::from_str(&fs::read_to_string(folder.join("h/latest.json")).unwrap()).unwrap();
        assert_eq!(latest["night"], *told.last().unwrap(), "{when}");
        let half: Vec<String> =
            names(&folder.join("h")).into_iter().filter(|name| name.contains("unfinished")).collect();
        assert!(half.is_empty(), "{when}: {half:?}");
    }
    println!("{killed} kills of nightly; {} nights of {started} that were started, each whole", told.len());
}
