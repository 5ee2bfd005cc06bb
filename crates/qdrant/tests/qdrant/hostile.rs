//! A server whose collection holds what this program never wrote, or that answers what no server should.

use std::collections::HashMap;

use pericope_qdrant::{Collection, Error, Mode, VectorQuery};
use qdrant_client::qdrant::points_client::PointsClient;
use qdrant_client::qdrant::value::Kind;
use qdrant_client::qdrant::{
    DenseVector, ListValue, NamedVectors, PointId, PointStruct, SparseVector, Struct, UpsertPoints, Value, Vector,
    Vectors, point_id, vector, vectors,
};

use crate::common::{DIMENSION, Place, WHOLE, contents, corpus, expected, load, points, vector};

const ID: &str = "00000000-0000-5000-8000-000000000001";

fn value(kind: Kind) -> Value {
    Value { kind: Some(kind) }
}

/// What a chunk's payload holds.
fn payload() -> HashMap<String, Value> {
    let text = |text: &str| value(Kind::StringValue(text.to_owned()));
    let number = |number| value(Kind::IntegerValue(number));
    HashMap::from(
        [
            ("document", text("a.md")),
            ("revision", text("r1")),
            ("chunks", number(1)),
            ("ordinal", number(0)),
            ("start", number(0)),
            ("end", number(8)),
            ("heading_path", value(Kind::ListValue(ListValue { values: vec![text("Guide")] }))),
            ("heading", text("Guide")),
            ("path", value(Kind::ListValue(ListValue { values: vec![text("a.md")] }))),
            ("file_type", text("md")),
            ("text", text("the moon")),
            ("tokens", number(2)),
        ]
        .map(|(name, value)| (name.to_owned(), value)),
    )
}

/// Stores a point as another program would.
fn store(place: &Place, id: point_id::PointIdOptions, payload: HashMap<String, Value>, dense: Vec<f32>) {
    #[allow(deprecated)]
    let vector = |vector| Vector { data: Vec::new(), indices: None, vectors_count: None, vector: Some(vector) };
    let sparse = SparseVector { indices: vec![pericope_qdrant::term_index("moon")], values: vec![1.0] };
    let named = HashMap::from([
        ("dense".to_owned(), vector(vector::Vector::Dense(DenseVector { data: dense }))),
        ("bm25".to_owned(), vector(vector::Vector::Sparse(sparse))),
    ]);
    let point = PointStruct {
        id: Some(PointId { point_id_options: Some(id) }),
        payload,
        vectors: Some(Vectors {
            vectors_options: Some(vectors::VectorsOptions::Vectors(NamedVectors { vectors: named })),
        }),
    };
    let target = place.target();
    let request = UpsertPoints {
        collection_name: target.collection.clone(),
        wait: Some(true),
        points: vec![point],
        ..UpsertPoints::default()
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut client = PointsClient::connect(format!("http://{}", target.address())).await.unwrap();
        client.upsert(request).await.unwrap();
    });
}

fn asking(mode: Mode) -> VectorQuery {
    let mut query = VectorQuery::new(mode, 5);
    query.sparse = vec![(pericope_qdrant::term_index("moon"), 1.0)];
    query.vector = Some(vector("moon"));
    query
}

/// Everything that reads whole points.
fn readings(collection: &Collection) -> Vec<Error> {
    let id = ID.parse().unwrap();
    let rank = pericope_store::Ranked { id, document: "a.md".into(), ordinal: 0, score: 1.0 };
    let outcomes = [
        collection.search(&asking(Mode::Bm25)).err(),
        collection.search(&asking(Mode::Dense)).err(),
        collection.chunks(&[id]).err(),
        collection.chunks_of("a.md").err(),
        collection.neighbours(&[rank], 3).err(),
    ];
    outcomes.into_iter().flatten().collect()
}

#[test]
fn a_payload_of_wrong_types_is_named_and_nothing_panics() {
    let nested = value(Kind::StructValue(Struct { fields: HashMap::new() }));
    let wrong = [
        value(Kind::NullValue(0)),
        value(Kind::DoubleValue(f64::NAN)),
        value(Kind::IntegerValue(-1)),
        value(Kind::BoolValue(true)),
        value(Kind::ListValue(ListValue { values: vec![nested.clone()] })),
        nested,
        Value { kind: None },
    ];
    let place = Place::any();
    let collection = place.open();
    for field in ["document", "revision", "ordinal", "start", "end", "heading_path", "text", "tokens"] {
        let cases = wrong.iter().cloned().map(Some).chain([None]);
        for (i, case) in cases.enumerate() {
            let mut payload = payload();
            match case {
                Some(value) => drop(payload.insert(field.to_owned(), value)),
                None => drop(payload.remove(field)),
            }
            store(&place, point_id::PointIdOptions::Uuid(ID.into()), payload, vector("the moon"));
            let errors = readings(&collection);
            // Where the field is filtered by, such a point is not found at all.
            assert!(errors.len() >= 3, "{field} {i}: {errors:?}");
            for error in errors {
                let said = error.to_string();
                assert!(matches!(error, Error::NotAChunk { .. }), "{said}");
                assert!(said.contains(field) && said.contains(ID) && !said.contains('\n'), "{field} {i}: {said}");
                assert!(said.contains(&format!("`{}", collection.name())), "{said}");
            }
        }
    }
}

#[test]
fn what_contradicts_itself_is_named() {
    let place = Place::any();
    let collection = place.open();
    let mut backwards = payload();
    backwards.insert("start".into(), value(Kind::IntegerValue(i64::MAX)));
    store(&place, point_id::PointIdOptions::Uuid(ID.into()), backwards, vector("the moon"));
    for error in readings(&collection) {
        assert!(error.to_string().contains("before it begins"), "{error}");
    }
    // Huge places and lengths are only numbers.
    let mut huge = payload();
    for field in ["start", "end", "ordinal", "tokens", "chunks"] {
        huge.insert(field.into(), value(Kind::IntegerValue(i64::MAX)));
    }
    store(&place, point_id::PointIdOptions::Uuid(ID.into()), huge, vector("the moon"));
    let hit = &collection.search(&asking(Mode::Dense)).unwrap()[0];
    assert_eq!(collection.neighbours(&[hit.ranked()], usize::MAX).unwrap()[0][0].chunk, hit.chunk);
    assert_eq!(collection.documents().unwrap()["a.md"].found, 1);
}

#[test]
fn points_of_others_are_named_where_they_are_met() {
    let place = Place::any();
    let collection = place.open();
    store(&place, point_id::PointIdOptions::Num(7), payload(), vector("the moon"));
    let said = collection.search(&asking(Mode::Dense)).unwrap_err().to_string();
    assert!(said.contains("the point 7 of") && said.contains("no UUID") && said.contains("--rebuild"), "{said}");
    assert!(matches!(collection.rank(&asking(Mode::Bm25)), Err(Error::NotAChunk { .. })));
    assert!(matches!(collection.points_of("a.md"), Err(Error::NotAChunk { .. })));
    store(&place, point_id::PointIdOptions::Uuid(ID.into()), HashMap::new(), vector("the moon"));
    assert!(collection.documents().unwrap_err().to_string().contains("`document` is missing"));
    // A rebuild mends it.
    let corpus = corpus(3);
    let rebuild = pericope_qdrant::Rebuild::begin(&place.target(), &crate::common::record()).unwrap();
    let mut writer = rebuild.collection().writer();
    for (document, texts) in &corpus {
        writer.replace(document, "r1", points(document, "r1", texts)).unwrap();
    }
    writer.flush().unwrap();
    rebuild.publish(true).unwrap();
    assert_eq!(contents(&Collection::open(&place.target()).unwrap()), expected(&corpus, "r1"));
}

#[test]
fn scores_and_vectors_that_are_no_numbers_are_refused() {
    for broken in [f32::NAN, f32::INFINITY] {
        // A real server may refuse to keep such vectors.
        let place = Place::in_memory();
        let collection = place.open();
        store(&place, point_id::PointIdOptions::Uuid(ID.into()), payload(), vec![broken; DIMENSION]);
        for outcome in
            [collection.search(&asking(Mode::Dense)).map(drop), collection.rank(&asking(Mode::Dense)).map(drop)]
        {
            let said = outcome.unwrap_err().to_string();
            assert!(said.starts_with("searching: 127.0.0.1:") && said.contains("a score is NaN"), "{said}");
        }
        let said = collection.vectors(&[ID.parse().unwrap()]).unwrap_err().to_string();
        assert!(said.contains("finite numbers"), "{said}");
    }
}

#[test]
fn a_listing_that_goes_in_circles_ends() {
    let mut place = Place::in_memory();
    let collection = load(&place.target(), &corpus(5), WHOLE).unwrap();
    place.server().list_in_circles();
    let said = collection.documents().unwrap_err().to_string();
    assert!(said.contains("lists the same page again"), "{said}");
}

#[test]
fn messages_are_bounded_both_ways() {
    let place = Place::in_memory();
    let limit = 32 << 10;
    let target = place.target_with("message_bytes", &limit.to_string());
    // 200 chunks of 2 kB: listing them all takes many messages, and so does searching them.
    let texts: Vec<String> = (0..200).map(|i| format!("moon {i} {}", "word ".repeat(400))).collect();
    let corpus = std::collections::BTreeMap::from([("a.md".to_owned(), texts)]);
    let collection = load(&target, &corpus, WHOLE).unwrap();
    assert!(place.server.as_ref().unwrap().counts().most_bytes <= limit);
    assert_eq!(contents(&collection), expected(&corpus, "r1"));
    let ids: Vec<_> = collection.points_of("a.md").unwrap();
    assert_eq!(collection.chunks(&ids).unwrap().len(), 200);
    assert_eq!(collection.vectors(&ids).unwrap().len(), 200);
    let mut all = asking(Mode::Bm25);
    all.k = 100;
    let found = collection.search(&all).unwrap();
    let unbounded = Collection::open(&place.target()).unwrap().search(&all).unwrap();
    assert_eq!((found.len(), &found), (100, &unbounded));
    // What no smaller page helps with is an error that says what to do.
    all.k = 1000;
    let many: Vec<String> = (0..1000).map(|i| format!("moon {i}")).collect();
    let mut writer = collection.writer();
    writer.replace("b.md", "r1", points("b.md", "r1", &many)).unwrap();
    writer.flush().unwrap();
    let error = collection.rank(&all).unwrap_err();
    assert!(matches!(error, Error::TooLarge { .. }), "{error}");
    assert!(error.to_string().contains("larger than 32768 bytes") && error.to_string().contains("message_bytes"));
    // What could not come back is not sent.
    let mut writer = collection.writer();
    let error = writer.replace("c.md", "r1", points("c.md", "r1", &["x".repeat(limit)])).unwrap_err();
    assert!(error.to_string().contains("chunk 0 of `c.md`") && error.to_string().contains("message_bytes"), "{error}");
}
