//! Writes a large index in minutes, for `scripts/bench/bench-serve`: texts of real sentences, vectors that were made.
//!
//! ```text
//! PERICOPE_DATA=... cargo run --release -p pericope-cli --example made_index -- DIR CHUNKS VECTORS
//! ```
//! A document has ten chunks of three to seven sentences of the documentation in `docs/*.seg.jsonl`, drawn by a fixed seed.
//! VECTORS holds vectors of 384 numbers as `scripts/bench/bench-vectors` makes them. The index says that its vectors are
//! MiniLM's, whose place they take, so that a search embeds its query with MiniLM.
use std::error::Error;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use pericope_api::{Chunk, Document, Embeddings, EncodeError, SentenceEncoder, Span};
use pericope_index::{IndexSpec, IndexWriter};

const DIMENSION: usize = 384;
const CHUNKS_A_DOCUMENT: u64 = 10;

/// Says that it is another encoder, and gives each text one of the vectors in a file, by the text's hash.
struct Made {
    of: Arc<dyn SentenceEncoder>,
    vectors: Mutex<File>,
    rows: u64,
}

impl SentenceEncoder for Made {
    fn name(&self) -> &str {
        self.of.name()
    }

    fn fingerprint(&self) -> String {
        self.of.fingerprint()
    }

    fn dimension(&self) -> usize {
        DIMENSION
    }

    fn max_tokens(&self) -> usize {
        self.of.max_tokens()
    }

    fn encode(&self, texts: &[&str]) -> Result<Embeddings, EncodeError> {
        let mut values = Vec::with_capacity(texts.len() * DIMENSION);
        let mut bytes = vec![0; DIMENSION * 4];
        let mut vectors = self.vectors.lock().unwrap_or_else(PoisonError::into_inner);
        for text in texts {
            let row = Chunk::content_hash(text) as u64 % self.rows;
            let at = SeekFrom::Start(row * (DIMENSION as u64 * 4));
            let read = vectors.seek(at).and_then(|_| vectors.read_exact(&mut bytes));
            read.map_err(|error| EncodeError::Model(error.to_string()))?;
            values.extend(bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)));
        }
        Ok(Embeddings::new(DIMENSION, values))
    }
}

/// The sentences of each set of documents, in a fixed order.
fn sentences() -> Result<Vec<Vec<String>>, Box<dyn Error>> {
    let data = PathBuf::from(std::env::var("PERICOPE_DATA").map_err(|_| "PERICOPE_DATA names no data")?);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(data.join("docs"))?.map(|entry| Ok(entry?.path())).collect::<Result<_, std::io::Error>>()?;
    files.retain(|path| path.to_str().is_some_and(|path| path.ends_with(".seg.jsonl")));
    files.sort();
    let mut sets = Vec::new();
    for path in files {
        let mut set = Vec::new();
        for line in std::fs::read_to_string(path)?.lines() {
            let page: serde_json::Value = serde_json::from_str(line)?;
            let found = page["sentences"].as_array().into_iter().flatten().filter_map(|text| text.as_str());
            set.extend(found.filter(|text| (3..=60).contains(&text.split_whitespace().count())).map(str::to_owned));
        }
        sets.push(set);
    }
    sets.retain(|set| !set.is_empty());
    if sets.is_empty() { Err("PERICOPE_DATA has no docs/*.seg.jsonl".into()) } else { Ok(sets) }
}

/// Pseudo-random numbers.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [dir, chunks, vectors] = &arguments[..] else { return Err("give DIR CHUNKS VECTORS".into()) };
    let (chunks, vectors): (u64, File) = (chunks.parse()?, File::open(vectors)?);
    let rows = vectors.metadata()?.len() / (DIMENSION as u64 * 4);
    let of = pericope_encode::registry::embedder("minilm")?.ok_or("MiniLM is an encoder")?;
    let spec = IndexSpec::new("paragraph:max_tokens=256", "words").with_encoder(Arc::new(Made {
        of,
        vectors: Mutex::new(vectors),
        rows,
    }));
    let (sets, started) = (sentences()?, Instant::now());
    let mut writer = IndexWriter::create_or_open(Path::new(dir), &spec)?;
    for number in 0..chunks.div_ceil(CHUNKS_A_DOCUMENT) {
        let mut draw = Draw(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let set = draw.below(sets.len());
        let count = CHUNKS_A_DOCUMENT.min(chunks - number * CHUNKS_A_DOCUMENT);
        let sizes: Vec<usize> = (0..count).map(|_| 3 + draw.below(5)).collect();
        let texts: Vec<&str> =
            (0..sizes.iter().sum()).map(|_| sets[set][draw.below(sets[set].len())].as_str()).collect();
        let document = Document::from_sentences(&format!("set{set}/page{number}.md"), &texts);
        let (mut first, mut cut) = (0, Vec::new());
        for (ordinal, size) in sizes.into_iter().enumerate() {
            let spans = &document.sentences[first..first + size];
            let span = Span::new(spans[0].span.start, spans[size - 1].span.end);
            let text = document.text(span);
            cut.push(Chunk {
                document: document.id.clone(),
                ordinal,
                span,
                heading_path: vec![],
                tokens: text.split_whitespace().count(),
                hash: Chunk::content_hash(text),
                context: None,
            });
            first += size;
        }
        writer.add(&document, &cut)?;
    }
    writer.finish()?;
    println!("{}", serde_json::json!({ "chunks": chunks, "seconds": started.elapsed().as_secs_f64() }));
    Ok(())
}
