//! What whoever waits is told.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pericope_qdrant::{Collection, Error, Listener, Notice, Target};
use pericope_testkit::qdrant::{Call, Fault};

use crate::common::{Place, record};

fn listening(target: &mut Target) -> Arc<Mutex<Vec<Notice>>> {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let list = Arc::clone(&heard);
    target.listener = Listener::new(move |notice| list.lock().unwrap().push(notice.clone()));
    heard
}

#[test]
fn waits_that_a_server_asks_for_are_told_and_bounded_together() {
    let mut place = Place::in_memory();
    let mut target = place.target_with("max_wait", "3");
    let heard = listening(&mut target);
    let collection = Collection::open_or_create(&target, &record()).unwrap();
    assert!(heard.lock().unwrap().is_empty());
    // Short ones pass without a word.
    place.server().fail(Call::Count, Fault::Busy(Duration::from_millis(20)), 2);
    collection.count().unwrap();
    assert!(heard.lock().unwrap().is_empty());
    place.server().fail(Call::Count, Fault::Busy(Duration::from_secs(2)), 1000);
    let started = Instant::now();
    let error = collection.count().unwrap_err();
    assert!(matches!(error, Error::GaveUp { attempts: 2, .. }), "{error}");
    assert!(error.to_string().contains("too busy") && error.to_string().contains("max_wait = 3 s"), "{error}");
    assert!(started.elapsed() >= Duration::from_secs(2));
    let told: Vec<String> = heard.lock().unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("counting the chunks failed at 127.0.0.1:"), "{told:?}");
    assert!(told[0].contains("too busy") && told[0].ends_with("attempt 2 of 9 in 2 s"), "{told:?}");
    // One that is asked for longer than that is not begun.
    place.server().mend();
    place.server().fail(Call::Count, Fault::Busy(Duration::from_secs(100_000)), 1);
    assert!(matches!(collection.count(), Err(Error::GaveUp { attempts: 1, .. })));
    assert_eq!(heard.lock().unwrap().len(), 1);
}

#[test]
fn a_key_in_plain_text_is_told() {
    let told = |host: &str, key: Option<&str>| {
        let url = format!("qdrant://{host}:1/docs?retries=0&connect_timeout=0.05&timeout=0.05");
        let mut target = Target::parse_with_key(&url, key.map(str::to_owned)).unwrap();
        let heard = listening(&mut target);
        assert!(Collection::open(&target).is_err());
        let heard: Vec<String> = heard.lock().unwrap().iter().map(ToString::to_string).collect();
        heard.concat()
    };
    // An address for documentation, where nobody answers.
    let warning = told("192.0.2.1", Some("sesame"));
    assert!(warning.contains("192.0.2.1:1 as plain text") && warning.contains("qdrants://"), "{warning}");
    assert!(!warning.contains("sesame"));
    assert_eq!(told("192.0.2.1", None), "");
    assert_eq!(told("127.0.0.1", Some("sesame")), "");
}

#[test]
fn who_waits_at_a_terminal_is_not_kept_where_nobody_listens() {
    // A port that was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("qdrant://127.0.0.1:{port}/docs?max_refused=0.3&backoff=0.2&retries=1000");
    let started = Instant::now();
    let error = Collection::open(&Target::parse(&url).unwrap()).err().unwrap().to_string();
    assert!(error.contains("the waits would exceed max_refused = 0.3 s"), "{error}");
    assert!(started.elapsed() < Duration::from_secs(10));
}
