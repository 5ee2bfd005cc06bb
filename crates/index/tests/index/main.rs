//! The index as its users see it, with an encoder that needs no model.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod filtering;
mod incremental;
mod opening;
mod pipeline;
mod searching;
#[path = "../../src/testing.rs"]
mod testing;
mod writing;

use pericope_api::Document;
use pericope_index::{IndexReader, IndexSpec, IndexWriter};
use testing::{BagOfWords, sentence_chunks};

/// A spec with vectors.
fn dense_spec() -> IndexSpec {
    IndexSpec::new("sentence", "words").with_encoder(BagOfWords::new())
}

/// An index of these documents, a chunk a sentence, and a reader on it.
fn index_of(spec: &IndexSpec, documents: &[Document]) -> (tempfile::TempDir, IndexReader) {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = IndexWriter::create_or_open(dir.path(), spec).unwrap();
    for document in documents {
        writer.add(document, &sentence_chunks(document)).unwrap();
    }
    writer.finish().unwrap();
    let reader = IndexReader::open_expecting(dir.path(), spec).unwrap();
    (dir, reader)
}
