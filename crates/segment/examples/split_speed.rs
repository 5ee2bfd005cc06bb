//! How fast text becomes spans: MB/s (10^6 bytes) of the splitting kernels, the median of several runs.
//!
//! `cargo run --release -p pericope-segment --example split_speed -- FILE [BYTES...] [--json]`
//!
//! The file's text is repeated or cut to each size (default: 50000 1450000 20000000 bytes).
#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::time::Instant;

use pericope_api::Span;
use pericope_segment::kernels::{fixed_words, recursive_chars};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (flags, plain): (Vec<String>, Vec<String>) = std::env::args().skip(1).partition(|a| a.starts_with("--"));
    let Some((file, sizes)) = plain.split_first() else {
        return Err("usage: split_speed FILE [BYTES...] [--json]".into());
    };
    let text = std::fs::read_to_string(file)?;
    if text.is_empty() {
        return Err(format!("{file} is empty").into());
    }
    let mut sizes: Vec<usize> = sizes.iter().map(|s| s.parse()).collect::<Result<_, _>>()?;
    if sizes.is_empty() {
        sizes = vec![50_000, 1_450_000, 20_000_000];
    }
    let json = flags.iter().any(|flag| flag == "--json");
    let mut rows = Vec::new();
    for size in sizes {
        let sample = sized(&text, size);
        rows.push(measure("recursive:chars=1000", &sample, |text| recursive_chars(text, 1000)));
        rows.push(measure("fixed:words=100", &sample, |text| fixed_words(text, 100)));
    }
    if json {
        let row = |r: &Row| {
            format!(
                "{{\"splitter\":\"{}\",\"bytes\":{},\"pieces\":{},\"mb_per_second\":{:.1}}}",
                r.splitter, r.bytes, r.pieces, r.speed
            )
        };
        println!("[{}]", rows.iter().map(row).collect::<Vec<_>>().join(","));
    } else {
        for r in rows {
            println!("{:<22} {:>10} bytes {:>8} pieces {:>8.1} MB/s", r.splitter, r.bytes, r.pieces, r.speed);
        }
    }
    Ok(())
}

struct Row {
    splitter: &'static str,
    bytes: usize,
    pieces: usize,
    speed: f64,
}

/// The text repeated and cut to about `size` bytes.
fn sized(text: &str, size: usize) -> String {
    let mut sample = text.repeat(size / text.len() + 1);
    let mut end = size.min(sample.len());
    while !sample.is_char_boundary(end) {
        end -= 1;
    }
    sample.truncate(end);
    sample
}

fn measure(splitter: &'static str, text: &str, split: impl Fn(&str) -> Vec<Span>) -> Row {
    const RUNS: usize = 7;
    // Each run goes on until it has seen 20 MB, so that short documents are timed over many splits.
    let times = (20_000_000 / text.len().max(1)).max(1);
    let pieces = split(text).len();
    let mut speeds: Vec<f64> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..times {
                let spans = split(black_box(text));
                assert_eq!(black_box(spans).len(), pieces);
            }
            (text.len() * times) as f64 / 1e6 / start.elapsed().as_secs_f64()
        })
        .collect();
    speeds.sort_by(f64::total_cmp);
    Row { splitter, bytes: text.len(), pieces, speed: speeds[RUNS / 2] }
}
