use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use pericope_qdrant::{Collection, Error, Mode, QdrantRetriever, Rebuild, Target, VectorQuery};
use pericope_store::Retriever;
use pericope_testkit::analyzer::PlainWords;
use pericope_testkit::qdrant::{Call, Fault};
use tonic::Code;

use crate::common::{Place, WHOLE, contents, corpus, expected, load, points, record, vector};

fn fill(collection: &Collection, revision: &str, documents: usize) {
    let mut writer = collection.writer();
    for (document, texts) in corpus(documents) {
        writer.replace(&document, revision, points(&document, revision, &texts)).unwrap();
    }
    writer.flush().unwrap();
}

#[test]
fn a_search_finds_the_old_or_the_new_and_never_neither() {
    let place = Place::any();
    load(&place.target(), &corpus(20), WHOLE).unwrap();
    let reader = Collection::open(&place.target()).unwrap();
    let over = AtomicBool::new(false);
    let mut query = VectorQuery::new(Mode::Dense, 12);
    query.vector = Some(vector("moon tide"));
    let (seen, searches) = thread::scope(|scope| {
        let searchers: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    let (mut seen, mut searches) = (HashSet::new(), 0);
                    while !over.load(Ordering::Relaxed) {
                        let hits = reader.search(&query).unwrap();
                        assert_eq!(hits.len(), 12);
                        let revisions: HashSet<_> = hits.into_iter().map(|hit| hit.revision).collect();
                        assert_eq!(revisions.len(), 1, "half old, half new: {revisions:?}");
                        seen.extend(revisions);
                        searches += 1;
                    }
                    (seen, searches)
                })
            })
            .collect();
        for round in ["r2", "r3", "r4"] {
            let rebuild = Rebuild::begin(&place.target(), &record()).unwrap();
            fill(rebuild.collection(), round, 20);
            assert_eq!(rebuild.publish(false).unwrap().count().unwrap(), expected(&corpus(20), round).len() as u64);
            thread::sleep(std::time::Duration::from_millis(30));
        }
        over.store(true, Ordering::Relaxed);
        let results: Vec<(HashSet<String>, usize)> = searchers.into_iter().map(|s| s.join().unwrap()).collect();
        let searches: usize = results.iter().map(|(_, searches)| searches).sum();
        (results.into_iter().flat_map(|(seen, _)| seen).collect::<HashSet<_>>(), searches)
    });
    assert!(searches > 20, "{searches}");
    assert!(seen.contains("r4") && seen.len() >= 2, "{seen:?}");
    if let Some(server) = &place.server {
        assert_eq!(server.collections(), ["docs-1", "docs-2", "docs-3", "docs-4"]);
    }
    assert_eq!(contents(&reader.clone()), expected(&corpus(20), "r1"), "a reader that was opened before reads on");
    assert_eq!(contents(&Collection::open(&place.target()).unwrap()), expected(&corpus(20), "r4"));
}

#[test]
fn the_old_one_can_be_dropped_and_writers_stay_with_theirs() {
    let mut place = Place::in_memory();
    let old = load(&place.target(), &corpus(5), WHOLE).unwrap();
    let rebuild = Rebuild::begin(&place.target(), &record()).unwrap();
    assert_eq!(rebuild.collection().pinned(), "docs-2");
    fill(rebuild.collection(), "r2", 5);
    // Until it is published nobody sees it.
    assert_eq!(contents(&Collection::open(&place.target()).unwrap()), expected(&corpus(5), "r1"));
    let new = rebuild.publish(true).unwrap();
    assert_eq!(place.server().collections(), ["docs-2"]);
    assert_eq!(contents(&new), expected(&corpus(5), "r2"));
    assert_eq!(contents(&Collection::open(&place.target()).unwrap()), expected(&corpus(5), "r2"));
    // A writer of the old one does not stray into the new one.
    let mut writer = old.writer();
    let mut outcome = writer.replace("x.md", "r1", points("x.md", "r1", &["x".to_owned()]));
    outcome = outcome.and_then(|()| writer.flush());
    assert!(matches!(outcome, Err(Error::Refused { .. })), "{outcome:?}");
    assert_eq!(contents(&new), expected(&corpus(5), "r2"));
}

#[test]
fn whatever_a_retriever_reads_is_of_the_collection_that_it_searches() {
    let mut place = Place::in_memory();
    load(&place.target(), &corpus(5), WHOLE).unwrap();
    let retriever = QdrantRetriever::open(&place.target(), Arc::new(PlainWords)).unwrap();
    let rebuild = Rebuild::begin(&place.target(), &record()).unwrap();
    fill(rebuild.collection(), "r2", 7);
    rebuild.publish(true).unwrap();
    assert_eq!(place.server().collections(), ["docs-2"]);
    assert_eq!(retriever.documents().unwrap(), 7);
    assert_eq!(retriever.chunks().unwrap(), expected(&corpus(7), "r2").len() as u64);
    for (document, texts) in corpus(7) {
        assert_eq!(retriever.chunks_of(&document).unwrap().len(), texts.len(), "{document}");
    }
}

#[test]
fn an_interrupted_rebuild_is_taken_up_again() {
    let mut place = Place::in_memory();
    load(&place.target(), &corpus(10), WHOLE).unwrap();
    let first = Rebuild::begin(&place.target(), &record()).unwrap();
    fill(first.collection(), "r2", 4);
    drop(first);
    let second = Rebuild::begin(&place.target(), &record()).unwrap();
    assert_eq!(second.collection().pinned(), "docs-2");
    assert_eq!(second.collection().documents().unwrap().len(), 4);
    // One with another record is another one; the record of the published one does not matter.
    let mut other = record();
    other.segmenter = "fixed".into();
    let third = Rebuild::begin(&place.target(), &other).unwrap();
    assert_eq!(third.collection().pinned(), "docs-3");
    third.publish(true).unwrap();
    assert_eq!(place.server().collections(), ["docs-3"]);
    let message = Collection::open_or_create(&place.target(), &record()).unwrap_err().to_string();
    assert!(message.contains("segmenter `fixed`, not `sentence`"), "{message}");
}

#[test]
fn the_first_build_may_be_a_rebuild() {
    let mut place = Place::in_memory();
    let rebuild = Rebuild::begin(&place.target(), &record()).unwrap();
    fill(rebuild.collection(), "r1", 3);
    assert!(matches!(Collection::open(&place.target()), Err(Error::NoCollection { .. })));
    rebuild.publish(true).unwrap();
    assert_eq!(place.server().collections(), ["docs-1"]);
    assert_eq!(contents(&place.open()), expected(&corpus(3), "r1"));
}

#[test]
fn an_evaluation_replaces_only_what_an_evaluation_made() {
    let mut place = Place::in_memory();
    load(&place.target(), &corpus(3), WHOLE).unwrap();
    let mut measured = record();
    measured.options.insert("evaluation".into(), "on".into());
    let error = Rebuild::begin(&place.target(), &measured).map(drop).unwrap_err();
    assert!(matches!(error, Error::NotOfEvaluation { .. }), "{error}");
    let message = error.to_string();
    assert!(message.contains("`docs-1`") && message.contains("retrieval.in") && !message.contains('\n'), "{message}");
    assert_eq!(place.server().collections(), ["docs-1"], "nothing was made");
    assert_eq!(contents(&place.open()), expected(&corpus(3), "r1"), "and nothing lost");
    // Begun by somebody and not finished: that is not deleted either.
    drop(Rebuild::begin(&place.target(), &record()).unwrap());
    assert!(matches!(Rebuild::begin(&place.target(), &measured), Err(Error::NotOfEvaluation { .. })));

    // One run after the other.
    let mut place = Place::in_memory();
    for number in 1..4 {
        let rebuild = Rebuild::begin(&place.target(), &measured).unwrap();
        fill(rebuild.collection(), "r1", 2);
        rebuild.publish(true).unwrap();
        assert_eq!(place.server().collections(), [format!("docs-{number}")]);
    }
}

#[test]
fn a_collection_of_that_very_name_is_not_replaced() {
    let place = Place::in_memory();
    place.open();
    let target = Target::parse(&place.url().replace("/docs?", "/docs-1?")).unwrap();
    let error = Rebuild::begin(&target, &record()).map(drop).unwrap_err();
    assert!(matches!(error, Error::NotAnAlias { .. }), "{error}");
    assert!(error.to_string().contains("index into another name"));
}

#[test]
fn a_number_that_is_another_corpus_is_passed_over() {
    let mut place = Place::in_memory();
    let other = Target::parse(&place.url().replace("/docs?", "/docs-2?")).unwrap();
    load(&place.target(), &corpus(3), WHOLE).unwrap();
    load(&other, &corpus(8), WHOLE).unwrap();
    for _ in 0..2 {
        // Begun, interrupted, taken up.
        let rebuild = Rebuild::begin(&place.target(), &record()).unwrap();
        assert_eq!(rebuild.collection().pinned(), "docs-3");
        fill(rebuild.collection(), "r2", 2);
    }
    let rebuild = Rebuild::begin(&place.target(), &record()).unwrap();
    fill(rebuild.collection(), "r2", 3);
    rebuild.publish(true).unwrap();
    assert_eq!(place.server().collections(), ["docs-2-1", "docs-3"]);
    assert_eq!(contents(&Collection::open(&place.target()).unwrap()), expected(&corpus(3), "r2"));
    assert_eq!(contents(&Collection::open(&other).unwrap()), expected(&corpus(8), "r1"));
}

#[test]
fn a_first_collection_is_not_made_under_the_name_of_an_alias() {
    let place = Place::in_memory();
    let other = Target::parse(&place.url().replace("/docs?", "/docs-1?")).unwrap();
    load(&other, &corpus(3), WHOLE).unwrap();
    let error = Collection::open_or_create(&place.target(), &record()).unwrap_err();
    assert!(matches!(error, Error::IsAnAlias { .. }), "{error}");
    assert!(error.to_string().contains("`docs-1`") && error.to_string().contains("index into another name"));
    assert_eq!(contents(&Collection::open(&other).unwrap()), expected(&corpus(3), "r1"));
}

#[test]
fn a_switch_survives_faults_and_a_refused_one_changes_nothing() {
    for fault in [Fault::Lost, Fault::Reset, Fault::ResetAfter, Fault::Code(Code::Unavailable)] {
        let mut place = Place::in_memory();
        load(&place.target(), &corpus(3), WHOLE).unwrap();
        let rebuild = Rebuild::begin(&place.target(), &record()).unwrap();
        fill(rebuild.collection(), "r2", 3);
        place.server().fail(Call::ChangeAliases, fault, 2);
        place.server().fail(Call::DropCollection, fault, 2);
        rebuild.publish(true).unwrap();
        assert_eq!(place.server().collections(), ["docs-2"], "{fault:?}");
        assert_eq!(contents(&Collection::open(&place.target()).unwrap()), expected(&corpus(3), "r2"));
    }
    let mut place = Place::in_memory();
    load(&place.target(), &corpus(3), WHOLE).unwrap();
    let rebuild = Rebuild::begin(&place.target(), &record()).unwrap();
    place.server().fail(Call::ChangeAliases, Fault::Code(Code::InvalidArgument), 1);
    let message = rebuild.publish(true).unwrap_err().to_string();
    assert!(message.starts_with("switching the alias was refused"), "{message}");
    assert_eq!(contents(&Collection::open(&place.target()).unwrap()), expected(&corpus(3), "r1"));
}
