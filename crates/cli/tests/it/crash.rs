//! The index is killed again and again while it is written, and must come out of it as if it had been built at once.
//!
//! `PERICOPE_CRASH_KILLS` says how often (12 unless set), `PERICOPE_CRASH_SEED` which moments and changes are drawn
//! (7 unless set). `scripts/ci/crash-test --kills 200` prints the outcome.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use pericope_index::{Contents, IndexReader};

/// Pseudo-random numbers (xorshift): the same moments and changes in every run of the same seed.
pub struct Draw(u64);

impl Draw {
    /// Returns the numbers of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Draws a number below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }

    fn sentence(&mut self) -> String {
        let words: Vec<String> = (0..6 + self.below(12)).map(|_| format!("w{}", self.below(400))).collect();
        format!("{}. ", words.join(" "))
    }

    fn paragraph(&mut self) -> String {
        (0..2 + self.below(5)).map(|_| self.sentence()).collect()
    }

    fn page(&mut self) -> String {
        let sections = 1 + self.below(4);
        (0..sections).map(|i| format!("# Part {i}\n\n{}\n\n{}\n\n", self.paragraph(), self.paragraph())).collect()
    }

    fn lines(&mut self) -> String {
        let first = self.below(40);
        let line =
            |i: u64, text: String| format!("{}\n", serde_json::json!({ "id": format!("line-{i}"), "text": text }));
        (first..first + 8).map(|i| line(i, self.page())).collect()
    }
}

/// The files of a tree, by name.
fn files(docs: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(docs).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

/// Some changes to a tree: pages grow at their beginning, are rewritten, renamed, deleted, added.
fn change(docs: &Path, draw: &mut Draw) {
    for _ in 0..2 + draw.below(12) {
        let all = files(docs);
        let one = &all[draw.below(all.len() as u64) as usize];
        let is_lines = one.extension().is_some_and(|e| e == "jsonl");
        match draw.below(6) {
            0 if all.len() > 20 && !is_lines => fs::remove_file(one).unwrap(),
            1 if !is_lines => fs::rename(one, docs.join(format!("renamed-{}.md", draw.below(1000)))).unwrap(),
            2 => fs::write(docs.join(format!("new-{}.md", draw.below(1000))), draw.page()).unwrap(),
            _ if is_lines => fs::write(one, draw.lines()).unwrap(),
            3 => fs::write(one, draw.page()).unwrap(),
            _ => {
                let before = fs::read_to_string(one).unwrap();
                fs::write(one, format!("{}\n\n{before}", draw.paragraph())).unwrap();
            }
        }
    }
}

/// `pericope index docs --into INTO`, with vectors, and commits often enough for kills to fall between them.
fn index(folder: &Path, into: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pericope"));
    command.current_dir(folder).env("PERICOPE_HOME", folder.join("no-home"));
    command.args(["index", "docs", "--into", into, "--embedder", "hashed", "--tokenizer", "words", "--prune"]);
    command.args(["--max-tokens", "40", "--commit-mb", "0.02", "--json"]);
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the command starts")
}

/// Lets a run end by itself; how long it took.
fn finish(folder: &Path, into: &str) -> Duration {
    let before = Instant::now();
    let output = index(folder, into).wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{into}: {}", String::from_utf8_lossy(&output.stderr));
    before.elapsed()
}

fn contents(dir: &Path) -> Contents {
    let contents = IndexReader::open(dir).unwrap().contents().unwrap();
    assert_eq!(contents.agree(), Ok(()));
    contents
}

/// Ids and hashes of the documents of a file.
type Documents = Vec<(String, Option<u128>)>;

/// Compares all that both indexes hold: chunks with ids and texts, vectors (but for the last bits of those that were
/// taken out and put in again), manifest.
fn assert_same(found: &Contents, clean: &Contents, when: &str) {
    assert_eq!(found.chunks.len(), clean.chunks.len(), "{when}");
    assert_eq!(found.chunks, clean.chunks, "{when}");
    assert_eq!(found.manifest, clean.manifest, "{when}");
    let (a, b) = (found.vectors.as_ref().unwrap(), clean.vectors.as_ref().unwrap());
    assert!(a.keys().eq(b.keys()), "{when}");
    for (id, vector) in a {
        assert!(vector.iter().zip(&b[id]).all(|(x, y)| (x - y).abs() < 1e-6), "{when}: the vector of {id}");
    }
    let sources = |contents: &Contents| -> BTreeMap<String, (Option<u128>, Documents)> {
        let sources = contents.sources.sources.iter();
        sources.map(|(name, s)| (name.clone(), (s.hash, s.documents.clone()))).collect()
    };
    assert_eq!(sources(found), sources(clean), "{when}");
}

pub fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |value| value.parse().expect("a number"))
}

#[test]
fn killed_at_any_moment_it_ends_as_built_at_once() {
    let (kills, seed) = (number("PERICOPE_CRASH_KILLS", 12), number("PERICOPE_CRASH_SEED", 7));
    let mut draw = Draw::new(seed);
    let root = tempfile::tempdir().unwrap();
    let folder = root.path();
    let docs = folder.join("docs");
    fs::create_dir(&docs).unwrap();
    for i in 0..60 {
        fs::write(docs.join(format!("page-{i:02}.md")), draw.page()).unwrap();
    }
    fs::write(docs.join("many.jsonl"), draw.lines()).unwrap();

    let started = Instant::now();
    let (mut killed, mut ended, mut compared, mut chunks) = (0, 0, 0, 0);
    let whole = finish(folder, "first.idx");
    fs::remove_dir_all(folder.join("first.idx")).unwrap();
    // Half of the kills meet an index in the making, the other half one that is brought up to date.
    while killed < kills {
        let anew = draw.below(2) == 0 && folder.join("x.idx").exists();
        if anew {
            fs::remove_dir_all(folder.join("x.idx")).unwrap();
        } else {
            change(&docs, &mut draw);
        }
        // The time that a run takes, about.
        let run = if anew { whole } else { whole.mul_f64(0.6) };
        // Sometimes several times, before a run may end.
        for _ in 0..1 + draw.below(3) {
            let mut child = index(folder, "x.idx");
            std::thread::sleep(run.mul_f64(draw.below(1000) as f64 / 1000.0));
            match child.try_wait().unwrap() {
                Some(_) => ended += 1,
                None => {
                    child.kill().unwrap();
                    killed += 1;
                }
            }
            child.wait().unwrap();
        }
        finish(folder, "x.idx");
        finish(folder, "clean.idx");
        let (found, clean) = (contents(&folder.join("x.idx")), contents(&folder.join("clean.idx")));
        assert_same(&found, &clean, &format!("after {killed} kills, seed {seed}"));
        fs::remove_dir_all(folder.join("clean.idx")).unwrap();
        compared += 1;
        chunks = found.chunks.len();
    }
    println!(
        "{killed} kills in {:.0} s ({ended} runs had ended before); {compared} comparisons with a clean build, each equal \
         in text index, vectors and manifest; {chunks} chunks at the end",
        started.elapsed().as_secs_f64()
    );
}
