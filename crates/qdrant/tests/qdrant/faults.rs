use std::time::{Duration, Instant};

use pericope_qdrant::{Collection, Error, Target};
use pericope_testkit::qdrant::{Call, Fault, Options, Server};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use tonic::Code;

use crate::common::{Place, WHOLE, contents, corpus, expected, load, points, record};

const FAULTS: &[Fault] = &[
    Fault::Code(Code::Unavailable),
    Fault::Code(Code::DeadlineExceeded),
    Fault::Code(Code::ResourceExhausted),
    Fault::Code(Code::Aborted),
    Fault::Code(Code::Internal),
    Fault::Half,
    Fault::Lost,
    Fault::Reset,
    Fault::ResetAfter,
    Fault::Slow(Duration::from_millis(30)),
];

/// Small batches, so that there are many.
fn many_batches(place: &Place) -> Target {
    place.target_with("batch_points", "7")
}

#[test]
fn no_fault_loses_or_doubles_a_chunk() {
    let clean = Place::in_memory();
    let corpus = corpus(30);
    load(&many_batches(&clean), &corpus, WHOLE).unwrap();
    let wanted = clean.server.as_ref().unwrap().points("docs");
    assert_eq!(wanted.len(), expected(&corpus, "r1").len());
    for &fault in FAULTS {
        for call in [Call::Upsert, Call::Delete, Call::Scroll, Call::Info, Call::ListAliases] {
            let mut place = Place::in_memory();
            // Something to sweep, and half a document to mend.
            let old = place.open();
            let mut writer = old.writer();
            for document in corpus.keys().take(10) {
                writer.upsert(points(document, "r0", &["old text".to_owned(), "and more".to_owned()])).unwrap();
            }
            writer.flush().unwrap();
            place.server().fail(call, fault, 3);
            load(&many_batches(&place), &corpus, WHOLE).unwrap();
            assert_eq!(place.server().points("docs"), wanted, "{call:?} {fault:?}");
            assert!(place.server().faults_left() < 3, "{call:?} was not made");
        }
    }
}

#[test]
fn a_collection_is_made_once_whatever_happens_to_the_calls() {
    for &fault in FAULTS {
        for call in [Call::CreateCollection, Call::CreateIndex, Call::ChangeAliases, Call::ListAliases, Call::Info] {
            let mut place = Place::in_memory();
            place.server().fail(call, fault, 2);
            let collection = place.open();
            assert_eq!(collection.pinned(), "docs-1", "{call:?} {fault:?}");
            assert_eq!(place.server().collections(), ["docs-1"]);
            // A slow call is made once, the others until they succeed.
            assert!(place.server().faults_left() < 2);
            // The indexes are there: filters would be refused without them.
            assert_eq!(collection.chunks_of("a.md").unwrap(), []);
        }
    }
}

/// Any mixture of faults on any calls, forty times over.
#[test]
fn chaos_ends_in_the_clean_result() {
    let corpus = corpus(40);
    let wanted = expected(&corpus, "r1");
    for seed in 0..40 {
        let mut random = StdRng::seed_from_u64(seed);
        let mut place = Place::in_memory();
        let calls = [Call::Upsert, Call::Upsert, Call::Delete, Call::Scroll, Call::CreateIndex, Call::ChangeAliases];
        for _ in 0..25 {
            let fault = FAULTS[random.random_range(0..FAULTS.len())];
            place.server().fail(calls[random.random_range(0..calls.len())], fault, random.random_range(1..3));
        }
        let mut target = many_batches(&place);
        // So many faults may meet one call that it gives up: then it is run again, as a user would.
        target.settings.set("retries", "4").unwrap();
        let collection = (0..50).find_map(|_| load(&target, &corpus, WHOLE).ok()).expect("it never ended");
        place.server().mend();
        assert_eq!(contents(&collection), wanted, "seed {seed}");
        assert_eq!(place.server().points("docs").len(), wanted.len());
    }
}

#[test]
fn a_server_that_stays_down_ends_the_run_and_the_next_one_goes_on() {
    let mut place = Place::in_memory();
    let corpus = corpus(50);
    let mut target = many_batches(&place);
    target.settings.set("retries", "3").unwrap();
    let collection = Collection::open_or_create(&target, &record()).unwrap();
    let mut writer = collection.writer();
    let mut documents = corpus.iter();
    for (document, texts) in documents.by_ref().take(30) {
        writer.replace(document, "r1", points(document, "r1", texts)).unwrap();
    }
    writer.flush().unwrap();
    place.server().stop();
    let mut outcome = Ok(());
    for (document, texts) in documents {
        outcome = writer.replace(document, "r1", points(document, "r1", texts));
        if outcome.is_err() {
            break;
        }
    }
    let error = outcome.and_then(|()| writer.flush()).unwrap_err();
    let message = error.to_string();
    assert!(matches!(error, Error::GaveUp { attempts: 4, .. }), "{message}");
    let start = format!("storing chunks failed 4 times at {}: ", place.server().address());
    assert!(message.starts_with(&start), "{message}");
    assert!(message.ends_with("Run it again when it is: it goes on where it stopped"), "{message}");
    assert!(!message.contains('\n'));
    assert!(matches!(writer.flush(), Err(Error::Poisoned)));
    // Opening it says the same, with the call that failed.
    let message = load(&target, &corpus, WHOLE).unwrap_err().to_string();
    assert!(message.starts_with("listing the aliases failed 4 times"), "{message}");

    place.server().restart().unwrap();
    let before = place.server().points("docs").len();
    let collection = load(&target, &corpus, WHOLE).unwrap();
    assert_eq!(contents(&collection), expected(&corpus, "r1"));
    let counts = place.server().counts();
    assert!(before >= 100 && before < contents(&collection).len(), "{before} {counts:?}");
}

#[test]
fn a_second_run_stores_only_what_the_first_did_not() {
    let mut place = Place::in_memory();
    let corpus = corpus(50);
    load(&place.target(), &corpus, WHOLE).unwrap();
    let upserts = |place: &mut Place| place.server().counts().calls[&Call::Upsert];
    let first = upserts(&mut place);
    load(&place.target(), &corpus, WHOLE).unwrap();
    assert_eq!(upserts(&mut place), first);
}

#[test]
fn a_server_that_comes_back_is_used_again() {
    let mut place = Place::in_memory();
    let corpus = corpus(30);
    let mut target = many_batches(&place);
    target.settings.set("retries", "200").unwrap();
    let collection = Collection::open_or_create(&target, &record()).unwrap();
    let server = place.server();
    let loaded = std::thread::scope(|scope| {
        let worker = scope.spawn(|| load(&target, &corpus, WHOLE));
        for _ in 0..3 {
            std::thread::sleep(Duration::from_millis(20));
            server.stop();
            std::thread::sleep(Duration::from_millis(50));
            server.restart().unwrap();
        }
        worker.join().unwrap()
    });
    loaded.unwrap();
    assert_eq!(contents(&collection), expected(&corpus, "r1"));
}

#[test]
fn a_call_that_takes_too_long_is_made_again() {
    let mut place = Place::in_memory();
    let collection = Collection::open_or_create(&place.target_with("timeout", "0.2"), &record()).unwrap();
    let started = Instant::now();
    place.server().fail(Call::Count, Fault::Slow(Duration::from_secs(30)), 1);
    assert_eq!(collection.count().unwrap(), 0);
    assert!((0.2..10.0).contains(&started.elapsed().as_secs_f64()));
    assert_eq!(place.server().counts().calls[&Call::Count], 2);
    place.server().fail(Call::Count, Fault::Slow(Duration::from_secs(30)), 100);
    let mut target = place.target_with("timeout", "0.05");
    target.settings.set("retries", "2").unwrap();
    let message = Collection::open(&target).unwrap().count().unwrap_err().to_string();
    assert!(message.contains("failed 3 times") && message.contains("no answer in 0.05 s"), "{message}");
}

#[test]
fn what_is_refused_is_not_asked_twice() {
    let mut place = Place::in_memory();
    let collection = place.open();
    for code in [Code::InvalidArgument, Code::NotFound, Code::FailedPrecondition, Code::Unimplemented] {
        let before = place.server().counts().calls.get(&Call::Count).copied().unwrap_or(0);
        place.server().fail(Call::Count, Fault::Code(code), 1);
        let error = collection.count().unwrap_err();
        assert!(matches!(error, Error::Refused { call: "counting the chunks", .. }), "{error}");
        assert_eq!(place.server().counts().calls[&Call::Count], before + 1);
    }
    for code in [Code::Unauthenticated, Code::PermissionDenied] {
        place.server().fail(Call::Count, Fault::Code(code), 1);
        assert!(matches!(collection.count().unwrap_err(), Error::Key { given: false, .. }));
    }
}

#[test]
fn only_the_right_key_opens() {
    let server = Server::start_with(Options { key: Some("sesame".into()), ..Options::default() }).unwrap();
    let open = |key: Option<&str>| {
        let target = Target::parse_with_key(&server.url("docs"), key.map(str::to_owned)).unwrap();
        Collection::open_or_create(&target, &record())
    };
    let message = open(None).unwrap_err().to_string();
    assert!(message.contains("does not accept a call without an API key"), "{message}");
    assert!(message.ends_with("set PERICOPE_QDRANT_API_KEY or QDRANT_API_KEY"), "{message}");
    let message = open(Some("guess")).unwrap_err().to_string();
    assert!(message.contains("does not accept the API key") && !message.contains("guess"), "{message}");
    open(Some("sesame")).unwrap();
    assert_eq!(server.collections(), ["docs-1"]);
}

#[test]
fn works_on_a_thread_of_an_asynchronous_program() {
    let place = Place::in_memory();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let count = runtime.block_on(async {
        let collection = load(&place.target(), &corpus(3), WHOLE).unwrap();
        collection.count().unwrap()
    });
    assert_eq!(count, expected(&corpus(3), "r1").len() as u64);
}
