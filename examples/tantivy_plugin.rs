//! # Chunks in a tantivy index of one's own
//!
//! A program that has a tantivy index keeps its schema and its writer. It hands its documents to a
//! `ChunkingIndexWriter`, which writes one tantivy document a chunk and replaces them when a document comes again.
//!
//! ```text
//! cargo run -p pericope --example tantivy_plugin
//! ```
use pericope::api::{Chunk, Document};
use pericope::index::pipeline::{Failure, index_documents};
use pericope::index::plugin::{ChunkingIndexWriter, FieldMap};
use tantivy::collector::TopDocs;
use tantivy::query::QueryParser;
use tantivy::schema::{FAST, STORED, STRING, Schema, TEXT, Value};
use tantivy::{Index, ReloadPolicy, TantivyDocument};

type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

/// Two sentences a chunk. A real program passes a `Chunker` of `pericope-segment`: `|document| chunker.chunks(document)`.
fn chunk(document: &Document) -> Vec<Chunk> {
    let pairs = (0..document.len()).step_by(2).map(|first| first..(first + 2).min(document.len()));
    pairs
        .enumerate()
        .map(|(ordinal, pair)| {
            let span = document.span_of(pair.clone());
            Chunk {
                document: document.id.clone(),
                ordinal,
                span,
                heading_path: document.heading_path(pair.start).to_vec(),
                tokens: document.text(span).split_whitespace().count(),
                hash: Chunk::content_hash(document.text(span)),
                context: None,
            }
        })
        .collect()
}

fn main() -> Fallible<()> {
    // # The schema is the program's
    // One field must hold the document's id as it stands: by it the chunks of a document are replaced. The others are as
    // the program likes them, with its own tokenizers and fields of its own.
    let mut schema = Schema::builder();
    let url = schema.add_text_field("url", STRING | STORED);
    let body = schema.add_text_field("body", TEXT | STORED);
    let start = schema.add_u64_field("start", STORED | FAST);
    let site = schema.add_text_field("site", STRING | STORED);
    let index = Index::create_in_ram(schema.build());

    // # So is the mapping
    // A `FieldMap` fills the usual fields; a closure adds what only the program knows.
    let map = FieldMap::new(url, body).start(start);
    let mut writer = ChunkingIndexWriter::new(index.writer(15_000_000)?, url, move |entry| {
        let mut document = map.document(entry);
        document.add_text(site, entry.chunk.document.split('/').next().unwrap_or(""));
        document
    });

    // # Documents in
    // One at a time:
    let tides = Document::from_sentences(
        "sea.example/tides",
        &["The moon pulls at the sea.", "Twice a day it rises.", "Spring tides follow the new moon."],
    );
    assert_eq!(writer.add(&tides, &chunk(&tides))?, 2);
    // or many, cut on all cores; what cannot be read is reported and does not stop the rest:
    let more = [
        Ok(Document::from_sentences("bread.example/rye", &["Rye dough rests overnight.", "It wants a warm place."])),
        Err(Failure::new("bread.example/spelt", "404 not found")),
    ];
    let report = index_documents(&mut writer, more, |document| Ok(chunk(document)), |_| {})?;
    assert_eq!(report.failures.len(), 1);
    writer.tantivy().commit()?;

    // # Search is plain tantivy
    let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
    let parser = QueryParser::for_index(&index, vec![body]);
    let find = |words: &str| -> Fallible<Vec<(String, u64)>> {
        let searcher = reader.searcher();
        let found = searcher.search(&parser.parse_query(words)?, &TopDocs::with_limit(10).order_by_score())?;
        let mut hits = Vec::new();
        for (_, address) in found {
            let stored: TantivyDocument = searcher.doc(address)?;
            let text = stored.get_first(url).and_then(|v| v.as_str()).unwrap_or("").to_owned();
            hits.push((text, stored.get_first(start).and_then(|v| v.as_u64()).unwrap_or(0)));
        }
        Ok(hits)
    };
    assert_eq!(find("spring")?, [("sea.example/tides".to_owned(), 49)]);
    println!("spring tides: {:?}", find("spring")?);

    // # A document that comes again replaces its chunks
    let shorter = Document::from_sentences("sea.example/tides", &["The moon pulls at the sea."]);
    writer.add(&shorter, &chunk(&shorter))?;
    writer.tantivy().commit()?;
    reader.reload()?;
    assert!(find("spring")?.is_empty());
    assert_eq!(reader.searcher().num_docs(), 2);
    println!("after the change: {} chunks", reader.searcher().num_docs());
    Ok(())
}
