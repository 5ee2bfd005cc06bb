//! Chunks that are embedded within their documents.

use pericope_api::Document;
use pericope_index::pipeline::index_documents;
use pericope_index::{IndexSpec, IndexStats, IndexWriter, Mode, Query, Retriever};

use crate::{dense_spec, index_of};
use pericope_testkit::documents::sentence_chunks;
use pericope_testkit::encoders::{Backwards, BagOfWords};

fn late_spec() -> IndexSpec {
    dense_spec().with_late_chunking(true)
}

fn shelf(last: &str) -> [Document; 2] {
    [
        Document::from_sentences("a.md", &["Water boils.", "Bread needs time."]),
        Document::from_sentences("b.md", &["Water boils.", last]),
    ]
}

fn write(dir: &std::path::Path, documents: &[Document]) -> IndexStats {
    let mut writer = IndexWriter::create_or_open(dir, &late_spec()).unwrap();
    for document in documents {
        writer.add(document, &sentence_chunks(document)).unwrap();
    }
    writer.finish().unwrap()
}

#[test]
fn vectors_are_computed_again_where_the_document_changed() {
    let dir = tempfile::tempdir().unwrap();
    let before = shelf("Nobody knew.");
    // A sentence of both documents has two vectors.
    assert_eq!(write(dir.path(), &before).texts_embedded, 4);
    assert_eq!(write(dir.path(), &before).texts_embedded, 0);
    let after = shelf("Nobody asked.");
    assert_eq!(write(dir.path(), &after).texts_embedded, 2);
    // The same text under another name.
    let moved = Document { id: "c.md".into(), ..after[0].clone() };
    assert_eq!(write(dir.path(), &[moved]).texts_embedded, 0);
}

#[test]
fn a_chunk_is_near_what_stands_around_it() {
    let (_dir, reader) = index_of(&late_spec(), &shelf("Nobody knew."));
    let hits = reader.search(&Query::new("bread", Mode::Dense, 9)).unwrap();
    let order: Vec<(&str, usize)> = hits.iter().map(|hit| (hit.chunk.document.as_str(), hit.chunk.ordinal)).collect();
    assert_eq!(order[..2], [("a.md", 1), ("a.md", 0)]);
    assert!(hits[1].score > hits[2].score, "the same sentence elsewhere");
}

#[test]
fn a_pipeline_gives_what_a_writer_gives() {
    let documents = shelf("Nobody knew.");
    let (_dir, reader) = index_of(&late_spec(), &documents);
    let dir = tempfile::tempdir().unwrap();
    let mut writer = IndexWriter::create_or_open(dir.path(), &late_spec()).unwrap();
    let given = documents.into_iter().map(Ok);
    let report = index_documents(&mut writer, given, |document| Ok(sentence_chunks(document)), |_| {}).unwrap();
    assert_eq!((report.embedded.encoded, report.truncated), (4, 0));
    let other = writer.reader();
    writer.finish().unwrap();
    other.reload().unwrap();
    let rank = |reader: &pericope_index::IndexReader, query: &str| {
        let hits = reader.search(&Query::new(query, Mode::Dense, 9)).unwrap();
        hits.into_iter().map(|hit| (hit.chunk.document, hit.chunk.ordinal, hit.score)).collect::<Vec<_>>()
    };
    for query in ["bread", "water knew"] {
        assert_eq!(rank(&reader, query), rank(&other, query));
    }
}

#[test]
fn an_index_is_made_one_way_or_the_other() {
    let (dir, _) = index_of(&late_spec(), &shelf("Nobody knew."));
    let error = IndexWriter::create_or_open(dir.path(), &dense_spec()).err().unwrap().to_string();
    assert!(error.contains("late chunking `on`, not `off`"), "{error}");
    let mut reader = pericope_index::IndexReader::open(dir.path()).unwrap();
    reader.set_encoder(BagOfWords::new()).unwrap();
    assert_eq!(reader.search(&Query::new("bread", Mode::Dense, 9)).unwrap().len(), 4);
}

#[test]
fn what_it_does_not_go_with_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let [document, _] = shelf("Nobody knew.");
    let chunks = sentence_chunks(&document);
    let prefixed = late_spec().with_heading_prefix(true);
    let mut writer = IndexWriter::create_or_open(&dir.path().join("prefixed"), &prefixed).unwrap();
    let error = writer.add(&document, &chunks).unwrap_err().to_string();
    assert!(error.contains("late chunking reads documents as they are"), "{error}");
    // An encoder that has no vectors of tokens.
    let spec = IndexSpec::new("sentence", "words")
        .with_encoder(std::sync::Arc::new(Backwards(BagOfWords::new())))
        .with_late_chunking(true);
    let mut writer = IndexWriter::create_or_open(&dir.path().join("plain"), &spec).unwrap();
    writer.add(&document, &chunks).unwrap();
    let error = writer.finish().unwrap_err().to_string();
    assert!(error.contains("bag-of-words cannot embed chunks late"), "{error}");
}
