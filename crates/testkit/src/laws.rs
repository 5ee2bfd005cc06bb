//! The laws of stores.

mod finding;
mod rebuilds;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use pericope_api::{Document, Span};
use pericope_store::{
    ChunkId, Destination, DocumentHeader, Encoded, ErrorKind, Expand, Expansion, Filter, Mode, Provenance, Query,
    Ranked, Retriever, RunSummary, SourceRecord, StoreError, document_hash, encode_checked, prepare,
};

use crate::documents::{made_up, sentence_chunks};
use crate::encoders::BagOfWords;

/// A store to be tested. It is empty at first.
pub trait TestStore {
    /// Opens it for writing, with vectors by a [`BagOfWords`] of fingerprint `v1` if `vectors` is set.
    fn write(&self, vectors: bool) -> Box<dyn Destination>;

    /// Begins to build it anew, likewise, or goes on with that.
    fn rebuild(&self, vectors: bool) -> Box<dyn Destination>;

    /// Opens it for searching, without an encoder.
    fn read(&self) -> Box<dyn Retriever>;
}

const MODES: [Mode; 3] = [Mode::Bm25, Mode::Dense, Mode::Hybrid];

/// Checks the laws of [`Destination`] and [`Retriever`] on an empty store with vectors, and on an empty one without.
///
/// # Panics
/// Where one is broken.
pub fn store_laws(with_vectors: &dyn TestStore, without: &dyn TestStore) {
    what_was_put_and_committed_is_found(with_vectors);
    contexts_are_found_and_are_no_text(with_vectors, true);
    contexts_are_found_and_are_no_text(without, false);
    finding::headings_within_a_chunk_let_it_pass(with_vectors);
    a_document_replaces_itself_and_goes_wholly(with_vectors);
    text_that_is_in_no_chunk_leaves_the_places_of_the_rest(with_vectors);
    sources_are_known_by_their_documents(with_vectors);
    another_encoder_is_refused(with_vectors);
    ranking_agrees_with_everything_made_of_it(with_vectors);
    finding::a_vector_of_zeros_is_near_nothing(with_vectors);
    documents_are_listed_with_their_chunks(with_vectors);
    rebuilds::a_rebuild_takes_its_place_when_it_is_whole(with_vectors);
    rebuilds::documents_of_no_source_are_known_by_their_ids(with_vectors);
    a_store_without_vectors_says_so(without);
}

/// Puts a document as a pipeline does, as the whole of the source of its name.
fn put(destination: &mut dyn Destination, document: &Document) {
    let embedding = destination.about().embedding.clone();
    let prepared =
        prepare(document, &sentence_chunks(document), embedding.as_ref(), destination.about().language).unwrap();
    let vectors = match &embedding {
        None => pericope_api::Embeddings::default(),
        Some(embedding) => {
            let texts: Vec<&Encoded> = prepared.iter().map(|one| &one.encoded).collect();
            encode_checked(embedding.encoder.as_ref(), &texts).unwrap()
        }
    };
    let (hash, fingerprint) = (document_hash(document), destination.about().fingerprint.clone());
    let provenance = Provenance {
        document_hash: hash,
        source: document.id.clone(),
        source_hash: Some(hash),
        fingerprint: fingerprint.clone(),
        documents: Some(1),
        empty: 0,
    };
    let header = DocumentHeader { provenance: Some(provenance), ..DocumentHeader::new(document) };
    destination.put(&header, prepared.into_iter().map(|one| one.entry).collect(), vectors).unwrap();
    destination
        .record(&document.id, Some(SourceRecord { hash: Some(hash), stamp: None, fingerprint, empty: 0 }))
        .unwrap();
}

fn reader(store: &dyn TestStore) -> Box<dyn Retriever> {
    let mut reader = store.read();
    reader.set_encoder(BagOfWords::new()).unwrap();
    reader
}

/// The texts of all chunks, by document and place.
fn contents(reader: &dyn Retriever) -> BTreeMap<(String, usize), String> {
    let all = reader.search(&Query::new("w1", Mode::Dense, 10_000)).unwrap();
    let texts: BTreeMap<_, _> =
        all.iter().map(|hit| ((hit.chunk.document.clone(), hit.chunk.ordinal), hit.chunk.text.clone())).collect();
    assert_eq!(texts.len(), all.len(), "no chunk is there twice");
    assert_eq!(reader.chunks().unwrap(), all.len() as u64, "every chunk has a vector");
    texts
}

fn expected(documents: &[&Document]) -> BTreeMap<(String, usize), String> {
    let sentences = documents
        .iter()
        .flat_map(|document| (0..document.len()).map(|i| ((document.id.clone(), i), document.sentence(i).to_owned())));
    sentences.collect()
}

fn what_was_put_and_committed_is_found(store: &dyn TestStore) {
    let mut document =
        Document::from_sentences("guide/é.md", &["The Größe of a file.", "Zebras graze.", "Plain words at the end."]);
    document.title = Some("Guide".into());
    document.sections = vec![vec![], vec!["Files".into(), "Sizes".into()]];
    for sentence in &mut document.sentences[1..] {
        sentence.section = 1;
    }
    let mut writer = store.write(true);
    put(writer.as_mut(), &document);
    writer.commit().unwrap();
    let finished = writer.finish(&RunSummary::default()).unwrap();
    let stats = &finished.stats;
    assert_eq!((stats.documents, stats.chunks, stats.documents_written, stats.chunks_written), (1, 3, 1, 3));
    assert_eq!(stats.bytes, document.source.len() as u64);
    let reader = reader(store);
    for mode in MODES {
        let hits = reader.search(&Query::new("plain words", mode, 3)).unwrap();
        let (hit, chunk) = (&hits[0], &hits[0].chunk);
        assert_eq!((hit.rank, chunk.document.as_str(), chunk.ordinal, chunk.tokens), (1, "guide/é.md", 2, 5), "{mode}");
        assert_eq!((chunk.title.as_deref(), chunk.heading_path.join("/")), (Some("Guide"), "Files/Sizes".to_owned()));
        assert_eq!((chunk.file_type.as_str(), chunk.leading.as_str()), ("md", "\n"), "{mode}");
        for hit in &hits {
            assert_eq!(hit.chunk.text, hit.chunk.span().of(&document.source), "{mode}");
        }
        let marked: Vec<&str> = hit.highlights.iter().map(|found| found.of(&chunk.text)).collect();
        assert_eq!(marked, ["Plain", "words"], "{mode}");
        assert_eq!(hit.snippet, Span::new(0, chunk.text.len()), "{mode}");
    }
    // An empty document and no chunk: it goes.
    let mut writer = store.write(true);
    put(writer.as_mut(), &Document::from_sentences("guide/é.md", &[""; 0]));
    assert_eq!(writer.finish(&RunSummary::default()).unwrap().stats.chunks, 0);
    assert!(store.read().search(&Query::new("plain", Mode::Bm25, 3)).unwrap().is_empty());
}

fn contexts_are_found_and_are_no_text(store: &dyn TestStore, vectors: bool) {
    let document = Document::from_sentences("pumps.md", &["It leaks.", "It hums."]);
    let mut chunks = sentence_chunks(&document);
    chunks[1].context = Some("Garden pumps by Kestrel".into());
    let mut writer = store.write(vectors);
    writer.add(&document, &chunks).unwrap();
    writer.finish(&RunSummary::default()).unwrap();
    let reader = if vectors { reader(store) } else { store.read() };
    let modes = if vectors { &MODES[..] } else { &MODES[..1] };
    for &mode in modes {
        let hit = &reader.search(&Query::new("kestrel garden", mode, 1)).unwrap()[0];
        assert_eq!((hit.chunk.text.as_str(), hit.chunk.ordinal), ("It hums.", 1), "{mode}");
        assert_eq!(hit.chunk.context.as_deref(), Some("Garden pumps by Kestrel"), "{mode}");
        assert_eq!(hit.chunk.text, hit.chunk.span().of(&document.source), "{mode}");
        assert!(hit.highlights.iter().all(|found| found.end <= hit.chunk.text.len()), "{mode}");
    }
    assert_eq!(reader.search(&Query::new("kestrel", Mode::Bm25, 9)).unwrap().len(), 1);
    assert_eq!(reader.search(&Query::new("leaks", Mode::Bm25, 1)).unwrap()[0].chunk.context, None);
    drop(reader);
    // Without it, nobody finds the chunk by it.
    let mut writer = store.write(vectors);
    writer.add(&document, &sentence_chunks(&document)).unwrap();
    writer.commit().unwrap();
    assert!(store.read().search(&Query::new("kestrel", Mode::Bm25, 9)).unwrap().is_empty());
    writer.remove(&document.id).unwrap();
    writer.finish(&RunSummary::default()).unwrap();
}

fn a_document_replaces_itself_and_goes_wholly(store: &dyn TestStore) {
    let (first, second, other) = (made_up("a", 1, 12), made_up("a", 2, 7), made_up("b", 3, 9));
    let mut writer = store.write(true);
    put(writer.as_mut(), &first);
    put(writer.as_mut(), &other);
    writer.commit().unwrap();
    assert_eq!(contents(reader(store).as_ref()), expected(&[&first, &other]));
    // Twice before a commit: the last one counts.
    put(writer.as_mut(), &second);
    put(writer.as_mut(), &first);
    put(writer.as_mut(), &second);
    writer.commit().unwrap();
    drop(writer);
    assert_eq!(contents(reader(store).as_ref()), expected(&[&second, &other]));
    let mut writer = store.write(true);
    assert!(writer.remove("b").unwrap());
    assert!(!writer.remove("never seen").unwrap());
    let finished = writer.finish(&RunSummary::default()).unwrap();
    assert_eq!((finished.stats.documents, finished.stats.chunks, finished.stats.documents_removed), (1, 7, 1));
    assert_eq!(contents(reader(store).as_ref()), expected(&[&second]));
    // What does not fit its document changes nothing.
    let mut writer = store.write(true);
    let mut chunks = sentence_chunks(&other);
    chunks[1].document = "elsewhere".into();
    assert!(matches!(writer.add(&other, &chunks), Err(StoreError::BadChunk { ordinal: 1, .. })));
    writer.add(&other, &sentence_chunks(&other)).unwrap();
    writer.commit().unwrap();
    assert_eq!(contents(reader(store).as_ref()), expected(&[&second, &other]));
    writer.remove("a").unwrap();
    writer.remove("b").unwrap();
    writer.finish(&RunSummary::default()).unwrap();
}

fn text_that_is_in_no_chunk_leaves_the_places_of_the_rest(store: &dyn TestStore) {
    let document = made_up("gaps.md", 3, 6);
    let mut chunks = sentence_chunks(&document);
    chunks.drain(2..4);
    let mut writer = store.write(true);
    writer.add(&document, &chunks).unwrap();
    writer.commit().unwrap();
    drop(writer);
    let reader = reader(store);
    let whole = (chunks[0].span.start, chunks[3].span.end);
    let is_whole = |text: &str, places: &dyn Fn(Span) -> Span| {
        for chunk in &chunks {
            let words = chunk.span.of(&document.source);
            let at = text.find(words).unwrap();
            assert_eq!(places(Span::new(at, at + words.len())), chunk.span, "{words}");
        }
        assert!(!text.contains(document.sentence(2).trim()), "{text}");
    };
    let mut hits = reader.search(&Query::new("w1", Mode::Dense, 4)).unwrap();
    reader.add_context(&mut hits, 5).unwrap();
    for hit in &mut hits {
        let context = hit.context.clone().unwrap();
        assert_eq!((context.start, context.end), whole);
        is_whole(&context.text, &|text| context.in_source(text));
        let there = context.in_text(hit.chunk.span());
        assert_eq!(there.of(&context.text), hit.chunk.text);
        hit.count_in_chars();
        let characters = |at: usize| document.source[..at].chars().count();
        let context = hit.context.as_ref().unwrap();
        assert_eq!((context.start, context.end), (characters(whole.0), characters(whole.1)));
    }
    let expansion = Expansion { expand: Expand::Neighbours(5), tokens: 1000 };
    let hit = reader.search_expanded(&Query::new("w1", Mode::Dense, 1), expansion).unwrap().remove(0);
    let line = |at: usize| document.source[..at].matches('\n').count() + 1;
    assert_eq!(hit.chunk.span(), Span::new(whole.0, whole.1));
    assert_eq!(hit.chunk.lines(), Some([line(whole.0), line(whole.1)]));
    let mut writer = store.write(true);
    writer.remove("gaps.md").unwrap();
    writer.finish(&RunSummary::default()).unwrap();
}

fn sources_are_known_by_their_documents(store: &dyn TestStore) {
    let document = made_up("known.md", 4, 5);
    let mut writer = store.write(true);
    put(writer.as_mut(), &document);
    writer.commit().unwrap();
    drop(writer);
    let mut writer = store.write(true);
    let known = writer.known().unwrap();
    let source = &known.sources["known.md"];
    assert_eq!(source.hash, Some(document_hash(&document)));
    assert_eq!(source.fingerprint, writer.about().fingerprint);
    assert_eq!(source.documents.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ["known.md"]);
    writer.remove("known.md").unwrap();
    writer.record("known.md", None).unwrap();
    writer.commit().unwrap();
    assert!(!writer.known().unwrap().sources.contains_key("known.md"));
    writer.finish(&RunSummary::default()).unwrap();
}

fn another_encoder_is_refused(store: &dyn TestStore) {
    let mut reader = store.read();
    assert_eq!(reader.about().embedder(), Some("bag-of-words"));
    let error = reader.rank(&Query::new("w1", Mode::Dense, 3)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoEncoder, "{error}");
    let other = BagOfWords { fingerprint: "v2", texts: 0.into(), poison: None };
    let error = reader.set_encoder(std::sync::Arc::new(other)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Mismatch);
    let message = error.to_string();
    assert!(message.contains("v1") && message.contains("v2") && !message.contains('\n'), "{message}");
}

fn ranking_agrees_with_everything_made_of_it(store: &dyn TestStore) {
    let documents: Vec<Document> = (0..12).map(|i| made_up(&format!("d{i:02}.md"), i, 10)).collect();
    let mut writer = store.write(true);
    for document in &documents {
        put(writer.as_mut(), document);
    }
    writer.finish(&RunSummary::default()).unwrap();
    let reader = reader(store);
    let vector = BagOfWords::vector("w1 w3 w7");
    for mode in MODES {
        let query = Query::new("w1 w3 w7", mode, 20);
        let ranked = reader.rank(&query).unwrap();
        assert_eq!(ranked.len(), 20, "{mode}");
        assert!(ranked.windows(2).all(|pair| pair[0].score >= pair[1].score), "{mode}");
        assert_eq!(ranked.iter().map(|one| one.id).collect::<HashSet<_>>().len(), 20, "{mode}");
        assert_eq!(reader.rank(&query.clone().with_vector(vector.clone())).unwrap(), ranked, "{mode}");
        assert!(reader.rank(&Query { k: 0, ..query.clone() }).unwrap().is_empty());
        assert_eq!(reader.rank(&query).unwrap(), ranked, "the same again");

        // Reading, finding, searching.
        let ids: Vec<ChunkId> = ranked.iter().map(|one| one.id).collect();
        let records = reader.fetch(&ids).unwrap();
        for (one, record) in ranked.iter().zip(&records) {
            let record = record.as_ref().unwrap();
            assert_eq!((&record.document, record.ordinal), (&one.document, one.ordinal));
            let document = documents.iter().find(|document| document.id == one.document).unwrap();
            assert_eq!(record.text, document.sentence(one.ordinal));
        }
        let found = reader.find(&query).unwrap();
        let both = ranked.iter().cloned().zip(records.into_iter().flatten());
        assert_eq!(found, both.collect::<Vec<_>>(), "{mode}");
        let mut hits = reader.search(&query).unwrap();
        assert_eq!(hits.iter().map(pericope_store::Hit::ranked).collect::<Vec<Ranked>>(), ranked, "{mode}");
        assert_eq!(hits.iter().map(|hit| hit.rank).collect::<Vec<_>>(), (1..=20).collect::<Vec<_>>());

        // Neighbours and context.
        for reach in [0, 1, 100] {
            for (one, window) in ranked.iter().zip(reader.neighbours(&ranked, reach).unwrap()) {
                let wanted: Vec<usize> = (one.ordinal.saturating_sub(reach)..=(one.ordinal + reach).min(9)).collect();
                assert_eq!(window.iter().map(|chunk| chunk.ordinal).collect::<Vec<_>>(), wanted, "{mode} {reach}");
                assert!(window.iter().all(|chunk| chunk.document == one.document));
            }
        }
        reader.add_context(&mut hits, 1).unwrap();
        for hit in &hits {
            let document = documents.iter().find(|document| document.id == hit.chunk.document).unwrap();
            let context = hit.context.as_ref().unwrap();
            assert_eq!(context.text, document.source[context.start..context.end]);
            assert!(context.text.contains(&hit.chunk.text));
        }

        expanded_hits_are_pieces_of_their_documents(reader.as_ref(), &documents, &query);

        // Groups.
        let groups = reader.search_grouped(&Query { k: 5, ..query.clone() }, 2).unwrap();
        assert_eq!(groups.iter().map(|group| &group.document).collect::<BTreeSet<_>>().len(), 5);
        for group in &groups {
            assert!((1..=2).contains(&group.hits.len()));
            assert!(group.hits.iter().all(|hit| hit.chunk.document == group.document));
            assert_eq!(group.score, group.hits[0].score);
        }
        assert!(groups.windows(2).all(|pair| pair[0].score >= pair[1].score));

        // Filters.
        let filter = Filter::default().path("d03.md").path("d05.md").file_type("markdown");
        let filtered = reader.rank(&query.clone().with_filter(filter)).unwrap();
        let documents: BTreeSet<&str> = filtered.iter().map(|one| one.document.as_str()).collect();
        assert_eq!(documents, BTreeSet::from(["d03.md", "d05.md"]), "{mode}");
        for filter in [Filter::default().path("elsewhere"), Filter::default().file_type("pdf")] {
            assert!(reader.rank(&query.clone().with_filter(filter)).unwrap().is_empty(), "{mode}");
        }
        let blank = Filter::default().heading(" ");
        assert_eq!(reader.rank(&query.clone().with_filter(blank)).unwrap(), ranked, "{mode}");
    }
    assert_eq!(reader.fetch(&[ChunkId::nil()]).unwrap(), [None]);
    assert!(reader.rank(&Query::new("zebra", Mode::Bm25, 5)).unwrap().is_empty());
    assert!(reader.rank(&Query::new("", Mode::Bm25, 5)).unwrap().is_empty());
}

/// With what the law before left: twelve documents of ten chunks.
fn expanded_hits_are_pieces_of_their_documents(reader: &dyn Retriever, documents: &[Document], query: &Query) {
    let mode = query.mode;
    for expand in [Expand::Parent, Expand::Merge, Expand::Neighbours(2), Expand::Segment] {
        let expansion = Expansion { expand, tokens: 40 };
        let query = Query { k: 8, ..query.clone() };
        let hits = reader.search_expanded(&query, expansion).unwrap();
        assert_eq!(hits.iter().map(|hit| hit.rank).collect::<Vec<_>>(), (1..=8).collect::<Vec<_>>(), "{mode} {expand}");
        assert!(hits.windows(2).all(|pair| pair[0].score >= pair[1].score), "{mode} {expand}");
        let mut seen = HashSet::new();
        for hit in &hits {
            let document = documents.iter().find(|document| document.id == hit.chunk.document).unwrap();
            assert_eq!(hit.chunk.text, hit.chunk.span().of(&document.source), "{mode} {expand}");
            assert!(hit.chunk.tokens <= 40 || hit.chunks.len() == 1, "{mode} {expand}");
            let chunks: Vec<_> = reader.fetch(&hit.chunks).unwrap().into_iter().flatten().collect();
            assert_eq!(chunks.len(), hit.chunks.len(), "{mode} {expand}");
            assert_eq!(chunks.first().map(|chunk| chunk.start), Some(hit.chunk.start), "{mode} {expand}");
            assert_eq!(chunks.last().map(|chunk| chunk.end), Some(hit.chunk.end), "{mode} {expand}");
            assert!(hit.chunks.contains(&hit.id) && hit.chunks.iter().all(|id| seen.insert(*id)), "{mode} {expand}");
        }
        // A segment may be worth no more than the chunk that was found.
        assert!(matches!(expand, Expand::Segment) || hits.iter().any(|hit| hit.chunks.len() > 1), "{mode} {expand}");
        let groups = reader.search_grouped_expanded(&Query { k: 3, ..query }, 2, expansion).unwrap();
        assert_eq!(groups.len(), 3, "{mode} {expand}");
        assert!(groups.iter().all(|group| (1..=2).contains(&group.hits.len())), "{mode} {expand}");
    }
    let plain = reader.search_expanded(query, Expansion::default()).unwrap();
    assert_eq!(plain, reader.search(query).unwrap(), "{mode}");
}

fn documents_are_listed_with_their_chunks(store: &dyn TestStore) {
    let reader = store.read();
    assert_eq!((reader.documents().unwrap(), reader.chunks().unwrap()), (12, 120));
    let list = |prefix: &str, after: Option<&str>, limit| -> Vec<String> {
        let listed = reader.list(prefix, after, limit).unwrap();
        assert!(listed.iter().all(|one| one.chunks == 10 && one.file_type == "md" && one.title.is_none()));
        listed.into_iter().map(|one| one.id).collect()
    };
    assert_eq!(list("", None, 100).len(), 12);
    assert_eq!(list("", None, 2), ["d00.md", "d01.md"]);
    assert_eq!(list("", Some("d01.md"), 2), ["d02.md", "d03.md"]);
    assert_eq!(list("d1", None, 9), ["d10.md", "d11.md"]);
    assert_eq!(list("d1", Some("d10.md"), 9), ["d11.md"]);
    assert_eq!(list("d0", Some("d11.md"), 9), [""; 0]);
    assert_eq!(list("elsewhere/", None, 9), [""; 0]);
    assert_eq!(list("", None, 0), [""; 0]);
    let (document, chunks) = (made_up("d07.md", 7, 10), reader.chunks_of("d07.md").unwrap());
    let ids: Vec<ChunkId> = chunks.iter().map(|(id, _)| *id).collect();
    let records: Vec<_> = reader.fetch(&ids).unwrap().into_iter().flatten().collect();
    assert!(chunks.iter().map(|(_, record)| record).eq(&records));
    for (place, (_, chunk)) in chunks.iter().enumerate() {
        assert_eq!((chunk.ordinal, chunk.text.as_str()), (place, document.sentence(place)));
        let before = &document.source[..chunk.start];
        assert_eq!(chunk.lines().unwrap()[0], 1 + before.matches('\n').count());
        let chars = chunk.chars().unwrap();
        assert_eq!((chars.start, chars.end), (before.chars().count(), document.source[..chunk.end].chars().count()));
    }
    assert_eq!(reader.chunks_of("d0").unwrap(), []);
}

fn a_store_without_vectors_says_so(store: &dyn TestStore) {
    let mut writer = store.write(false);
    assert!(writer.about().embedding.is_none());
    put(writer.as_mut(), &made_up("a", 1, 5));
    writer.finish(&RunSummary::default()).unwrap();
    let mut reader = store.read();
    assert_eq!(reader.about().embedder(), None);
    assert!(!reader.rank(&Query::new("w1 w2 w3 w4 w5 w6 w7 w8 w9", Mode::Bm25, 5)).unwrap().is_empty());
    for mode in [Mode::Dense, Mode::Hybrid] {
        let error = reader.rank(&Query::new("w1", mode, 3)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NoVectors);
        assert!(error.to_string().contains("--mode bm25"), "{error}");
    }
    assert_eq!(reader.set_encoder(BagOfWords::new()).unwrap_err().kind(), ErrorKind::NoVectors);
}
