//! Similarities of pairs of sentences, on one thread: BERTScore beside its plain definition, and `difflib`'s ratio.
#![allow(missing_docs, clippy::unwrap_used)]

use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use pericope_api::{Embeddings, EncodeError, SentenceEncoder};
use pericope_segment::graph::similarity::{BertScore, Jaccard, SequenceMatcher, Similarity};
use pericope_segment::random::SplitMix64;
use pericope_util::dot;

/// Numbers of a token, as of MiniLM.
const DIMENSION: usize = 384;

/// As many tokens as the text says, in random directions.
struct Tokens;

impl SentenceEncoder for Tokens {
    fn name(&self) -> &str {
        "tokens"
    }

    fn fingerprint(&self) -> String {
        "tokens".into()
    }

    fn dimension(&self) -> usize {
        DIMENSION
    }

    fn max_tokens(&self) -> usize {
        256
    }

    fn encode(&self, _: &[&str]) -> Result<Embeddings, EncodeError> {
        Err(EncodeError::Model("tokens alone".into()))
    }

    fn encode_tokens(&self, texts: &[&str]) -> Result<Vec<Embeddings>, EncodeError> {
        let mut random = SplitMix64::new(1);
        let mut tokens = |text: &&str| {
            let mut values: Vec<f32> = Vec::new();
            for _ in 0..text.trim().parse().unwrap_or(0) {
                let row: Vec<f32> = (0..DIMENSION).map(|_| random.below(2001) as f32 / 1000.0 - 1.0).collect();
                let norm = dot(&row, &row).sqrt();
                values.extend(row.iter().map(|x| x / norm));
            }
            Embeddings::new(DIMENSION, values)
        };
        Ok(texts.iter().map(&mut tokens).collect())
    }
}

/// The mean over the rows of `of` of the greatest product with a row of `with`.
fn best(of: &Embeddings, with: &Embeddings) -> f64 {
    let greatest = |row: &[f32]| with.rows().map(|other| dot(row, other)).fold(f32::NEG_INFINITY, f32::max);
    of.rows().map(|row| f64::from(greatest(row))).sum::<f64>() / of.len() as f64
}

/// The F1 of greedy matching, as it is defined: every product is taken twice.
fn plain(left: &Embeddings, right: &Embeddings) -> f64 {
    let (precision, recall) = (best(right, left), best(left, right));
    2.0 * precision * recall / (precision + recall)
}

fn bertscore(c: &mut Criterion) {
    let mut group = c.benchmark_group("bertscore");
    let similarity = BertScore::new(Arc::new(Tokens));
    // Mean tokens of a sentence: of Clinical, Choi, a paragraph of Fiction; the most that MiniLM reads.
    for tokens in [22, 33, 90, 254] {
        let (a, b) = (tokens.to_string(), format!("{tokens} "));
        let texts = [a.as_str(), &b];
        let (rows, packed) = (Tokens.encode_tokens(&texts).unwrap(), similarity.prepare(&texts).unwrap());
        let apart = plain(&rows[0], &rows[1]) - similarity.compare(&packed[0], &packed[1]);
        assert!(apart.abs() < 1e-5, "{apart}");
        // An element is a multiplication and an addition that the definition needs, each product taken once.
        group.throughput(Throughput::Elements((tokens * tokens * DIMENSION) as u64));
        group.bench_function(BenchmarkId::new("plain", tokens), |run| run.iter(|| plain(&rows[0], &rows[1])));
        group.bench_function(BenchmarkId::new("packed", tokens), |run| {
            run.iter(|| similarity.compare(&packed[0], &packed[1]));
        });
    }
    group.finish();
}

/// Words of a text of about so many characters: common ones often, as in English.
fn text(length: usize, seed: u64) -> String {
    const WORDS: &str = "the of and to a in is that for it was on with as by be at this from which are not have had \
        patient history acute chronic treatment surgery moderate disease clinical symptoms years before house window \
        letter answered morning garden carriage sister evening station railway government published company season";
    let words: Vec<&str> = WORDS.split_whitespace().collect();
    let mut random = SplitMix64::new(seed);
    let mut text = String::new();
    while text.len() < length {
        let (one, other) = (random.below(words.len()), random.below(words.len()));
        text.push_str(words[one.min(other)]);
        text.push(' ');
    }
    text
}

fn lexical(c: &mut Criterion) {
    // Mean characters of a sentence: of Clinical, Choi; paragraphs of Fiction.
    for length in [100, 150, 450, 1_500] {
        let (a, b) = (text(length, 1), text(length, 2));
        let matcher = SequenceMatcher.prepare(&[&a, &b]).unwrap();
        c.bench_function(&format!("sequence-matcher/{length}"), |run| {
            run.iter(|| SequenceMatcher.compare(&matcher[0], &matcher[1]));
        });
        let sets = Jaccard.prepare(&[&a, &b]).unwrap();
        c.bench_function(&format!("jaccard/{length}"), |run| run.iter(|| Jaccard.compare(&sets[0], &sets[1])));
    }
}

criterion_group!(benches, bertscore, lexical);
criterion_main!(benches);
