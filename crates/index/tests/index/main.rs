//! The index as its users see it, with an encoder that needs no model.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod damage;
mod disks;
mod filtering;
mod growth;
mod highlighting;
mod incremental;
mod late;
mod late_chunking;
mod laws;
mod opening;
mod owning;
mod pipeline;
mod searching;
mod sources;
mod together;
mod writing;

use pericope_api::Document;
use pericope_index::{IndexReader, IndexSpec, IndexWriter};
use pericope_testkit::documents::sentence_chunks;
use pericope_testkit::encoders::BagOfWords;

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
