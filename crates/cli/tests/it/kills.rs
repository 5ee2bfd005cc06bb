//! Commands are killed again and again at random moments: nothing may be lost, doubled or left locked.
//!
//! `PERICOPE_KILLS` says how often in all (10 unless set), `PERICOPE_KILLS_SEED` which moments and changes are drawn (7
//! unless set). `scripts/kills` does it a thousand times and prints the table.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use pericope_index::IndexReader;
use pericope_nightly::History;
use serde_json::{Value, json};

use crate::common::{SECOND_CHUNKER, SMALL_EXPERIMENT};
use crate::crash::{Draw, number};

/// A command that is killed, in a folder of its own.
trait Victim {
    /// The name in the table.
    fn name(&self) -> &'static str;

    /// Puts what the command reads into the folder.
    fn prepare(&self, folder: &Path);

    /// Changes what the command reads, before the kills of a round.
    fn change(&self, _folder: &Path, _draw: &mut Draw) {}

    /// The arguments that work on `place`.
    fn arguments(&self, place: &str) -> Vec<String>;

    /// What `place` holds, without times.
    fn state(&self, folder: &Path, place: &str) -> Value;

    /// Compares with a place that was made at once; `kills` came since the last time.
    fn compare(&self, found: &Value, clean: &Value, before: &Value, kills: u64) {
        let _ = (before, kills);
        assert_eq!(found, clean, "{}", self.name());
    }
}

/// `pericope index`, with vectors and many small commits.
struct Index {
    name: &'static str,
    more: &'static [&'static str],
    /// The index is removed before every second round.
    anew: bool,
}

fn page(draw: &mut Draw) -> String {
    let mut words = || (0..8).map(|_| format!("w{}", draw.below(90))).collect::<Vec<_>>().join(" ");
    format!("# {}\n\n{}. {}.\n\n## {}\n\n{}.\n", words(), words(), words(), words(), words())
}

impl Victim for Index {
    fn name(&self) -> &'static str {
        self.name
    }

    fn prepare(&self, folder: &Path) {
        let mut draw = Draw::new(1);
        fs::create_dir(folder.join("docs")).unwrap();
        for i in 0..12 {
            fs::write(folder.join(format!("docs/page-{i:02}.md")), page(&mut draw)).unwrap();
        }
    }

    fn change(&self, folder: &Path, draw: &mut Draw) {
        for _ in 0..4 {
            let path = folder.join(format!("docs/page-{:02}.md", draw.below(16)));
            // A file that does not change is left as it was: without --prune it would stay in the index for ever.
            if self.more.contains(&"--prune") && path.exists() && draw.below(3) == 0 {
                fs::remove_file(path).unwrap();
            } else {
                fs::write(path, page(draw)).unwrap();
            }
        }
        if self.anew && draw.below(2) == 0 && folder.join("x").exists() {
            fs::remove_dir_all(folder.join("x")).unwrap();
        }
    }

    fn arguments(&self, place: &str) -> Vec<String> {
        let fixed = ["index", "docs", "--into", place, "--embedder", "hashed", "--tokenizer", "words"];
        let small = ["--max-tokens", "20", "--commit-mb", "0.001"];
        fixed.iter().chain(&small).chain(self.more).map(|text| (*text).to_owned()).collect()
    }

    fn state(&self, folder: &Path, place: &str) -> Value {
        let contents = IndexReader::open(&folder.join(place)).unwrap().contents().unwrap();
        assert_eq!(contents.agree(), Ok(()));
        let vectors = contents.vectors.as_ref().unwrap();
        let chunks = contents.chunks.iter().map(|(id, chunk)| {
            // Vectors that were taken out and put in again may differ in their last bits.
            let rounded: Vec<i64> = vectors[id].iter().map(|x| (f64::from(*x) * 1e5).round() as i64).collect();
            json!([id.to_string(), chunk.document, chunk.start, chunk.text, rounded])
        });
        chunks.collect()
    }
}

fn experiment(folder: &Path) {
    crate::common::three_questions(folder);
    let text = format!("{SMALL_EXPERIMENT}{SECOND_CHUNKER}[nightly]\nkeep = 2\n");
    fs::write(folder.join("small.toml"), text).unwrap();
}

/// `pericope eval run`, resumed.
struct Eval;

impl Victim for Eval {
    fn name(&self) -> &'static str {
        "eval run --resume"
    }

    fn prepare(&self, folder: &Path) {
        experiment(folder);
    }

    fn change(&self, folder: &Path, draw: &mut Draw) {
        if draw.below(2) == 0 && folder.join("x").exists() {
            fs::remove_dir_all(folder.join("x")).unwrap();
        }
    }

    fn arguments(&self, place: &str) -> Vec<String> {
        ["eval", "run", "small.toml", "--resume", "--out", place].map(str::to_owned).to_vec()
    }

    fn state(&self, folder: &Path, place: &str) -> Value {
        assert_tidy(&folder.join(place));
        let read = |name: &str| fs::read_to_string(folder.join(place).join(name)).unwrap();
        let summary: Value = serde_json::from_str(&read("summary.json")).unwrap();
        let cells: Vec<Value> = summary["cells"].as_array().unwrap().iter().map(|c| c["metrics"].clone()).collect();
        let items: Vec<Value> = read("items.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let item = |item: &Value| json!([item["chunker"], item["question_id"], item["metrics"], item["status"]]);
        crate::common::rounded(json!({"cells": cells, "items": items.iter().map(item).collect::<Vec<_>>()}))
    }
}

/// `pericope nightly`.
struct Nightly;

impl Victim for Nightly {
    fn name(&self) -> &'static str {
        "nightly"
    }

    fn prepare(&self, folder: &Path) {
        experiment(folder);
    }

    fn arguments(&self, place: &str) -> Vec<String> {
        ["nightly", "small.toml", "--history", place].map(str::to_owned).to_vec()
    }

    fn state(&self, folder: &Path, place: &str) -> Value {
        let dir = folder.join(place);
        if !dir.join("latest.json").exists() {
            return json!([]);
        }
        assert_tidy(&dir);
        let history = History::open(&dir, "small").unwrap();
        let night = |number: u32| json!([number, history.night(number).unwrap().cells]);
        let nights: Vec<Value> = history.heads().unwrap().iter().map(|head| night(head.number)).collect();
        let latest: Value = serde_json::from_str(&fs::read_to_string(dir.join("latest.json")).unwrap()).unwrap();
        assert_eq!(latest["night"].as_u64(), Some(nights.len() as u64), "the files are those of the last night");
        nights.into()
    }

    fn compare(&self, found: &Value, clean: &Value, before: &Value, kills: u64) {
        let (found, before) = (found.as_array().unwrap(), before.as_array().map_or(0, Vec::len));
        let more = (found.len() - before) as u64;
        assert!((1..=1 + kills).contains(&more), "{more} nights after one run and {kills} kills");
        for (i, night) in found.iter().enumerate() {
            assert_eq!(night[0].as_u64(), Some(i as u64 + 1), "nights are numbered without gaps");
            assert_eq!(crate::common::rounded(night[1].clone()), crate::common::rounded(clean[0][1].clone()));
        }
    }
}

/// Nothing stays locked, and nothing half written stays.
fn assert_tidy(folder: &Path) {
    drop(pericope_util::FolderLock::take(folder).expect("the lock died with its holder"));
    for entry in fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        assert!(!name.contains("unfinished") && name != "index.tmp", "{name} is left in {}", folder.display());
    }
}

fn start(victim: &dyn Victim, folder: &Path, place: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pericope"));
    command.current_dir(folder).env("PERICOPE_HOME", folder.join("no-home")).env_remove("GITHUB_STEP_SUMMARY");
    command.args(victim.arguments(place)).stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().expect("the command starts")
}

/// Lets a run end by itself; how long it took.
fn finish(victim: &dyn Victim, folder: &Path, place: &str) -> Duration {
    let before = Instant::now();
    let output = start(victim, folder, place).wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{} into {place}: {said}", victim.name());
    before.elapsed()
}

/// Kills a command `times` times, and compares what is there at the end of each round with a place that was made at once.
fn kill(victim: &dyn Victim, times: u64, seed: u64) {
    let (root, mut draw) = (tempfile::tempdir().unwrap(), Draw::new(seed));
    let (folder, started) = (root.path(), Instant::now());
    victim.prepare(folder);
    let run = finish(victim, folder, "x");
    let (mut killed, mut ended, mut compared) = (0, 0, 0);
    while killed < times {
        let before = victim.state(folder, "x");
        victim.change(folder, &mut draw);
        let mut since = 0;
        // Sometimes several times, before a run may end.
        for _ in 0..1 + draw.below(3) {
            let mut child = start(victim, folder, "x");
            std::thread::sleep(run.mul_f64(draw.below(1000) as f64 / 1000.0));
            since += 1;
            if child.try_wait().unwrap().is_some() {
                ended += 1;
            } else {
                child.kill().unwrap();
                killed += 1;
            }
            child.wait().unwrap();
        }
        finish(victim, folder, "x");
        if folder.join("clean").exists() {
            fs::remove_dir_all(folder.join("clean")).unwrap();
        }
        finish(victim, folder, "clean");
        let (found, clean) = (victim.state(folder, "x"), victim.state(folder, "clean"));
        victim.compare(&found, &clean, &before, since);
        compared += 1;
    }
    let seconds = started.elapsed().as_secs_f64();
    println!("| {} | {killed} | {ended} | {compared} | {seconds:.0} |", victim.name());
}

fn share(of: u64) -> (u64, u64) {
    let (kills, seed) = (number("PERICOPE_KILLS", 10), number("PERICOPE_KILLS_SEED", 7));
    ((kills * of).div_ceil(100), seed)
}

#[test]
fn killed_indexing_ends_as_built_at_once() {
    let (times, seed) = share(30);
    kill(&Index { name: "index", more: &[], anew: true }, times, seed);
}

#[test]
fn killed_pruning_ends_as_built_at_once() {
    let (times, seed) = share(20);
    kill(&Index { name: "index --prune", more: &["--prune"], anew: false }, times, seed + 1);
}

#[test]
fn killed_rebuilding_ends_as_built_at_once() {
    let (times, seed) = share(20);
    kill(&Index { name: "index --rebuild", more: &["--rebuild"], anew: false }, times, seed + 2);
}

#[test]
fn killed_nights_are_in_the_history_once_or_not() {
    let (times, seed) = share(15);
    kill(&Nightly, times, seed + 3);
}

#[test]
fn killed_runs_are_resumed_to_the_same_end() {
    let (times, seed) = share(15);
    kill(&Eval, times, seed + 4);
}
