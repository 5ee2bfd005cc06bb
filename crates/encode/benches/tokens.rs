//! Our WordPiece beside the `tokenizers` crate with the same `tokenizer.json`, on one thread: the ids of lines, and the
//! number of tokens of a whole text. Needs the model minilm.
//!
//! The texts are files of this crate: English prose, and tests that hold many scripts. Both sides see the same lines, and
//! the ids are compared before anything is timed. Ours keeps the words that it has seen.
#![allow(missing_docs, clippy::unwrap_used)]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use pericope_api::TokenCounter;
use pericope_encode::{WordPiece, WordPieceCounter, models};
use tokenizers::Tokenizer;

const TEXTS: [(&str, &str); 2] =
    [("prose", include_str!("../README.md")), ("many scripts", include_str!("../src/tokens/tests.rs"))];

fn tokens(c: &mut Criterion) {
    let Ok(dir) = models::locate("minilm") else {
        eprintln!("SKIPPED: benches/tokens: needs the model minilm: run `pericope models pull minilm`");
        return;
    };
    let path = dir.file("tokenizer.json");
    let (ours, counter) = (WordPiece::load(&path).unwrap(), WordPieceCounter::load(&dir).unwrap());
    let mut theirs = Tokenizer::from_file(&path).unwrap();
    theirs.with_padding(None).with_truncation(None).unwrap();
    let mut group = c.benchmark_group("tokens");
    for (name, text) in TEXTS {
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        for line in &lines {
            assert_eq!(ours.ids(line, usize::MAX), theirs.encode_fast(*line, false).unwrap().get_ids(), "{line:?}");
        }
        group.throughput(Throughput::Bytes(lines.iter().map(|line| line.len() as u64).sum()));
        group.bench_function(BenchmarkId::new("pericope ids", name), |run| {
            run.iter(|| lines.iter().map(|line| ours.ids(line, usize::MAX).len()).sum::<usize>());
        });
        group.bench_function(BenchmarkId::new("tokenizers ids", name), |run| {
            run.iter(|| lines.iter().map(|line| theirs.encode_fast(*line, false).unwrap().len()).sum::<usize>());
        });
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(BenchmarkId::new("pericope count", name), |run| run.iter(|| counter.count(text)));
        group.bench_function(BenchmarkId::new("tokenizers count", name), |run| {
            run.iter(|| theirs.encode_fast(text, false).unwrap().len());
        });
    }
    group.finish();
}

criterion_group!(benches, tokens);
criterion_main!(benches);
