use pericope_qdrant::{Collection, Error, Mode, Record, Target, VectorQuery};
use pericope_testkit::qdrant::Server;
use qdrant_client::qdrant::collections_client::CollectionsClient;
use qdrant_client::qdrant::{CreateCollection, VectorParams, VectorsConfig, vectors_config};

use crate::common::{Place, points, record, words};

#[test]
fn what_was_recorded_is_what_is_read() {
    let place = Place::any();
    let made = place.open();
    let mut asked = record();
    asked.mean_words = 99.0;
    let opened = Collection::open_or_create(&place.target(), &asked).unwrap();
    assert_eq!(opened.record(), made.record());
    assert_eq!(opened.record(), &record());
    // The recorded length counts, not the one that was asked for.
    assert_eq!(opened.bm25(), pericope_qdrant::Bm25::new(6.0));
    assert_eq!(Collection::open(&place.target()).unwrap().record(), &record());
    assert_eq!((opened.name(), opened.pinned()), (&*place.target().collection, &*format!("{}-1", opened.name())));
}

#[test]
fn another_record_is_refused_with_both_values() {
    let place = Place::any();
    place.open();
    let mut asked = record();
    asked.segmenter = "fixed:words=100".into();
    let message = Collection::open_or_create(&place.target(), &asked).unwrap_err().to_string();
    assert!(message.contains("built with segmenter `sentence`, not `fixed:words=100`"), "{message}");
    let mut asked = record();
    asked.embedder.as_mut().unwrap().dimension = 16;
    let message = Collection::open_or_create(&place.target(), &asked).unwrap_err().to_string();
    assert!(message.contains("embedder `bag (f00, 8 dimensions)`, not `bag (f00, 16 dimensions)`"), "{message}");
}

#[test]
fn the_settings_dimension_is_checked_against_the_embedder() {
    let place = Place::any();
    let error = Collection::open_or_create(&place.target_with("dimension", "384"), &record()).unwrap_err();
    assert!(error.to_string().starts_with("the embedder has 8 dimensions"), "{error}");
    Collection::open_or_create(&place.target_with("dimension", "8"), &record()).unwrap();
}

#[test]
fn a_collection_that_is_not_there_is_named() {
    let place = Place::any();
    let error = Collection::open(&place.target()).unwrap_err();
    assert!(matches!(error, Error::NoCollection { .. }));
    assert!(error.to_string().contains("pericope index PATH --into qdrant://"), "{error}");
}

#[test]
fn a_collection_without_an_embedder_knows_bm25_alone() {
    let place = Place::any();
    let plain = Record { embedder: None, ..record() };
    let collection = Collection::open_or_create(&place.target(), &plain).unwrap();
    let mut writer = collection.writer();
    let texts = ["moon and tide".to_owned(), "— …".to_owned()];
    // The second has not even a word, and is stored all the same.
    let wordless = points("a.md", "r1", &texts).into_iter().map(|mut point| {
        point.vector = None;
        point
    });
    writer.replace("a.md", "r1", wordless).unwrap();
    writer.flush().unwrap();
    assert_eq!(collection.count().unwrap(), 2);
    let mut query = VectorQuery::new(Mode::Bm25, 5);
    query.sparse = pericope_qdrant::Bm25::query("tide", &words);
    assert_eq!(collection.search(&query).unwrap().len(), 1);
    query.mode = Mode::Hybrid;
    assert!(matches!(collection.search(&query), Err(Error::NoVectors { .. })));
    assert!(collection.vectors(&collection.points_of("a.md").unwrap()).unwrap().is_empty());
}

/// Makes a collection as another program would, on a server in memory.
fn foreign(server: &Server, name: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let params = VectorParams { size: 4, distance: 1, ..VectorParams::default() };
    let request = CreateCollection {
        collection_name: name.to_owned(),
        vectors_config: Some(VectorsConfig { config: Some(vectors_config::Config::Params(params)) }),
        ..CreateCollection::default()
    };
    runtime.block_on(async {
        let mut client = CollectionsClient::connect(format!("http://{}", server.address())).await.unwrap();
        client.create(request).await.unwrap();
    });
}

#[test]
fn what_others_made_is_left_alone() {
    let place = Place::in_memory();
    let server = place.server.as_ref().unwrap();
    foreign(server, "docs");
    for outcome in [Collection::open(&place.target()), Collection::open_or_create(&place.target(), &record())] {
        let error = outcome.unwrap_err();
        assert!(matches!(error, Error::NotOurs { .. }));
        assert!(error.to_string().contains("(server 1.20.0) does not say what it was built with"), "{error}");
    }
    assert_eq!(server.collections(), ["docs"]);
}

#[test]
fn a_collection_of_ours_without_an_alias_opens_by_its_own_name() {
    let place = Place::in_memory();
    let made = place.open();
    let target = Target::parse(&place.url().replace("/docs?", "/docs-1?")).unwrap();
    let opened = Collection::open_or_create(&target, &record()).unwrap();
    assert_eq!((opened.name(), opened.pinned(), made.pinned()), ("docs-1", "docs-1", "docs-1"));
}

#[test]
fn the_settings_reach_the_server() {
    let place = Place::in_memory();
    let mut target = place.target();
    for (key, value) in [
        ("shards", "3"),
        ("replication_factor", "2"),
        ("write_consistency_factor", "2"),
        ("on_disk", "on"),
        ("quantization", "binary"),
        ("distance", "dot"),
    ] {
        target.settings.set(key, value).unwrap();
    }
    Collection::open_or_create(&target, &record()).unwrap();
    let asked = place.server.as_ref().unwrap().creation("docs").unwrap();
    for part in [
        "shard_number: Some(3)",
        "replication_factor: Some(2)",
        "write_consistency_factor: Some(2)",
        "on_disk: Some(true)",
        "distance: Dot",
        "Binary(BinaryQuantization",
        "modifier: Some(Idf)",
    ] {
        assert!(asked.contains(part), "{part} is not in {asked}");
    }
}
