//! Memory and time of MemRecall on texts of growing length: memory stays flat, time grows as the text.
//!
//! ```text
//! cargo run --release -p pericope-learn --example memrecall_growth -- models/judge
//! cargo run --release -p pericope-learn --example memrecall_growth -- models/judge 1000 100000
//! ```
//!
//! The first argument is a judge (a file or folder of `pericope train judge`), the others are lengths in tokens. Peak memory
//! is that of the process so far (Linux alone), so lengths go up; the text itself is part of it.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::time::Instant;

use pericope_api::SpanReader;
use pericope_learn::cogltx::{MemRecall, Reader, Texts};
use pericope_segment::random::SplitMix64;

const LENGTHS: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];

const QUESTION: &str = "Which verdict did the witness bring about?";

const WORDS: [&str; 12] =
    ["bread", "flour", "violin", "music", "ridge", "snow", "witness", "verdict", "garden", "water", "engine", "letter"];

/// Sentences of common words, each a token, on lines of some six sentences.
fn text(tokens: usize) -> String {
    let mut random = SplitMix64::new(7);
    let (mut text, mut count) = (String::new(), 0);
    while count < tokens {
        let words: Vec<&str> = (0..6 + random.below(14)).map(|_| WORDS[random.below(WORDS.len())]).collect();
        text.push_str(&words.join(" "));
        text.push_str(if random.below(6) == 0 { ".\n" } else { ". " });
        count += words.len() + 1;
    }
    text
}

/// The most memory that the process has held so far, in MB.
fn peak() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.split_whitespace().next()?;
    Some(kilobytes.parse::<f64>().ok()? / 1e3)
}

fn shown(peak: Option<f64>) -> String {
    peak.map_or_else(|| "-".to_owned(), |megabytes| format!("{megabytes:.0}"))
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let model = arguments.next().expect("the file or folder of a judge");
    let asked: Vec<usize> = arguments.map(|length| length.parse().unwrap()).collect();
    let lengths = if asked.is_empty() { LENGTHS.to_vec() } else { asked };
    let reader = Reader::open(&model, MemRecall::default()).unwrap();
    reader.recall(QUESTION, &[WORDS.join(" ").as_str()], 1).unwrap();
    println!("with the model alone: {} MB", shown(peak()));
    println!("    tokens    blocks   text MB   seconds   us/token     read   peak MB");
    for length in lengths {
        let own = text(length);
        let (before, begin) = (reader.judge().tokens_read(), Instant::now());
        reader.recall(QUESTION, &[&own], 5).unwrap();
        let seconds = begin.elapsed().as_secs_f64();
        let (read, peak) = (reader.judge().tokens_read() - before, shown(peak()));
        let whole = [own.as_str()];
        let blocks = Texts::new(&whole, reader.judge().words(), reader.judge().settings().block);
        let tokens: usize = (0..blocks.len()).map(|i| blocks.ids(i).len()).sum();
        println!(
            "{tokens:>10} {:>9} {:>9.2} {seconds:>9.2} {:>10.1} {read:>8} {peak:>9}",
            blocks.len(),
            own.len() as f64 / 1e6,
            1e6 * seconds / tokens as f64,
        );
    }
}
