use std::time::Duration;

use pericope_qdrant::Collection;
use pericope_testkit::qdrant::{Call, Fault};

use crate::common::{Place, WHOLE, contents, corpus, expected, load, points, record};

#[test]
fn no_more_batches_are_under_way_than_allowed() {
    for in_flight in [1, 3] {
        let mut place = Place::in_memory();
        place.server().fail(Call::Upsert, Fault::Slow(Duration::from_millis(10)), 1000);
        let mut target = place.target_with("in_flight", &in_flight.to_string());
        target.settings.set("batch_points", "5").unwrap();
        let corpus = corpus(60);
        let collection = load(&target, &corpus, WHOLE).unwrap();
        let counts = place.server().counts();
        assert_eq!(counts.most_upserts_at_once, in_flight);
        assert_eq!(counts.most_points, 5);
        assert_eq!(contents(&collection), expected(&corpus, "r1"));
    }
}

/// What the writer takes while the server does not answer is bounded: it waits instead.
#[test]
fn a_writer_waits_for_a_slow_server() {
    let mut place = Place::in_memory();
    let mut target = place.target_with("in_flight", "2");
    target.settings.set("batch_points", "4").unwrap();
    let collection = Collection::open_or_create(&target, &record()).unwrap();
    place.server().fail(Call::Upsert, Fault::Slow(Duration::from_millis(400)), 2);
    let texts: Vec<String> = (0..40).map(|i| format!("chunk number {i}")).collect();
    let (sender, receiver) = std::sync::mpsc::channel();
    let worker = std::thread::spawn(move || {
        let mut writer = collection.writer();
        for point in points("a.md", "r1", &texts) {
            writer.upsert([point]).unwrap();
            sender.send(()).unwrap();
        }
        writer.flush().unwrap();
        collection
    });
    let deadline = std::time::Instant::now() + Duration::from_millis(250);
    let mut taken = 0;
    while let Ok(()) = receiver.recv_timeout(deadline.saturating_duration_since(std::time::Instant::now())) {
        taken += 1;
    }
    // Two batches of four under way, and a third that is full.
    assert!(taken <= 12, "{taken} chunks were taken while none was acknowledged");
    let collection = worker.join().unwrap();
    assert_eq!(collection.count().unwrap(), 40);
}

#[test]
fn batches_are_bounded_in_bytes_too() {
    let mut place = Place::in_memory();
    let target = place.target_with("batch_bytes", "4096");
    let collection = Collection::open_or_create(&target, &record()).unwrap();
    let mut writer = collection.writer();
    let texts: Vec<String> = (0..100).map(|i| format!("{i} {}", "word ".repeat(i % 7 * 20))).collect();
    writer.replace("a.md", "r1", points("a.md", "r1", &texts)).unwrap();
    writer.flush().unwrap();
    let counts = place.server().counts();
    // The collection's name and the flags of the request come on top.
    assert!(counts.most_bytes <= 4096 + 64, "{counts:?}");
    assert!(counts.most_bytes > 3000 && counts.most_points > 1, "{counts:?}");
    let written = writer.written();
    assert_eq!((written.points, written.batches), (100, counts.calls[&Call::Upsert]));

    // A chunk that is larger than any batch travels alone.
    writer.replace("b.md", "r1", points("b.md", "r1", &["large ".repeat(10_000), "small".to_owned()])).unwrap();
    writer.flush().unwrap();
    assert_eq!(collection.chunks_of("b.md").unwrap()[0].chunk.text.len(), 60_000);
    assert_eq!(collection.count().unwrap(), 102);
}
