//! How much slower than bare tantivy is the index? Both write the same chunks, on as many threads, with as much memory.
//!
//! ```text
//! PERICOPE_DATA=... cargo run --release -p pericope-index --example raw_speed [MEGABYTES] [dense]
//! ```
//! reads `docs/*.raw.jsonl` (repeated under other names until there are MEGABYTES of text, 100 unless told) and prints
//! MB/s, their ratio, and the peak of resident memory. `dense` adds random vectors of 384 numbers, to see what storing
//! them costs: without a model, embedding costs nothing.
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use pericope_api::{Chunk, Document, Embeddings, EncodeError, SentenceEncoder, Span};
use pericope_index::pipeline::index_documents;
use pericope_index::{IndexReader, IndexSpec, IndexWriter, Mode, Query, Retriever};
use tantivy::schema::{FAST, STORED, STRING, Schema, TextFieldIndexing, TextOptions};
use tantivy::{Index, TantivyDocument};

type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

/// Vectors that depend on the text's hash alone.
struct Noise;

impl SentenceEncoder for Noise {
    fn name(&self) -> &str {
        "noise"
    }

    fn fingerprint(&self) -> String {
        "1".into()
    }

    fn dimension(&self) -> usize {
        384
    }

    fn max_tokens(&self) -> usize {
        usize::MAX
    }

    fn encode(&self, texts: &[&str]) -> Result<Embeddings, EncodeError> {
        let mut values = Vec::with_capacity(texts.len() * 384);
        for text in texts {
            let mut state = Chunk::content_hash(text) as u64 | 1;
            for _ in 0..384 {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                values.push((state >> 40) as f32 / (1u64 << 23) as f32 - 1.0);
            }
        }
        Ok(Embeddings::new(384, values))
    }
}

/// Pieces of about 1,000 bytes that end at line ends.
fn chunk(document: &Document) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    let mut start = 0;
    let mut at = 0;
    for line in document.source.split_inclusive('\n') {
        at += line.len();
        if at - start >= 1000 || at == document.source.len() {
            let span = Span::new(start, at);
            chunks.push(Chunk {
                document: document.id.clone(),
                ordinal: chunks.len(),
                span,
                heading_path: vec![],
                tokens: span.len() / 4,
                hash: Chunk::content_hash(document.text(span)),
                context: None,
            });
            start = at;
        }
    }
    chunks
}

fn documents(megabytes: usize) -> Fallible<Vec<Document>> {
    let data = PathBuf::from(std::env::var("PERICOPE_DATA").map_err(|_| "PERICOPE_DATA names no data")?);
    let mut files: Vec<PathBuf> = std::fs::read_dir(data.join("docs"))?.flatten().map(|f| f.path()).collect();
    files.retain(|f| f.to_string_lossy().ends_with(".raw.jsonl"));
    files.sort();
    let mut texts = Vec::new();
    for file in files {
        for line in std::fs::read_to_string(&file)?.lines() {
            let value: serde_json::Value = serde_json::from_str(line)?;
            texts.push(value["text"].as_str().unwrap_or("").to_owned());
        }
    }
    let (mut made, mut bytes) = (Vec::new(), 0);
    for (i, text) in texts.iter().cycle().enumerate() {
        if bytes >= megabytes << 20 {
            break;
        }
        bytes += text.len();
        // One sentence: a document without any has no text, and nothing of it is indexed.
        made.push(Document::from_sentences(&format!("{i:06}"), &[text]));
    }
    Ok(made)
}

fn raw(documents: &[Document], dir: &std::path::Path) -> Fallible<()> {
    let mut builder = Schema::builder();
    let words = TextFieldIndexing::default().set_tokenizer("en_stem");
    let words = words.set_index_option(tantivy::schema::IndexRecordOption::WithFreqsAndPositions);
    let id = builder.add_text_field("doc_id", STRING | STORED | FAST);
    let start = builder.add_u64_field("start", STORED | FAST);
    let end = builder.add_u64_field("end", STORED | FAST);
    let text = builder.add_text_field("text", TextOptions::default().set_indexing_options(words).set_stored());
    let index = Index::create_in_dir(dir, builder.build())?;
    let threads = std::thread::available_parallelism()?.get().min(4);
    let mut writer = index.writer_with_num_threads(threads, 80 << 20)?;
    for document in documents {
        for chunk in chunk(document) {
            let mut fields = TantivyDocument::default();
            fields.add_text(id, &document.id);
            fields.add_u64(start, chunk.span.start as u64);
            fields.add_u64(end, chunk.span.end as u64);
            fields.add_text(text, document.text(chunk.span));
            writer.add_document(fields)?;
        }
    }
    writer.commit()?;
    writer.wait_merging_threads()?;
    Ok(())
}

/// Processor time of this process, all threads (Linux; 0 elsewhere): a fairer measure on a busy machine.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(") ").next().unwrap_or("").split(' ');
    // User and system time are fields 14 and 15, in hundredths; 3 is the first after the name.
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

fn main() -> Fallible<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let megabytes = arguments.iter().find_map(|a| a.parse().ok()).unwrap_or(100);
    let dense = arguments.iter().any(|a| a == "dense");
    let documents = documents(megabytes)?;
    let bytes: usize = documents.iter().map(|d| d.source.len()).sum();
    println!("{} documents, {:.1} MB", documents.len(), bytes as f64 / 1e6);

    let dir = tempfile::tempdir()?;
    let (before, cpu_before) = (Instant::now(), cpu_seconds());
    raw(&documents, dir.path())?;
    let bare = bytes as f64 / 1e6 / before.elapsed().as_secs_f64();
    let bare_cpu = cpu_seconds() - cpu_before;
    println!("tantivy   {bare:7.1} MB/s, {bare_cpu:.1} s of processor time");

    let dir = tempfile::tempdir()?;
    let mut spec = IndexSpec::new("lines", "bytes");
    if dense {
        spec = spec.with_encoder(Arc::new(Noise));
    }
    let (before, cpu_before) = (Instant::now(), cpu_seconds());
    let mut writer = IndexWriter::create_or_open(dir.path(), &spec)?;
    let report = index_documents(&mut writer, documents.iter().cloned().map(Ok), |d| Ok(chunk(d)), |_| {})?;
    let stats = writer.finish()?;
    let expected: usize = documents.iter().filter(|d| d.has_text()).map(|d| chunk(d).len()).sum();
    if stats.chunks != expected as u64 {
        let failed = report.failures.len();
        return Err(format!("{} of {expected} chunks were indexed; {failed} documents failed", stats.chunks).into());
    }
    let ours = bytes as f64 / 1e6 / before.elapsed().as_secs_f64();
    let cpu = cpu_seconds() - cpu_before;
    println!("pericope  {ours:7.1} MB/s, {cpu:.1} s of processor time, {} chunks", stats.chunks);
    println!("of bare tantivy: {:.2} by the clock, {:.2} by processor time", ours / bare, bare_cpu / cpu);

    let before = Instant::now();
    let reader = IndexReader::open_expecting(dir.path(), &spec)?;
    let modes: &[Mode] = if dense { &Mode::ALL } else { &[Mode::Bm25] };
    reader.search(&Query::new("warm up", modes[modes.len() - 1], 10))?;
    println!("open and first search {:.1} ms", before.elapsed().as_secs_f64() * 1e3);
    for &mode in modes {
        let mut times: Vec<f64> = Vec::new();
        for document in documents.iter().step_by(documents.len() / 100 + 1) {
            let words: Vec<&str> = document.source.split_whitespace().skip(20).take(8).collect();
            let before = Instant::now();
            reader.search(&Query::new(words.join(" "), mode, 10))?;
            times.push(before.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        println!("{mode:7} p50 {:6.2} ms  p95 {:6.2} ms", times[times.len() / 2], times[times.len() * 95 / 100]);
    }
    if let Ok(status) = std::fs::read_to_string("/proc/self/status") {
        let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("");
        println!("{peak}  (the documents themselves lie in memory, too)");
    }
    Ok(())
}
