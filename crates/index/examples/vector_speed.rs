//! How fast vectors go in and are searched, and what they take.
//!
//! `cargo run --release -p pericope-index --example vector_speed -- 10000 100000` writes so many chunks of a few words with
//! vectors of 384 random numbers, around a hundred centres, and asks 200 questions near them. It uses what every store of
//! an index offers, so that the same file measures other versions too.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use pericope_api::{Chunk, Document, Embeddings, EncodeError, SentenceEncoder};
use pericope_index::{IndexReader, IndexSpec, IndexWriter, Mode, Query, Retriever};

const DIMENSION: usize = 384;
const CENTRES: u64 = 100;
const QUESTIONS: u64 = 200;
const CHUNKS_A_DOCUMENT: u64 = 500;

/// Pseudo-random numbers, about normal.
struct Draw(u64);

impl Draw {
    fn number(&mut self) -> f32 {
        let mut sum = 0.0;
        for _ in 0..4 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            sum += (self.0 >> 40) as f32 / (1u64 << 24) as f32 - 0.5;
        }
        sum
    }
}

/// The vector of a chunk: a centre and something of its own.
fn vector(n: u64) -> Vec<f32> {
    let (mut centre, mut own) = (Draw(n % CENTRES + 1), Draw(n.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1));
    let mut vector: Vec<f32> = (0..DIMENSION).map(|_| centre.number() + own.number()).collect();
    let length = vector.iter().map(|v| v * v).sum::<f32>().sqrt();
    vector.iter_mut().for_each(|v| *v /= length);
    vector
}

/// Reads the number of a chunk in its text.
struct Numbered;

impl SentenceEncoder for Numbered {
    fn name(&self) -> &str {
        "numbered"
    }

    fn fingerprint(&self) -> String {
        "1".into()
    }

    fn dimension(&self) -> usize {
        DIMENSION
    }

    fn max_tokens(&self) -> usize {
        512
    }

    fn encode(&self, texts: &[&str]) -> Result<Embeddings, EncodeError> {
        let number = |text: &str| text.split_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap_or(0);
        Ok(Embeddings::new(DIMENSION, texts.iter().flat_map(|text| vector(number(text))).collect()))
    }
}

fn bytes_of(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(about) if about.is_dir() => bytes_of(&entry.path()),
        Ok(about) => about.len(),
        Err(_) => 0,
    };
    entries.flatten().map(size).sum()
}

/// The memory of this process now and at most, in MB.
fn memory() -> Option<(u64, u64)> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let field = |name: &str| -> Option<u64> {
        let line = status.lines().find(|line| line.starts_with(name))?;
        Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? / 1024)
    };
    Some((field("VmRSS:")?, field("VmHWM:")?))
}

fn percentile(sorted: &[f64], share: usize) -> f64 {
    sorted.get((sorted.len() * share / 100).min(sorted.len().saturating_sub(1))).copied().unwrap_or(0.0)
}

fn add(dir: &Path, chunks: std::ops::Range<u64>) -> Result<f64, Box<dyn std::error::Error>> {
    let spec = IndexSpec::new("numbers", "words").with_encoder(Arc::new(Numbered));
    let started = Instant::now();
    let mut writer = IndexWriter::create_or_open(dir, &spec)?;
    for first in chunks.clone().step_by(CHUNKS_A_DOCUMENT as usize) {
        let texts: Vec<String> =
            (first..chunks.end.min(first + CHUNKS_A_DOCUMENT)).map(|n| format!("chunk {n} of many.")).collect();
        let document = Document::from_sentences(&format!("d{first}"), &texts);
        let spans = document.sentences.iter().enumerate();
        let cut: Vec<Chunk> = spans
            .map(|(ordinal, sentence)| Chunk {
                document: document.id.clone(),
                ordinal,
                span: sentence.span,
                heading_path: vec![],
                tokens: 4,
                hash: Chunk::content_hash(document.text(sentence.span)),
                context: None,
            })
            .collect();
        writer.add(&document, &cut)?;
    }
    writer.finish()?;
    Ok(started.elapsed().as_secs_f64())
}

fn measure(chunks: u64) -> Result<(), Box<dyn std::error::Error>> {
    let dir = tempfile::tempdir()?;
    let made = Instant::now();
    (0..chunks).for_each(|n| drop(std::hint::black_box(vector(n))));
    let made = made.elapsed().as_secs_f64();
    let build = add(dir.path(), 0..chunks)?;
    let more = chunks / 100;
    let grow = add(dir.path(), chunks..chunks + more)?;
    let opening = Instant::now();
    let reader = IndexReader::open(dir.path())?;
    let question = |n: u64, k| Query::new("", Mode::Dense, k).with_vector(vector(chunks * 2 + n));
    reader.search(&question(0, 10))?;
    let opening = opening.elapsed().as_secs_f64() * 1e3;
    for k in [10, 100] {
        let mut times = Vec::new();
        for n in 1..=QUESTIONS {
            let query = question(n, k);
            let started = Instant::now();
            reader.rank(&query)?;
            times.push(started.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        println!("  k {k}: p50 {:.2} ms, p95 {:.2} ms", percentile(&times, 50), percentile(&times, 95));
    }
    let mut right = 0;
    for n in 1..=10 {
        let query = question(n, 10);
        let asked = vector(chunks * 2 + n);
        let cosine = |n: u64| vector(n).iter().zip(&asked).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
        let mut all: Vec<(f64, u64)> = (0..chunks + more).map(|n| (cosine(n), n)).collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0));
        let best: Vec<String> = all.iter().take(10).map(|(_, n)| format!("chunk {n} of many.")).collect();
        right += reader.search(&query)?.iter().filter(|hit| best.contains(&hit.chunk.text)).count();
    }
    println!(
        "  {chunks} chunks: written in {build:.2} s ({made:.2} s of it making vectors), 1 % more in {grow:.2} s; vectors \
         {:.1} MB, words {:.1} MB; open and first search {opening:.0} ms; recall@10 {:.3}; memory now and at most {:?} MB",
        bytes_of(&dir.path().join("vectors")) as f64 / 1e6,
        bytes_of(&dir.path().join("text")) as f64 / 1e6,
        f64::from(u32::try_from(right)?) / 100.0,
        memory()
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for argument in std::env::args().skip(1) {
        measure(argument.parse()?)?;
    }
    Ok(())
}
