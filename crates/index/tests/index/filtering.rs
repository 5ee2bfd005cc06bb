//! Filters, neighbours, groups.

use pericope_api::{Chunk, Document, Format};
use pericope_index::{Filter, Hit, IndexReader, IndexWriter, Mode, Query, Retriever};

use crate::dense_spec;
use pericope_testkit::documents::{made_up, sentence_chunks};

const MODES: [Mode; 3] = [Mode::Bm25, Mode::Dense, Mode::Hybrid];

/// Forty documents in two folders, of two types, under three headings; written in ten commits.
fn library() -> (tempfile::TempDir, IndexReader, Vec<Document>) {
    let mut documents = Vec::new();
    for i in 0..40u64 {
        let (folder, ending) = (["guide", "guidebook"][(i % 2) as usize], ["md", "txt"][(i / 2 % 2) as usize]);
        let mut document = made_up(&format!("{folder}/d{i:02}.{ending}"), i % 7, 15);
        document.format = if ending == "md" { Format::Markdown } else { Format::Plain };
        document.sections =
            vec![vec!["Pumps".into(), ["Starting a pump", "Errors", "Pump errors"][i as usize % 3].into()]];
        documents.push(document);
    }
    let dir = tempfile::tempdir().unwrap();
    let mut writer = IndexWriter::create_or_open(dir.path(), &dense_spec()).unwrap();
    for (i, document) in documents.iter().enumerate() {
        writer.add(document, &sentence_chunks(document)).unwrap();
        if i % 4 == 3 {
            writer.commit().unwrap();
        }
    }
    writer.finish().unwrap();
    let reader = IndexReader::open_expecting(dir.path(), &dense_spec()).unwrap();
    (dir, reader, documents)
}

/// What an unfiltered search finds and the filter lets through.
fn by_hand(reader: &IndexReader, query: &Query, passes: impl Fn(&Hit) -> bool) -> Vec<(String, usize)> {
    let all = reader.search(&Query { k: 10_000, filter: Filter::default(), ..query.clone() }).unwrap();
    all.into_iter().filter(passes).take(query.k).map(|h| (h.chunk.document, h.chunk.start)).collect()
}

#[test]
fn filters_leave_the_order_of_the_rest_as_it_is() {
    let (_dir, reader, _) = library();
    let path = |p: &str| Filter::default().path(p);
    let heading = |h: &str| Filter::default().heading(h);
    let kind = |t: &str| Filter::default().file_type(t);
    type Passes = fn(&Hit) -> bool;
    let cases: [(Filter, Passes); 11] = [
        (path("guide/"), |h| h.chunk.document.starts_with("guide/")),
        (path("./guide"), |_| true),
        (path("guidebook/d07.txt"), |h| h.chunk.document == "guidebook/d07.txt"),
        (heading("errors"), |h| h.chunk.heading_path[1].to_lowercase().contains("errors")),
        (heading("Pump Error"), |h| h.chunk.heading_path[1] == "Pump errors"),
        (path("guide/d00").path("guidebook/d07.txt"), |h| {
            h.chunk.document.starts_with("guide/d00") || h.chunk.document == "guidebook/d07.txt"
        }),
        (heading("starting").heading("pump errors").heading("–"), |h| h.chunk.heading_path[1] != "Errors"),
        (kind("markdown").file_type("pdf"), |h| h.chunk.document.ends_with(".md")),
        (kind("markdown"), |h| h.chunk.document.ends_with(".md")),
        (kind(".txt"), |h| h.chunk.document.ends_with(".txt")),
        (Filter::default().path("guide/").heading("starting").file_type("md"), |h| {
            h.chunk.document.starts_with("guide/")
                && h.chunk.file_type == "md"
                && h.chunk.heading_path[1].starts_with("Starting")
        }),
    ];
    for (filter, passes) in cases {
        // Fused ranks depend on what else is in the lists, so hybrid is only checked for what it lets through.
        for mode in MODES {
            for k in [3, 40, 700] {
                let query = Query::new("w1 w3 w7", mode, k).text_only().with_filter(filter.clone());
                let found = reader.search(&query).unwrap();
                assert!(found.iter().all(passes), "{query:?}");
                let places: Vec<(String, usize)> =
                    found.into_iter().map(|h| (h.chunk.document, h.chunk.start)).collect();
                let expected = by_hand(&reader, &query, passes);
                match mode {
                    Mode::Hybrid => assert_eq!(places.is_empty(), expected.is_empty(), "{query:?}"),
                    _ => assert_eq!(places, expected, "{query:?}"),
                }
            }
        }
    }
}

#[test]
fn what_nothing_passes_finds_nothing() {
    let (_dir, reader, _) = library();
    for mode in MODES {
        for filter in [
            Filter::default().path("elsewhere/"),
            Filter::default().heading("zebra"),
            Filter::default().file_type("pdf"),
        ] {
            assert!(reader.search(&Query::new("w1", mode, 5).with_filter(filter)).unwrap().is_empty());
        }
        // No word in it, no condition.
        let blank = Filter::default().heading(" – ");
        assert_eq!(reader.search(&Query::new("w1", mode, 5).with_filter(blank)).unwrap().len(), 5);
    }
}

#[test]
fn neighbours_are_joined_as_in_the_source() {
    let source = "One is first.  Two is second.\n\n\tThree is third. Four é.\nFive.";
    let mut document = Document::from_sentences("d.md", &["x"]);
    document.source = source.into();
    let ends = ["first.", "second.", "third.", "é.", "Five."];
    let mut chunks = Vec::new();
    let mut at = 0;
    for (ordinal, end) in ends.iter().enumerate() {
        let until = at + source[at..].find(end).unwrap() + end.len();
        let start = at + source[at..].len() - source[at..].trim_start().len();
        let span = pericope_api::Span::new(start, until);
        chunks.push(Chunk {
            document: "d.md".into(),
            ordinal,
            span,
            heading_path: vec![],
            tokens: 3,
            hash: 0,
            context: None,
        });
        at = until;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut writer = IndexWriter::create_or_open(dir.path(), &dense_spec()).unwrap();
    writer.add(&document, &chunks).unwrap();
    writer.add(&made_up("other", 1, 30), &sentence_chunks(&made_up("other", 1, 30))).unwrap();
    let reader = writer.reader();
    writer.finish().unwrap();
    reader.reload().unwrap();
    let mut hits = reader.search(&Query::new("\"three is third\"", Mode::Bm25, 1)).unwrap();
    let hit = &hits[0];
    assert_eq!(hit.chunk.ordinal, 2);
    for (n, start, end) in [(0, 32, 47), (1, 15, 56), (2, 0, source.len()), (usize::MAX, 0, source.len())] {
        reader.add_context(&mut hits, n).unwrap();
        let passage = hits[0].context.as_ref().unwrap();
        assert_eq!(passage.text, source[passage.start..passage.end], "{n}");
        assert_eq!((passage.start, passage.end), (start, end), "{n}");
    }
}

#[test]
fn groups_are_documents_by_their_best_hits() {
    let (_dir, reader, _) = library();
    for mode in MODES {
        let query = Query::new("w1 w3 w7", mode, 9);
        let groups = reader.search_grouped(&query, 2).unwrap();
        assert_eq!(groups.len(), 9);
        let hits = reader.search(&Query { k: 600, ..query.clone() }).unwrap();
        let mut documents: Vec<&str> = Vec::new();
        for hit in &hits {
            if !documents.contains(&hit.chunk.document.as_str()) {
                documents.push(&hit.chunk.document);
            }
        }
        if mode != Mode::Hybrid {
            assert_eq!(groups.iter().map(|g| g.document.as_str()).collect::<Vec<_>>(), documents[..9]);
        }
        for group in &groups {
            assert!((1..=2).contains(&group.hits.len()));
            assert!(group.hits.iter().all(|h| h.chunk.document == group.document));
            assert_eq!(group.score, group.hits[0].score);
        }
        assert!(groups.windows(2).all(|pair| pair[0].score >= pair[1].score));
    }
    // Fewer documents than asked for.
    let one = Filter::default().path("guide/d00");
    let query = Query::new("w1", Mode::Dense, 5).with_filter(one);
    assert_eq!(reader.search_grouped(&query, 3).unwrap().len(), 1);
}
