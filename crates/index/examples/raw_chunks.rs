//! How fast does bare tantivy write the chunks that an index holds? For `scripts/bench/bench-index`.
//!
//! ```text
//! cargo run --release -p pericope-index --example raw_chunks -- DIR
//! ```
//! prints one JSON line: chunks, bytes of their texts, seconds. Text with positions and stems, stored, with the fields
//! that any program keeps beside it (document, range), on as many threads and with as much memory as Pericope takes.
use std::path::Path;
use std::time::Instant;

use pericope_index::IndexReader;
use tantivy::schema::{FAST, IndexRecordOption, STORED, STRING, Schema, TextFieldIndexing, TextOptions};
use tantivy::{Index, IndexWriter, TantivyDocument};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dir = std::env::args().nth(1).ok_or("name the folder of an index")?;
    let contents = IndexReader::open(Path::new(&dir))?.contents()?;
    // In the order in which documents were read.
    let mut chunks: Vec<_> = contents.chunks.values().collect();
    chunks.sort_by(|a, b| (&a.document, a.start).cmp(&(&b.document, b.start)));
    let bytes: usize = chunks.iter().map(|chunk| chunk.text.len()).sum();

    let mut builder = Schema::builder();
    let words = TextFieldIndexing::default().set_tokenizer("en_stem");
    let words = words.set_index_option(IndexRecordOption::WithFreqsAndPositions);
    let id = builder.add_text_field("doc_id", STRING | STORED | FAST);
    let start = builder.add_u64_field("start", STORED | FAST);
    let end = builder.add_u64_field("end", STORED | FAST);
    let text = builder.add_text_field("text", TextOptions::default().set_indexing_options(words).set_stored());
    let target = tempfile::tempdir()?;
    let before = Instant::now();
    let index = Index::create_in_dir(target.path(), builder.build())?;
    let threads = std::thread::available_parallelism()?.get().min(4);
    let mut writer: IndexWriter = index.writer_with_num_threads(threads, 80 << 20)?;
    for chunk in &chunks {
        let mut fields = TantivyDocument::default();
        fields.add_text(id, &chunk.document);
        fields.add_u64(start, chunk.start as u64);
        fields.add_u64(end, chunk.end as u64);
        fields.add_text(text, &chunk.text);
        writer.add_document(fields)?;
    }
    writer.commit()?;
    writer.wait_merging_threads()?;
    let seconds = before.elapsed().as_secs_f64();
    println!("{}", serde_json::json!({ "chunks": chunks.len(), "bytes": bytes, "seconds": seconds }));
    Ok(())
}
