//! Many documents at once, some of them bad.

use pericope_api::{Document, Embeddings, SegmentError};
use pericope_index::pipeline::{Failure, Progress, index_documents};
use pericope_index::{IndexSpec, IndexWriter, Mode, Query, Retriever};
use pericope_store::{ChunkEntry, Destination, DestinationInfo, DocumentHeader, Finished, RunSummary, StoreError};

use pericope_testkit::documents::{made_up, sentence_chunks};

#[test]
fn one_bad_document_never_stops_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = IndexWriter::create_or_open(dir.path(), &IndexSpec::new("s", "w")).unwrap();
    let documents = (0..600).map(|i| match i {
        7 => Err(Failure::new("seven.pdf", "it has no text")),
        _ => Ok(made_up(&format!("d{i:03}"), i, 5)),
    });
    let chunk = |document: &Document| match document.id.as_str() {
        "d010" => Err(SegmentError::Unsupported("no".into())),
        "d020" => panic!("a bug in a segmenter"),
        "d300" => {
            let mut chunks = sentence_chunks(document);
            chunks[2].span.end = 1 << 40;
            Ok(chunks)
        }
        _ => Ok(sentence_chunks(document)),
    };
    let mut calls: Vec<Progress> = Vec::new();
    let report = index_documents(&mut writer, documents, chunk, |progress| calls.push(*progress)).unwrap();
    let failed: Vec<&str> = report.failures.iter().map(|f| f.document.as_str()).collect();
    assert_eq!(failed, ["seven.pdf", "d010", "d020", "d300"]);
    assert!(report.failures.iter().all(|f| !f.reason.is_empty() && !f.reason.contains('\n')));
    assert_eq!((calls.len(), calls.last()), (600, Some(&report.progress)));
    assert_eq!((report.progress.documents, report.progress.chunks, report.progress.failed), (596, 2980, 4));
    let reader = writer.reader();
    let stats = writer.finish().unwrap();
    assert_eq!((stats.documents, stats.chunks, stats.bytes), (596, 2980, report.progress.bytes));
    reader.reload().unwrap();
    assert!(reader.search(&Query::new("w0", Mode::Bm25, 5000)).unwrap().iter().all(|h| h.chunk.document != "d300"));
}

#[test]
fn what_was_indexed_goes_with_the_text() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = IndexWriter::create_or_open(dir.path(), &IndexSpec::new("s", "w")).unwrap();
    let mut index = |text: &str| {
        let page = Document::from_sentences("page.md", &[text]);
        index_documents(&mut writer, [Ok(page)], |document| Ok(sentence_chunks(document)), |_| {}).unwrap()
    };
    assert_eq!(index("Foxes dig.").progress.documents, 1);
    let report = index(" ");
    assert_eq!((report.progress.removed, report.progress.failed, report.empty), (1, 0, vec!["page.md".to_owned()]));
    assert_eq!(index(" ").progress.removed, 0);
    assert_eq!(writer.finish().unwrap().documents, 0);
}

/// An index that notes the hash of every document that comes.
struct Noting(IndexWriter, Vec<u128>);

impl Destination for Noting {
    fn about(&self) -> &DestinationInfo {
        self.0.about()
    }

    fn put(&mut self, document: &DocumentHeader, chunks: Vec<ChunkEntry>, rows: Embeddings) -> Result<(), StoreError> {
        self.1.push(document.hash);
        self.0.put(document, chunks, rows)
    }

    fn remove(&mut self, document: &str) -> Result<bool, StoreError> {
        Destination::remove(&mut self.0, document)
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        Destination::commit(&mut self.0)
    }

    fn finish(self: Box<Self>, run: &RunSummary<'_>) -> Result<Finished, StoreError> {
        Destination::finish(Box::new(self.0), run)
    }
}

#[test]
fn documents_of_a_program_have_a_hash_of_their_text() {
    let dir = tempfile::tempdir().unwrap();
    let mut noting = Noting(IndexWriter::create_or_open(dir.path(), &IndexSpec::new("s", "w")).unwrap(), Vec::new());
    // A collection tells a document's revisions by it: with one hash for all, what the document had before stays.
    for text in ["Zebras doze.", "Lions doze by day.", "Zebras doze."] {
        let page = Document::from_sentences("zoo", &[text]);
        index_documents(&mut noting, [Ok(page)], |document| Ok(sentence_chunks(document)), |_| {}).unwrap();
    }
    assert!(noting.1[0] == noting.1[2] && noting.1[0] != noting.1[1], "{:?}", noting.1);
}
