//! What is in the index after it was written, again and again.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pericope_api::{Chunk, Document, Rewrite, SentenceEncoder, Span};
use pericope_index::{IndexError, IndexReader, IndexSpec, IndexWriter, Mode, Query, Retriever, StoreError};

use crate::{dense_spec, index_of};
use pericope_testkit::documents::{made_up, sentence_chunks};
use pericope_testkit::encoders::BagOfWords;

#[test]
fn what_goes_in_comes_out() {
    let mut document =
        Document::from_sentences("guide/é.md", &["The Größe of a file.", "日本語の文。", "Plain words at the end."]);
    document.title = Some("Guide".into());
    document.sections = vec![vec![], vec!["Files".into(), "Sizes".into()]];
    document.sentences[1].section = 1;
    document.sentences[2].section = 1;
    let (_dir, reader) = index_of(&dense_spec(), std::slice::from_ref(&document));
    assert_eq!((reader.documents().unwrap(), reader.chunks().unwrap()), (1, 3));
    for mode in [Mode::Bm25, Mode::Dense, Mode::Hybrid] {
        let hits = reader.search(&Query::new("plain words", mode, 3)).unwrap();
        let hit = &hits[0];
        assert_eq!(
            (hit.rank, hit.chunk.document.as_str(), hit.chunk.ordinal, hit.chunk.tokens),
            (1, "guide/é.md", 2, 5),
            "{mode}"
        );
        assert_eq!(
            (hit.chunk.title.as_deref(), hit.chunk.heading_path.join("/")),
            (Some("Guide"), "Files/Sizes".to_owned())
        );
        for hit in &hits {
            assert_eq!(hit.chunk.text, Span::new(hit.chunk.start, hit.chunk.end).of(&document.source), "{mode}");
        }
        let marked: Vec<&str> = hit.highlights.iter().map(|h| h.of(&hit.chunk.text)).collect();
        assert_eq!(marked, ["Plain", "words"], "{mode}");
    }
    assert_eq!(reader.search(&Query::new("grosse", Mode::Bm25, 3)).unwrap()[0].chunk.ordinal, 0);
    assert_eq!(reader.search(&Query::new("日本語", Mode::Bm25, 3)).unwrap()[0].chunk.ordinal, 1);
    assert_eq!(reader.search(&Query::new("sizes", Mode::Bm25, 3)).unwrap().len(), 2, "headings are searched");
    assert!(reader.search(&Query::new("sizes", Mode::Bm25, 3).text_only()).unwrap().is_empty());
}

#[test]
fn writing_again_replaces_and_embeds_only_what_changed() {
    let dir = tempfile::tempdir().unwrap();
    let encoder = BagOfWords::new();
    let spec = IndexSpec::new("sentence", "words").with_encoder(encoder.clone());
    let documents: Vec<Document> = (0..20).map(|i| made_up(&format!("d{i}"), i, 10)).collect();
    for run in 0..3 {
        let mut writer = IndexWriter::create_or_open(dir.path(), &spec).unwrap();
        for document in &documents {
            writer.add(document, &sentence_chunks(document)).unwrap();
        }
        let stats = writer.finish().unwrap();
        assert_eq!((stats.documents, stats.chunks, stats.chunks_written), (20, 200, 200), "run {run}");
        assert_eq!(stats.texts_embedded, if run == 0 { 200 } else { 0 }, "run {run}");
    }
    assert_eq!(encoder.texts.load(Ordering::Relaxed), 200);

    let mut sentences: Vec<String> = (0..10).map(|i| documents[3].sentence(i).to_owned()).collect();
    sentences[9] = "A sentence that was not there.".into();
    let changed = Document::from_sentences("d3", &sentences);
    let mut writer = IndexWriter::create_or_open(dir.path(), &spec).unwrap();
    writer.add(&changed, &sentence_chunks(&changed)).unwrap();
    assert!(writer.remove("d4").unwrap());
    assert!(!writer.remove("never seen").unwrap());
    writer.add(&Document::from_sentences("d5", &[""]), &[]).unwrap();
    let stats = writer.finish().unwrap();
    assert_eq!((stats.documents, stats.chunks, stats.texts_embedded), (18, 180, 1));
    let reader = IndexReader::open_expecting(dir.path(), &spec).unwrap();
    assert_eq!(reader.search(&Query::new("not there", Mode::Hybrid, 1)).unwrap()[0].chunk.text, sentences[9]);
    let all = reader.search(&Query::new("w1", Mode::Dense, 1000)).unwrap();
    let distinct: BTreeSet<_> = all.iter().map(|h| (h.chunk.document.clone(), h.chunk.start)).collect();
    assert_eq!((all.len(), distinct.len()), (180, 180));
    assert!(
        !all.iter()
            .any(|h| h.chunk.document == "d4" || h.chunk.document == "d5" || h.chunk.text == documents[3].sentence(9))
    );
}

#[test]
fn equal_texts_are_embedded_once() {
    let encoder = BagOfWords::new();
    let spec = IndexSpec::new("sentence", "words").with_encoder(encoder.clone());
    let same = |id: &str| Document::from_sentences(id, &["See also.", "See also.", id]);
    let (_dir, reader) = index_of(&spec, &[same("a"), same("b")]);
    assert_eq!(reader.chunks().unwrap(), 6);
    assert_eq!(encoder.texts.load(Ordering::Relaxed), 3);
    let found = reader.search(&Query::new("see also", Mode::Dense, 6)).unwrap();
    let order: Vec<_> = found.iter().map(|h| (h.chunk.document.as_str(), h.chunk.ordinal)).collect();
    assert_eq!(order[..4], [("a", 0), ("a", 1), ("b", 0), ("b", 1)]);
}

#[test]
fn the_encoder_reads_what_a_person_reads_and_headings_where_asked() {
    let mut document = Document::from_sentences("d", &["<b>fish</b>"]);
    document.rewrites =
        vec![Rewrite { span: Span::new(0, 3), with: "".into() }, Rewrite { span: Span::new(7, 11), with: "".into() }];
    document.sections = vec![vec!["Sea".into()]];
    let cosine = |spec: &IndexSpec, text: &str| {
        let (_dir, reader) = index_of(spec, std::slice::from_ref(&document));
        reader.search(&Query::new(text, Mode::Dense, 1)).unwrap()[0].score
    };
    assert!((cosine(&dense_spec(), "fish") - 1.0).abs() < 1e-6);
    assert!((cosine(&dense_spec().with_heading_prefix(true), "sea fish") - 1.0).abs() < 1e-6);
}

#[test]
fn what_is_not_committed_never_was() {
    let (dir, reader) = index_of(&dense_spec(), &[made_up("a", 1, 10)]);
    let mut writer = IndexWriter::create_or_open(dir.path(), &dense_spec()).unwrap();
    let next = made_up("b", 2, 10);
    writer.add(&next, &sentence_chunks(&next)).unwrap();
    writer.remove("a").unwrap();
    reader.reload().unwrap();
    assert_eq!(reader.search(&Query::new("w1", Mode::Dense, 100)).unwrap().len(), 10);
    drop(writer);
    reader.reload().unwrap();
    assert_eq!(reader.documents().unwrap(), 1);
    let writer = IndexWriter::create_or_open(dir.path(), &dense_spec()).unwrap();
    assert_eq!(writer.finish().unwrap().chunks, 10);
    assert_eq!(reader.search(&Query::new("w1", Mode::Dense, 100)).unwrap().len(), 10);
}

#[test]
fn readers_in_the_process_follow_the_writer() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = IndexWriter::create_or_open(dir.path(), &dense_spec()).unwrap();
    let reader = writer.reader();
    let other = IndexReader::open_expecting(dir.path(), &dense_spec()).unwrap();
    let query = Query::new("w1 w2", Mode::Hybrid, 5);
    assert!(reader.search(&query).unwrap().is_empty());
    let document = made_up("a", 1, 10);
    writer.add(&document, &sentence_chunks(&document)).unwrap();
    writer.commit().unwrap();
    other.reload().unwrap();
    let found = reader.search(&query).unwrap();
    assert_eq!(found.len(), 5);
    assert_eq!(other.search(&query).unwrap(), found);
}

#[test]
fn chunks_that_do_not_fit_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = IndexWriter::create_or_open(dir.path(), &dense_spec()).unwrap();
    let document = Document::from_sentences("d", &["é one.", "Two."]);
    let chunk = |document: &str, start, end| Chunk {
        document: document.into(),
        ordinal: 0,
        span: Span { start, end },
        heading_path: vec![],
        tokens: 1,
        hash: 0,
        context: None,
    };
    for bad in [chunk("d", 1, 4), chunk("d", 0, 99), chunk("d", 3, 3), chunk("e", 0, 2)] {
        let error = writer.add(&document, &[chunk("d", 0, 2), bad]).unwrap_err();
        assert!(matches!(&error, IndexError::Store(StoreError::BadChunk { ordinal: 1, .. })), "{error}");
    }
    // The writer is none the worse for it; a chunk given twice is kept once.
    writer.add(&document, &[chunk("d", 0, 2), chunk("d", 0, 2), chunk("d", 3, 7)]).unwrap();
    assert_eq!(writer.finish().unwrap().chunks, 2);
}

#[test]
fn a_failing_encoder_stops_the_writer_and_spoils_nothing() {
    let (dir, reader) = index_of(&dense_spec(), &[made_up("a", 1, 10)]);
    let faulty = Arc::new(BagOfWords { fingerprint: "v1", texts: AtomicUsize::new(0), poison: Some("cyanide") });
    let spec = IndexSpec::new("sentence", "words").with_encoder(faulty);
    let mut writer = IndexWriter::create_or_open(dir.path(), &spec).unwrap();
    let document = Document::from_sentences("a", &["Some cyanide."]);
    writer.add(&document, &sentence_chunks(&document)).unwrap();
    assert!(matches!(writer.commit(), Err(IndexError::Store(StoreError::Encoder(_)))));
    assert!(matches!(writer.commit(), Err(IndexError::Store(StoreError::Poisoned))));
    assert!(matches!(writer.add(&document, &[]), Err(IndexError::Store(StoreError::Poisoned))));
    drop(writer);
    reader.reload().unwrap();
    assert_eq!(reader.search(&Query::new("w1", Mode::Dense, 100)).unwrap().len(), 10);
}

#[test]
fn chunks_that_the_encoder_does_not_read_to_the_end_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = IndexWriter::create_or_open(dir.path(), &dense_spec()).unwrap();
    let reach = BagOfWords::new().max_tokens();
    let long = "word ".repeat(reach + 1);
    let document = Document::from_sentences("d", &["Short enough.", long.trim()]);
    writer.add(&document, &sentence_chunks(&document)).unwrap();
    assert_eq!(writer.finish().unwrap().truncated, 1);
}
