//! The three modes, their ties and their edges.

use std::sync::Arc;

use pericope_api::Document;
use pericope_index::{IndexReader, IndexSpec, IndexWriter, Mode, Query, Retriever, rrf};
use proptest::prelude::*;

use crate::{dense_spec, index_of};
use pericope_testkit::documents::{made_up, sentence_chunks};
use pericope_testkit::encoders::{Backwards, BagOfWords};

#[test]
fn an_empty_index_and_a_query_without_a_match_find_nothing() {
    let (_dir, reader) = index_of(&dense_spec(), &[]);
    for mode in Mode::ALL {
        assert!(reader.search(&Query::new("anything", mode, 5)).unwrap().is_empty());
    }
    let (_dir, reader) = index_of(&dense_spec(), &[made_up("a", 1, 10)]);
    assert!(reader.search(&Query::new("zebra", Mode::Bm25, 5)).unwrap().is_empty());
    assert!(reader.search(&Query::new("", Mode::Bm25, 5)).unwrap().is_empty());
    assert!(reader.search(&Query::new("w1", Mode::Hybrid, 0)).unwrap().is_empty());
    assert_eq!(reader.search(&Query::new("zebra", Mode::Hybrid, 5)).unwrap().len(), 5);
}

#[test]
fn phrases_are_found_word_for_word() {
    let documents = [Document::from_sentences("a", &["The end of the line.", "The line of the end.", "Line, end."])];
    let (_dir, reader) = index_of(&IndexSpec::new("s", "w"), &documents);
    let found = |query: &str| {
        let hits = reader.search(&Query::new(query, Mode::Bm25, 9)).unwrap();
        hits.into_iter().map(|h| h.chunk.ordinal).collect::<Vec<_>>()
    };
    assert_eq!(found("\"end of the line\""), [0]);
    assert_eq!(found("\"end of the line"), [2, 0, 1]);
    assert_eq!(found("lines \"of the end\"")[0], 1);
}

#[test]
fn a_query_is_not_read_in_the_language_of_a_document_that_was_removed() {
    let dir = tempfile::tempdir().unwrap();
    let spec = IndexSpec::new("s", "w");
    let english = "The press needs a new die before the next shift begins in the morning.";
    let mut writer = IndexWriter::create_or_open(dir.path(), &spec).unwrap();
    for i in 0..201 {
        let (id, text) = match i {
            100 => ("g".to_owned(), "Die Katze schläft auf dem Sofa, und der Hund liegt vor der Tür."),
            _ => (format!("e{i}"), english),
        };
        let document = Document::from_sentences(&id, &[text]);
        writer.add(&document, &sentence_chunks(&document)).unwrap();
    }
    writer.commit().unwrap();
    let found = |reader: &IndexReader| reader.search(&Query::new("die casting", Mode::Bm25, 300)).unwrap().len();
    // Of this query German takes the first word for one that holds sentences together.
    assert_eq!(found(&writer.reader()), 0);
    // So few deletions are merged away later.
    writer.remove("g").unwrap();
    writer.finish().unwrap();
    assert_eq!(found(&IndexReader::open(dir.path()).unwrap()), 200);
}

#[test]
fn queries_are_embedded_as_queries_and_chunks_as_passages() {
    let documents = [Document::from_sentences("a", &["Pumps lift water.", "Doors open inwards."])];
    let spec = IndexSpec::new("s", "w").with_encoder(Arc::new(Backwards(BagOfWords::new())));
    let (_dir, reader) = index_of(&spec, &documents);
    for (query, ordinal) in [("spmup", 0), ("srood", 1)] {
        let hits = reader.search(&Query::new(query, Mode::Dense, 2)).unwrap();
        assert_eq!(hits[0].chunk.ordinal, ordinal);
        assert!(hits[0].score > 0.5 && hits[1].score < 0.1, "{hits:?}");
    }
}

#[test]
fn dense_scores_are_cosines_and_exact() {
    let documents: Vec<Document> = (0..30).map(|i| made_up(&format!("d{i:02}"), i, 40)).collect();
    let (_dir, reader) = index_of(&dense_spec(), &documents);
    let query = "w3 w7 w20 w20";
    let mut expected: Vec<(f64, String, usize)> = Vec::new();
    for document in &documents {
        for chunk in sentence_chunks(document) {
            let vector = BagOfWords::vector(document.text(chunk.span));
            let cosine: f32 = vector.iter().zip(BagOfWords::vector(query)).map(|(a, b)| a * b).sum();
            expected.push((f64::from(cosine), document.id.clone(), chunk.span.start));
        }
    }
    expected.sort_by(|a, b| b.0.total_cmp(&a.0));
    for k in [1, 10, 1200, 5000] {
        let hits = reader.search(&Query::new(query, Mode::Dense, k)).unwrap();
        assert_eq!(hits.len(), k.min(1200));
        for (hit, (cosine, ..)) in hits.iter().zip(&expected) {
            assert!((hit.score - cosine).abs() < 1e-5);
        }
        for pair in hits.windows(2) {
            let key = |i: usize| (-pair[i].score, &pair[i].chunk.document, pair[i].chunk.start);
            assert!(key(0) < key(1), "{:?} before {:?}", key(0), key(1));
        }
    }
}

#[test]
fn hybrid_is_the_fusion_of_the_two_lists() {
    let documents: Vec<Document> = (0..20).map(|i| made_up(&format!("d{i:02}"), i, 40)).collect();
    let (_dir, reader) = index_of(&dense_spec(), &documents);
    for (text, k) in [("w3 w7 w20", 5), ("w1", 20), ("zebra w499", 3)] {
        let list = |mode| {
            let hits = reader.search(&Query::new(text, mode, (10 * k).max(100))).unwrap();
            hits.into_iter().map(|h| (h.chunk.document, h.chunk.start)).collect::<Vec<_>>()
        };
        let (words, vectors) = (list(Mode::Bm25), list(Mode::Dense));
        // By hand: one over 60 plus the rank, added over the lists.
        let score = |item: &(String, usize)| {
            let part =
                |list: &[(String, usize)]| list.iter().position(|i| i == item).map_or(0.0, |r| 1.0 / (61 + r) as f64);
            part(&words) + part(&vectors)
        };
        let mut expected: Vec<_> = words.iter().chain(&vectors).cloned().collect();
        expected.sort_by(|a, b| score(b).total_cmp(&score(a)).then_with(|| a.cmp(b)));
        expected.dedup();
        let hits = reader.search(&Query::new(text, Mode::Hybrid, k)).unwrap();
        assert_eq!(hits.len(), k);
        for (hit, item) in hits.iter().zip(&expected) {
            assert_eq!(&(hit.chunk.document.clone(), hit.chunk.start), item, "{text}");
            assert!((hit.score - score(item)).abs() < 1e-12);
        }
        assert_eq!(rrf::fuse(&[words, vectors], rrf::K)[0].0, expected[0]);
    }
}

#[test]
fn the_answer_does_not_depend_on_how_the_index_came_to_be() {
    let documents: Vec<Document> = (0..40).map(|i| made_up(&format!("d{i:02}"), i % 9, 25)).collect();
    let (_dir, at_once) = index_of(&dense_spec(), &documents);
    let dir = tempfile::tempdir().unwrap();
    let mut writer = IndexWriter::create_or_open(dir.path(), &dense_spec()).unwrap();
    for document in documents.iter().rev() {
        writer.add(document, &sentence_chunks(document)).unwrap();
        writer.commit().unwrap();
    }
    let in_pieces = writer.reader();
    for text in ["w0 w1 w2", "w5", "w9 w30 w2 w1 w17", "\"w0 w0\" w4"] {
        for mode in Mode::ALL {
            for k in [1, 7, 60] {
                let query = Query::new(text, mode, k);
                assert_eq!(at_once.search(&query).unwrap(), in_pieces.search(&query).unwrap(), "{query:?}");
            }
        }
    }
}

#[test]
fn ten_thousand_chunks() {
    let documents: Vec<Document> = (0..100).map(|i| made_up(&format!("d{i:03}"), i, 100)).collect();
    let (_dir, reader) = index_of(&dense_spec(), &documents);
    assert_eq!((reader.documents().unwrap(), reader.chunks().unwrap()), (100, 10_000));
    for (document, sentence) in [(0, 0), (57, 31), (99, 99)] {
        let text = documents[document].sentence(sentence);
        let hit = &reader.search(&Query::new(text, Mode::Dense, 1)).unwrap()[0];
        assert!((hit.score - 1.0).abs() < 1e-5, "{hit:?}");
        let found = reader.search(&Query::new(format!("\"{text}\""), Mode::Bm25, 10)).unwrap();
        assert!(found.iter().any(|h| h.chunk.document == documents[document].id && h.chunk.ordinal == sentence));
    }
}

#[test]
fn no_query_is_an_error() {
    let (_dir, reader) =
        index_of(&dense_spec(), &[made_up("a", 1, 50), Document::from_sentences("b", &["Ünïcode 文字 text."])]);
    let odd = [
        "what's AND OR NOT +(w1: -w2*)~3^",
        "title:[a TO b]",
        "\"\"",
        "\"w1",
        "w1\\",
        "文字",
        "ﬁ ſ ß İ",
        "\u{0} \u{feff}",
        "👩‍👩‍👧‍👦",
    ];
    for text in odd {
        for mode in Mode::ALL {
            reader.search(&Query::new(text, mode, 5)).unwrap();
        }
    }
    assert_eq!(reader.search(&Query::new("文字", Mode::Bm25, 5)).unwrap()[0].chunk.document, "b");
    assert_eq!(reader.search(&Query::new("ÜNÏCODE?", Mode::Bm25, 5)).unwrap()[0].chunk.document, "b");
    proptest!(ProptestConfig::with_cases(64), |(text in "\\PC{0,30}")| {
        reader.search(&Query::new(text, Mode::Hybrid, 5)).unwrap();
    });
}

/// A context is found by its words, counts in the length of the text, and is no part of it.
#[test]
fn contexts_are_found_and_are_no_text() {
    let document = Document::from_sentences("pumps.md", &["It leaks.", "It hums."]);
    for spec in [IndexSpec::new("s", "w"), dense_spec()] {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = IndexWriter::create_or_open(dir.path(), &spec).unwrap();
        let mut chunks = sentence_chunks(&document);
        writer.add(&document, &chunks).unwrap();
        chunks[1].context = Some("The garden pump of Kestrel.".into());
        writer.add(&document, &chunks).unwrap();
        writer.finish().unwrap();
        let reader = IndexReader::open_expecting(dir.path(), &spec).unwrap();
        let found = |query: &str| reader.search(&Query::new(query, Mode::Bm25, 9).text_only()).unwrap();
        for query in ["kestrel", "\"garden pump\""] {
            let hits = found(query);
            assert_eq!(hits.len(), 1, "{query}");
            assert_eq!((hits[0].chunk.text.as_str(), hits[0].chunk.ordinal), ("It hums.", 1));
            assert_eq!(hits[0].chunk.context.as_deref(), Some("The garden pump of Kestrel."));
            assert_eq!(document.text(hits[0].chunk.span()), hits[0].chunk.text);
        }
        assert_eq!(found("leaks")[0].chunk.context, None);
        // No phrase runs from the text into the context.
        assert!(found("\"hums the garden\"").is_empty());
        if spec.encoder.is_some() {
            let dense = reader.search(&Query::new("garden pump kestrel", Mode::Dense, 1)).unwrap();
            assert_eq!(dense[0].chunk.ordinal, 1, "it is embedded too");
        }
    }
}

#[test]
fn contexts_of_another_writer_are_another_index() {
    let dir = tempfile::tempdir().unwrap();
    let spec = |writer: Option<&str>| IndexSpec::new("s", "w").with_context(writer.map(str::to_owned));
    drop(IndexWriter::create_or_open(dir.path(), &spec(Some("openai:model=m"))).unwrap());
    assert!(IndexWriter::create_or_open(dir.path(), &spec(Some("openai:model=m"))).is_ok());
    let error = IndexWriter::create_or_open(dir.path(), &spec(None)).map(drop).unwrap_err().to_string();
    assert!(error.contains("context") && error.contains("openai:model=m"), "{error}");
}
