//! Stores that are built anew.

use std::collections::HashSet;

use pericope_api::Document;
use pericope_store::{Destination, Freshness, Publication, Retriever, RunSummary};

use super::{TestStore, contents, expected, put, reader};
use crate::documents::{made_up, sentence_chunks};

/// A run over these sources.
fn run_over<'a>(met: &'a HashSet<String>, failed: &'a HashSet<String>) -> RunSummary<'a> {
    RunSummary { met: Some(met), failed: Some(failed), ..RunSummary::default() }
}

/// Begins with what the law before left: documents `d00.md` to `d11.md`.
pub(super) fn a_rebuild_takes_its_place_when_it_is_whole(store: &dyn TestStore) {
    let old = store.read();
    let names = |list: &[&str]| list.iter().map(|&name| name.to_owned()).collect::<HashSet<String>>();
    let listed = |reader: &dyn Retriever| -> Vec<String> {
        reader.list("", None, 100).unwrap().into_iter().map(|one| one.id).collect()
    };
    let (a, b, none) = (made_up("d00.md", 31, 4), made_up("new.md", 32, 3), HashSet::new());

    // Broken off, by the process or by its user: the old one serves.
    for interrupted in [false, true] {
        let mut writer = store.rebuild(true);
        put(writer.as_mut(), &a);
        put(writer.as_mut(), &made_up("left.md", 33, 2));
        writer.commit().unwrap();
        if interrupted {
            let run = RunSummary { interrupted: true, ..run_over(&none, &none) };
            assert_eq!(writer.finish(&run).unwrap().publication, Publication::Unfinished);
        }
        assert_eq!((listed(store.read().as_ref()).len(), store.read().chunks().unwrap()), (12, 120));
        assert_eq!(old.refresh().unwrap(), Freshness::Same);
    }

    // Taken up. `d01.md` could not be read and would be lost; `left.md` is not there any more.
    let mut writer = store.rebuild(true);
    assert!(writer.known().unwrap().sources.contains_key("d00.md"), "what was done is known");
    put(writer.as_mut(), &b);
    let (met, failed) = (names(&["d00.md", "new.md", "d01.md"]), names(&["d01.md"]));
    let kept = writer.finish(&run_over(&met, &failed)).unwrap().publication;
    assert_eq!(kept, Publication::KeptOld { lost: vec!["d01.md".to_owned()] });
    assert_eq!(listed(store.read().as_ref()).len(), 12);

    // Now it can be read.
    let mut writer = store.rebuild(true);
    put(writer.as_mut(), &made_up("d01.md", 34, 5));
    let finished = writer.finish(&run_over(&met, &none)).unwrap();
    assert_eq!(finished.publication, Publication::Published);
    assert_eq!((finished.stats.documents, finished.stats.chunks), (3, 12));
    assert_eq!(old.refresh().unwrap(), Freshness::Replaced);
    let new = reader(store);
    assert_eq!(listed(new.as_ref()), ["d00.md", "d01.md", "new.md"]);
    assert_eq!(contents(new.as_ref()), expected(&[&a, &made_up("d01.md", 34, 5), &b]));

    // It is written like any other, and rebuilt again.
    let mut writer = store.write(true);
    assert!(writer.remove("new.md").unwrap());
    writer.finish(&RunSummary::default()).unwrap();
    let mut writer = store.rebuild(true);
    put(writer.as_mut(), &b);
    writer.finish(&run_over(&names(&["new.md"]), &none)).unwrap();
    assert_eq!(contents(reader(store).as_ref()), expected(&[&b]));
}

/// Begins with what the law before left.
pub(super) fn documents_of_no_source_are_known_by_their_ids(store: &dyn TestStore) {
    let add = |writer: &mut dyn Destination, document: &Document| {
        writer.add(document, &sentence_chunks(document)).unwrap();
    };
    let (old, a, b) = (made_up("a", 41, 4), made_up("a", 42, 3), made_up("b", 43, 2));

    // Broken off, and taken up with other documents.
    let mut writer = store.rebuild(true);
    add(writer.as_mut(), &old);
    add(writer.as_mut(), &made_up("left", 44, 3));
    writer.commit().unwrap();
    drop(writer);
    let mut writer = store.rebuild(true);
    add(writer.as_mut(), &b);
    // What was put is remembered beyond a commit.
    writer.commit().unwrap();
    add(writer.as_mut(), &a);
    assert_eq!(writer.finish(&RunSummary::default()).unwrap().publication, Publication::Published);
    assert_eq!(contents(reader(store).as_ref()), expected(&[&a, &b]));

    // One that failed would be lost.
    let failed: HashSet<String> = ["a", "never there"].map(str::to_owned).into();
    let run = RunSummary { failed: Some(&failed), ..RunSummary::default() };
    let mut writer = store.rebuild(true);
    add(writer.as_mut(), &b);
    let kept = writer.finish(&run).unwrap().publication;
    assert_eq!(kept, Publication::KeptOld { lost: vec!["a".to_owned()] });
    assert_eq!(contents(reader(store).as_ref()), expected(&[&a, &b]));

    // What an earlier part of the rebuild has of one that fails now stays.
    let mut writer = store.rebuild(true);
    add(writer.as_mut(), &old);
    writer.commit().unwrap();
    drop(writer);
    let writer = store.rebuild(true);
    assert_eq!(writer.finish(&run).unwrap().publication, Publication::Published);
    assert_eq!(contents(reader(store).as_ref()), expected(&[&old]));
}
