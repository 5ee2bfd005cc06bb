//! Several rebuilds that are published at the same time. Faults decide who is first.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use pericope_qdrant::{Collection, Error, Rebuild, Record, Target};
use pericope_testkit::qdrant::{Call, Fault};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use crate::common::{Place, WHOLE, contents, corpus, expected, load, points, record};

/// Another record for each rebuild, so that none takes up another's.
fn numbered(number: u64) -> Record {
    Record { segmenter: format!("sentence {number}"), ..record() }
}

fn begun(target: &Target, number: u64) -> Rebuild {
    let rebuild = Rebuild::begin(target, &numbered(number)).unwrap();
    assert_eq!(rebuild.collection().pinned(), format!("docs-{number}"));
    let mut writer = rebuild.collection().writer();
    for (document, texts) in corpus(3) {
        let revision = format!("r{number}");
        writer.replace(&document, &revision, points(&document, &revision, &texts)).unwrap();
    }
    writer.flush().unwrap();
    rebuild
}

#[test]
fn the_older_of_two_is_refused_wherever_the_newer_comes_in_between() {
    for drop_old in [false, true] {
        // The older one has looked at the aliases, or has just sent its request.
        for call in [Call::ListAliases, Call::ChangeAliases] {
            let mut place = Place::in_memory();
            load(&place.target(), &corpus(3), WHOLE).unwrap();
            let (older, newer) = (begun(&place.target(), 2), begun(&place.target(), 3));
            let fault = match call {
                Call::ListAliases => Fault::Late(Duration::from_millis(400)),
                _ => Fault::Slow(Duration::from_millis(400)),
            };
            place.server().fail(call, fault, 1);
            let outcome = thread::scope(|scope| {
                let late = scope.spawn(move || older.publish(drop_old).map(drop));
                thread::sleep(Duration::from_millis(150));
                newer.publish(drop_old).unwrap();
                late.join().unwrap()
            });
            let error = outcome.unwrap_err();
            let fits = matches!(error, Error::Superseded { .. } | Error::Gone { .. });
            assert!(fits, "{call:?} {drop_old}: {error}");
            assert!(error.to_string().contains("docs-2") && !error.to_string().contains('\n'), "{error}");
            assert_eq!(place.server().aliases()["docs"], "docs-3", "{call:?} {drop_old}");
            assert_eq!(contents(&Collection::open(&place.target()).unwrap()), expected(&corpus(3), "r3"));
            let left: &[&str] = if drop_old { &["docs-3"] } else { &["docs-1", "docs-2", "docs-3"] };
            assert_eq!(place.server().collections(), left);
        }
    }
}

#[test]
fn the_newer_of_two_replaces_the_older_that_came_first() {
    let mut place = Place::in_memory();
    load(&place.target(), &corpus(3), WHOLE).unwrap();
    let (older, newer) = (begun(&place.target(), 2), begun(&place.target(), 3));
    // The newer one has looked, and sees the first; then the older one is published.
    place.server().fail(Call::ListAliases, Fault::Late(Duration::from_millis(400)), 1);
    thread::scope(|scope| {
        let late = scope.spawn(move || newer.publish(true).map(drop));
        thread::sleep(Duration::from_millis(150));
        older.publish(true).unwrap();
        assert_eq!(place.server.as_ref().unwrap().aliases()["docs"], "docs-2");
        late.join().unwrap()
    })
    .unwrap();
    assert_eq!(place.server().collections(), ["docs-3"]);
    assert_eq!(contents(&Collection::open(&place.target()).unwrap()), expected(&corpus(3), "r3"));
}

/// Many at once, with faults: the newest that was told that it is published is what searches find.
#[test]
fn the_newest_of_many_stays() {
    for seed in 0..12 {
        let mut random = StdRng::seed_from_u64(seed);
        let mut place = Place::in_memory();
        load(&place.target(), &corpus(3), WHOLE).unwrap();
        let rebuilds: Vec<Rebuild> = (2..7).map(|number| begun(&place.target(), number)).collect();
        for _ in 0..random.random_range(0..6) {
            let fault = [Fault::Half, Fault::Lost, Fault::ResetAfter, Fault::Slow(Duration::from_millis(5))];
            place.server().fail_after(Call::ChangeAliases, fault[random.random_range(0..4)], random.random_range(0..3));
        }
        let (drop_old, newest) = (seed % 2 == 0, AtomicU64::new(0));
        thread::scope(|scope| {
            for (number, rebuild) in (2..).zip(rebuilds) {
                let (pause, newest) = (Duration::from_micros(random.random_range(0..8000)), &newest);
                scope.spawn(move || {
                    thread::sleep(pause);
                    match rebuild.publish(drop_old) {
                        Ok(_) => drop(newest.fetch_max(number, Ordering::Relaxed)),
                        Err(Error::Superseded { .. } | Error::Gone { .. }) => {}
                        Err(error) => panic!("seed {seed}, {number}: {error}"),
                    }
                });
            }
        });
        let newest = newest.into_inner();
        assert_eq!(newest, 6, "nothing is newer than the last");
        assert_eq!(place.server().aliases()["docs"], "docs-6", "seed {seed}");
        assert_eq!(contents(&Collection::open(&place.target()).unwrap()), expected(&corpus(3), "r6"), "seed {seed}");
    }
}

#[test]
fn a_switch_that_stops_halfway_loses_no_alias() {
    let mut place = Place::in_memory();
    load(&place.target(), &corpus(3), WHOLE).unwrap();
    drop(begun(&place.target(), 2));
    // The request is done by its first half, and nobody asks again.
    let rebuild = Rebuild::begin(&place.target_with("retries", "0"), &numbered(2)).unwrap();
    place.server().fail(Call::ChangeAliases, Fault::Half, 1);
    assert!(matches!(rebuild.publish(true), Err(Error::GaveUp { .. })));
    assert!(!place.server().aliases().contains_key("docs-1-published"), "half of it was done");
    assert_eq!(place.server().aliases()["docs"], "docs-1");
    assert_eq!(contents(&Collection::open(&place.target()).unwrap()), expected(&corpus(3), "r1"));
    Rebuild::begin(&place.target(), &numbered(2)).unwrap().publish(true).unwrap();
    assert_eq!(contents(&Collection::open(&place.target()).unwrap()), expected(&corpus(3), "r2"));
    assert_eq!(place.server().collections(), ["docs-2"]);
}
