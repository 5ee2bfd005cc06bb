//! How fast does MiniLM embed the chunks that an index holds, with nothing else to do? For `scripts/bench/bench-index`.
//!
//! ```text
//! cargo run --release -p pericope --example encoder_speed -- DIR
//! ```
//! prints one JSON line: chunks, distinct texts, seconds in the encoder.
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use pericope_index::IndexReader;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dir = std::env::args().nth(1).ok_or("name the folder of an index")?;
    let contents = IndexReader::open(Path::new(&dir))?.contents()?;
    let mut chunks: Vec<_> = contents.chunks.values().collect();
    chunks.sort_by(|a, b| (&a.document, a.start).cmp(&(&b.document, b.start)));
    // In batches of the pipeline's size, each text of a batch once, as the pipeline does it.
    let encoder = pericope_encode::registry::embedder("minilm")?.ok_or("MiniLM is an encoder")?;
    encoder.encode(&["warm up"])?;
    let (mut texts, mut seconds) = (0, 0.0);
    for batch in chunks.chunks(1024) {
        let distinct: BTreeSet<&str> = batch.iter().map(|chunk| chunk.text.as_str()).collect();
        let distinct: Vec<&str> = distinct.into_iter().collect();
        let before = Instant::now();
        encoder.encode(&distinct)?;
        seconds += before.elapsed().as_secs_f64();
        texts += distinct.len();
    }
    println!("{}", serde_json::json!({ "chunks": chunks.len(), "texts": texts, "seconds": seconds }));
    Ok(())
}
