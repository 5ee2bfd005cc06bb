//! # Chunks as points for a Qdrant client of one's own
//!
//! `chunk_points` turns documents into points (id, vector, payload) in plain structs. What sends them is the program's:
//! qdrant-client, an HTTP library, another vector store.
//!
//! ```text
//! cargo run -p pericope --example qdrant_plugin
//! ```
//! prints the bodies of `PUT /collections/{name}/points` requests.
use std::sync::Arc;

use pericope::api::{Chunk, Document, Embeddings, EncodeError, SentenceEncoder};
use pericope::index::plugin::{ChunkPoint, chunk_points};
use serde_json::{Value, json};

type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

/// Counts letters: a vector for the example's sake. A real program passes MiniLM
/// (`pericope_encode::registry::embedder("minilm")`), or its own model behind this trait.
struct Letters;

impl SentenceEncoder for Letters {
    fn name(&self) -> &str {
        "letters"
    }

    fn fingerprint(&self) -> String {
        "1".into()
    }

    fn dimension(&self) -> usize {
        26
    }

    fn max_tokens(&self) -> usize {
        usize::MAX
    }

    fn encode(&self, texts: &[&str]) -> Result<Embeddings, EncodeError> {
        let mut values = Vec::new();
        for text in texts {
            let mut counts = [0f32; 26];
            for letter in text.bytes().filter(u8::is_ascii_alphabetic) {
                counts[usize::from(letter.to_ascii_lowercase() - b'a')] += 1.0;
            }
            let norm = counts.iter().map(|c| c * c).sum::<f32>().sqrt().max(1.0);
            values.extend(counts.map(|c| c / norm));
        }
        Ok(Embeddings::new(26, values))
    }
}

/// A chunk a sentence. A real program passes a `Chunker` of `pericope-segment`.
fn chunk(document: &Document) -> Vec<Chunk> {
    let sentences = document.sentences.iter().enumerate();
    sentences
        .map(|(ordinal, sentence)| Chunk {
            document: document.id.clone(),
            ordinal,
            span: sentence.span,
            heading_path: document.heading_path(ordinal).to_vec(),
            tokens: document.text(sentence.span).split_whitespace().count(),
            hash: Chunk::content_hash(document.text(sentence.span)),
            context: None,
        })
        .collect()
}

/// The body of an upsert.
fn body(points: &[ChunkPoint]) -> Fallible<Value> {
    let point = |p: &ChunkPoint| -> Fallible<Value> {
        Ok(json!({ "id": p.id, "vector": p.vector, "payload": serde_json::to_value(&p.payload)? }))
    };
    Ok(json!({ "points": points.iter().map(point).collect::<Fallible<Vec<_>>>()? }))
}

fn main() -> Fallible<()> {
    let documents = [
        Document::from_sentences("tides.md", &["The moon pulls at the sea.", "Spring tides follow the new moon."]),
        Document::from_sentences("bread.md", &["Rye dough rests overnight."]),
    ];
    // Points come as they are asked for: any number of documents goes through, some batches at a time.
    let cut = documents.into_iter().map(|document| {
        let chunks = chunk(&document);
        (document, chunks)
    });
    let points: Vec<ChunkPoint> = chunk_points(cut, Arc::new(Letters)).collect::<Result<_, _>>()?;
    assert_eq!(points.len(), 3);
    for batch in points.chunks(2) {
        println!("{}", serde_json::to_string(&body(batch)?)?);
    }

    // The payload says where a chunk is from, and reads back as it was.
    let first = serde_json::to_value(&points[0].payload)?;
    assert_eq!((&first["document"], &first["start"], &first["end"]), (&json!("tides.md"), &json!(0), &json!(26)));
    // Ids are made of document, range and text: the same again in the next run, which overwrites and doubles nothing.
    assert_eq!(points[0].id.get_version_num(), 5);
    Ok(())
}
