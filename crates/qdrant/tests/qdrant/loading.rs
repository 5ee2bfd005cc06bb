use std::thread;

use pericope_qdrant::{Error, Stored};
use pericope_store::Shard;

use crate::common::{Place, WHOLE, contents, corpus, expected, load, points, vector};

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|&text| text.to_owned()).collect()
}

#[test]
fn what_is_loaded_comes_back_whole() {
    let place = Place::any();
    let corpus = corpus(40);
    let collection = load(&place.target(), &corpus, WHOLE).unwrap();
    let all = expected(&corpus, "r1");
    assert_eq!(contents(&collection), all);
    assert_eq!(collection.count().unwrap(), all.len() as u64);
    let documents = collection.documents().unwrap();
    assert_eq!(documents.len(), 40);
    assert!(documents.values().all(|stored| stored.is("r1")));

    let ids: Vec<_> = all.iter().map(|hit| hit.id).collect();
    let vectors = collection.vectors(&ids).unwrap();
    assert_eq!(vectors.len(), ids.len());
    for hit in &all {
        let (found, made) = (&vectors[&hit.id], vector(&hit.chunk.text));
        assert!(found.iter().zip(&made).all(|(a, b)| (a - b).abs() < 1e-6), "{}", hit.chunk.text);
    }
}

#[test]
fn loading_again_changes_nothing() {
    let place = Place::any();
    let corpus = corpus(12);
    load(&place.target(), &corpus, WHOLE).unwrap();
    let collection = place.open();
    let mut writer = collection.writer();
    for (document, texts) in &corpus {
        writer.replace(document, "r1", points(document, "r1", texts)).unwrap();
    }
    writer.flush().unwrap();
    assert_eq!(writer.written().documents, 12);
    assert_eq!(contents(&collection), expected(&corpus, "r1"));
}

#[test]
fn a_new_revision_leaves_nothing_of_the_old() {
    let place = Place::any();
    let mut corpus = corpus(5);
    let collection = load(&place.target(), &corpus, WHOLE).unwrap();
    // The first chunk stays where and what it was, so that its id is the same; the others are gone.
    let changed = "guide/doc-0.md";
    let first = corpus[changed][0].clone();
    corpus.insert(changed.to_owned(), vec![first, "an entirely new end".to_owned()]);
    let before = collection.points_of(changed).unwrap();
    let mut writer = collection.writer();
    writer.replace(changed, "r2", points(changed, "r2", &corpus[changed])).unwrap();
    writer.flush().unwrap();
    let after = collection.points_of(changed).unwrap();
    assert_eq!(after.len(), 2);
    assert_eq!(after.iter().filter(|id| before.contains(id)).count(), 1);
    let mut all = expected(&corpus, "r1");
    for hit in all.iter_mut().filter(|hit| hit.chunk.document == changed) {
        hit.revision = "r2".into();
    }
    assert_eq!(contents(&collection), all);
}

#[test]
fn removed_and_emptied_documents_leave_no_chunk() {
    let place = Place::any();
    let mut corpus = corpus(6);
    let collection = load(&place.target(), &corpus, WHOLE).unwrap();
    let mut writer = collection.writer();
    writer.remove("guide/doc-0.md").unwrap();
    writer.replace("reference/doc-2.md", "r2", []).unwrap();
    writer.remove("never/there.md").unwrap();
    let ids = collection.points_of("guide/use/doc-1.html").unwrap();
    writer.delete_points(&ids[..1]).unwrap();
    writer.flush().unwrap();
    corpus.remove("guide/doc-0.md");
    corpus.remove("reference/doc-2.md");
    let left: Vec<_> = expected(&corpus, "r1").into_iter().filter(|hit| hit.id != ids[0]).collect();
    assert_eq!(contents(&collection), left);
    // A document of which a chunk is missing is one to load again.
    let stored = &collection.documents().unwrap()["guide/use/doc-1.html"];
    assert!(!stored.is("r1") && stored.found + 1 == stored.chunks);
}

#[test]
fn revisions_of_a_document_within_one_writer_follow_each_other() {
    let place = Place::any();
    let collection = place.open();
    let mut writer = collection.writer();
    for round in 0..5 {
        let revision = format!("r{round}");
        let texts = texts(&["the same beginning", &format!("end number {round}")]);
        writer.replace("a.md", &revision, points("a.md", &revision, &texts)).unwrap();
    }
    writer.remove("b.md").unwrap();
    writer.replace("b.md", "r9", points("b.md", "r9", &texts(&["b is back"]))).unwrap();
    writer.flush().unwrap();
    let found: Vec<_> = contents(&collection).into_iter().map(|hit| (hit.revision, hit.chunk.text)).collect();
    let wanted = [("r4", "the same beginning"), ("r4", "end number 4"), ("r9", "b is back")];
    assert_eq!(found, wanted.map(|(revision, text)| (revision.to_owned(), text.to_owned())));
}

#[test]
fn many_replaced_documents_are_swept_together_and_all() {
    let place = Place::any();
    let corpus = corpus(300);
    let collection = load(&place.target(), &corpus, WHOLE).unwrap();
    let mut writer = collection.writer();
    for document in corpus.keys() {
        let texts = texts(&[&format!("{document} in one chunk")]);
        writer.replace(document, "r2", points(document, "r2", &texts)).unwrap();
    }
    writer.flush().unwrap();
    assert_eq!(collection.count().unwrap(), 300);
    let documents = collection.documents().unwrap();
    let whole = Stored { revision: Some("r2".into()), chunks: 1, found: 1, origin: Some("a test".into()) };
    assert!(documents.values().all(|stored| *stored == whole));
}

#[test]
fn workers_with_a_part_each_load_what_one_would() {
    let (one, many) = (Place::any(), Place::any());
    let corpus = corpus(60);
    let alone = load(&one.target(), &corpus, WHOLE).unwrap();
    // All at once, so that they also make the collection at the same time.
    thread::scope(|scope| {
        let workers: Vec<_> = (1..=4)
            .map(|number| {
                let (target, corpus) = (many.target(), &corpus);
                scope.spawn(move || load(&target, corpus, Shard { number, of: 4 }).map(drop))
            })
            .collect();
        for worker in workers {
            worker.join().unwrap().unwrap();
        }
    });
    let together = many.open();
    assert_eq!(contents(&together), contents(&alone));
    assert_eq!(together.count().unwrap(), expected(&corpus, "r1").len() as u64);
    if let (Some(one), Some(many)) = (&one.server, &many.server) {
        assert_eq!(one.points("docs"), many.points("docs"));
        assert_eq!(many.collections(), ["docs-1"]);
    }
}

#[test]
fn chunks_that_do_not_fit_are_named_and_end_the_writer() {
    let place = Place::any();
    let collection = place.open();
    let good = || points("a.md", "r1", &texts(&["one", "two"]));
    let refused = |change: fn(&mut pericope_qdrant::Point)| {
        let mut points = good();
        change(&mut points[1]);
        let mut writer = collection.writer();
        let error = writer.replace("a.md", "r1", points).unwrap_err().to_string();
        assert!(matches!(writer.flush(), Err(Error::Poisoned)));
        error
    };
    let message = refused(|point| point.vector.as_mut().unwrap().truncate(7));
    assert!(message.contains("chunk 1 of `a.md` has 7 dimensions") && message.ends_with(" 8"), "{message}");
    assert!(refused(|point| point.vector = None).contains("has 0 dimensions"));
    assert!(refused(|point| point.vector.as_mut().unwrap()[3] = f32::NAN).contains("not finite"));
    assert!(refused(|point| point.revision = "r0".into()).contains("not of `a.md` in revision `r1`"));
    assert!(refused(|point| point.chunk.document = "b.md".into()).contains("chunk 1 of `b.md`"));
    assert_eq!(collection.count().unwrap(), 0);
}
