//! Every request of loading, pruning, rebuilding, publishing and searching is made to fail, one a run, in every way. What
//! searches find afterwards is the old or the new; running it again completes it, doubles nothing and leaves nothing behind.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use pericope_api::Document;
use pericope_qdrant::{QdrantDestination, QdrantRetriever, Target};
use pericope_store::{Destination, ErrorKind, Hit, IndexSpec, Mode, Query, Retriever, RunSummary, StoreError};
use pericope_testkit::analyzer::PlainWords;
use pericope_testkit::documents::{made_up, sentence_chunks};
use pericope_testkit::encoders::BagOfWords;
use pericope_testkit::qdrant::{Call, Fault, PointData, Server};
use tonic::Code;

const CALLS: &[Call] = &[
    Call::Upsert,
    Call::Delete,
    Call::Query,
    Call::Scroll,
    Call::Get,
    Call::Count,
    Call::CreateIndex,
    Call::CreateCollection,
    Call::DropCollection,
    Call::Info,
    Call::List,
    Call::ListAliases,
    Call::ChangeAliases,
];

/// Whether the run gets over it by itself.
const FAULTS: &[(Fault, bool)] = &[
    (Fault::Refused, true),
    (Fault::Reset, true),
    (Fault::ResetAfter, true),
    // In the midst of the headers, and of the answer or what follows it.
    (Fault::Torn(20), true),
    (Fault::Torn(130), true),
    (Fault::Half, true),
    (Fault::Lost, true),
    // Longer than the time for an attempt.
    (Fault::Slow(Duration::from_millis(450)), true),
    (Fault::Busy(Duration::from_millis(20)), true),
    (Fault::Code(Code::Internal), true),
    (Fault::Code(Code::NotFound), false),
    (Fault::Code(Code::PermissionDenied), false),
];

type Points = BTreeMap<String, PointData>;

fn target(server: &Server) -> Target {
    let mut target = Target::parse(&server.url("docs")).unwrap();
    for (key, value) in [("batch_points", "4"), ("timeout", "0.2"), ("retries", "20")] {
        target.settings.set(key, value).unwrap();
    }
    target
}

/// What is there at first: `changed` becomes another text, `gone` goes, `stays` stays, `new` comes.
fn before() -> [Document; 3] {
    [made_up("changed", 1, 5), made_up("gone", 2, 3), made_up("stays", 3, 4)]
}

fn after() -> [Document; 3] {
    [made_up("changed", 7, 6), made_up("stays", 3, 4), made_up("new", 4, 3)]
}

/// Loads documents into the collection, or into one that takes its place, and removes all others.
fn load(server: &Server, documents: &[Document], rebuild: bool) -> Result<(), StoreError> {
    let spec = IndexSpec::new("sentence", "words").with_encoder(BagOfWords::new());
    let opened = QdrantDestination::open(&target(server), &spec, Arc::new(PlainWords), rebuild, u64::MAX)?;
    let mut store = Box::new(opened);
    for document in documents {
        store.add(document, &sentence_chunks(document))?;
    }
    for gone in ["gone", "changed", "stays", "new"] {
        if documents.iter().all(|document| document.id != gone) {
            store.remove(gone)?;
        }
    }
    store.finish(&RunSummary::default()).map(drop)
}

fn search(server: &Server) -> Result<Vec<Hit>, StoreError> {
    let mut store = QdrantRetriever::open(&target(server), Arc::new(PlainWords))?;
    store.set_encoder(BagOfWords::new())?;
    let mut hits = store.search(&Query::new("w1 w3 w7 w20", Mode::Hybrid, 5))?;
    store.add_context(&mut hits, 1)?;
    store.search_grouped(&Query::new("w1 w3", Mode::Bm25, 2), 2)?;
    store.chunks()?;
    Ok(hits)
}

fn loaded(documents: &[Document]) -> Server {
    let server = Server::start().unwrap();
    load(&server, documents, false).unwrap();
    server
}

/// The ids of each document's points.
fn ids(points: &Points) -> BTreeMap<String, BTreeSet<String>> {
    let mut documents: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (id, point) in points {
        documents.entry(point.payload["document"].as_str().unwrap().to_owned()).or_default().insert(id.clone());
    }
    documents
}

/// Every document is found whole: as it was, as it is to be, or (while it is replaced) with parts of both.
fn is_old_or_new_by_document(found: &Points, old: &Points, new: &Points, fault: Fault) {
    let (found, old, new) = (ids(found), ids(old), ids(new));
    let none = BTreeSet::new();
    for document in ["changed", "gone", "stays", "new"] {
        let of = |all: &'_ BTreeMap<String, BTreeSet<String>>| all.get(document).unwrap_or(&none).clone();
        let (found, old, new) = (of(&found), of(&old), of(&new));
        let known: BTreeSet<_> = old.union(&new).cloned().collect();
        assert!(found.is_subset(&known), "{document}: {found:?}");
        // A server that does half of a deletion leaves half of a document that is to go, and half of a batch is part of
        // one that is to come.
        let whole = old.is_subset(&found) || new.is_subset(&found);
        assert!(whole || fault == Fault::Half, "{document}: {found:?}");
    }
}

/// Runs `work` once well and counts its requests; then, for each of them and each fault, lets it fail on a server made
/// anew, and has `check` look at the outcome and run it again.
fn each_request(
    start: impl Fn() -> Server,
    work: impl Fn(&Server) -> Result<(), StoreError>,
    check: impl Fn(&Server, Fault, &Result<(), StoreError>),
) {
    let clean = start();
    let before = clean.counts().calls;
    work(&clean).unwrap();
    let after = clean.counts().calls;
    let (mut runs, mut calls) = (0, 0);
    for &call in CALLS {
        let made = after.get(&call).unwrap_or(&0) - before.get(&call).unwrap_or(&0);
        for well in 0..usize::try_from(made).unwrap() {
            calls += 1;
            for &(fault, passes) in FAULTS {
                let server = start();
                server.fail_after(call, fault, well);
                let outcome = work(&server);
                let what = format!("request {well} of {call:?}, {fault:?}: {outcome:?}");
                assert_eq!(server.faults_left(), 0, "{what}");
                match &outcome {
                    Ok(()) => {}
                    Err(error) => {
                        assert!(!passes, "{what}");
                        assert!(!error.to_string().contains('\n'), "{what}");
                        let kind =
                            if fault == Fault::Code(Code::PermissionDenied) { Some(ErrorKind::Denied) } else { None };
                        assert!(
                            kind.is_none_or(|kind| error.kind() == kind || error.kind() == ErrorKind::Other),
                            "{what}"
                        );
                    }
                }
                println!("{what}");
                check(&server, fault, &outcome);
                runs += 1;
            }
        }
    }
    assert!(calls >= 5, "{calls} requests");
    println!("{runs} runs");
}

#[test]
fn loading_and_pruning_in_place() {
    let (old, new) = (loaded(&before()).points("docs"), loaded(&after()).points("docs"));
    each_request(
        || loaded(&before()),
        |server| load(server, &after(), false),
        |server, fault, outcome| {
            match outcome {
                Ok(()) => assert_eq!(server.points("docs"), new),
                Err(_) => is_old_or_new_by_document(&server.points("docs"), &old, &new, fault),
            }
            load(server, &after(), false).unwrap();
            assert_eq!(server.points("docs"), new);
            assert_eq!(server.collections(), ["docs-1"]);
        },
    );
}

#[test]
fn loading_for_the_first_time() {
    let new = loaded(&after()).points("docs");
    each_request(
        || Server::start().unwrap(),
        |server| load(server, &after(), false),
        |server, fault, outcome| {
            match outcome {
                Ok(()) => assert_eq!(server.points("docs"), new),
                Err(_) => is_old_or_new_by_document(&server.points("docs"), &Points::new(), &new, fault),
            }
            load(server, &after(), false).unwrap();
            assert_eq!(server.points("docs"), new);
            assert_eq!(server.collections(), ["docs-1"]);
        },
    );
}

#[test]
fn rebuilding_and_publishing() {
    let (old, new) = (loaded(&before()).points("docs"), loaded(&after()).points("docs"));
    each_request(
        || loaded(&before()),
        |server| load(server, &after(), true),
        |server, _, outcome| {
            let found = server.points("docs");
            match outcome {
                Ok(()) => assert_eq!(found, new),
                Err(_) => assert!(found == old || found == new),
            }
            load(server, &after(), true).unwrap();
            assert_eq!(server.points("docs"), new);
            // One collection, named by the alias and by its mark.
            let collections = server.collections();
            assert_eq!(collections.len(), 1, "{collections:?}");
            assert!(server.aliases().values().all(|behind| *behind == collections[0]), "{:?}", server.aliases());
        },
    );
}

#[test]
fn searching() {
    let documents = before();
    let server = loaded(&documents);
    let (clean, points) = (search(&server).unwrap(), server.points("docs"));
    each_request(
        || loaded(&documents),
        |server| search(server).map(|hits| assert_eq!(hits, clean)),
        |server, _, _| {
            assert_eq!(search(server).unwrap(), clean);
            assert_eq!(server.points("docs"), points);
        },
    );
}
