use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pericope_llm::{Cache, LlmError, LlmJudge, Shared, map_concurrent};
use pericope_testkit::llm::{Act, Seen, Server};

use crate::support::{Bench, always, answer, config, first, item, judges, score, shared, verdict};

const ITEMS: usize = 200;
const CHUNKS: [&str; 5] = ["one", "two", "three", "four", "five"];

/// What goes wrong with an item, by its number: the judge's call, but for the kinds of the generator.
fn plan(seen: &Seen) -> Act {
    let item = item(seen);
    if !judges(seen) {
        return match item % 17 {
            // Four excerpts are too many.
            14 if seen.prompt.contains("[begin excerpt 4 ") => Act::TooLong,
            15 => first(seen, Act::Status(503)),
            _ => Act::Answer,
        };
    }
    match item % 17 {
        1 => first(seen, Act::RetryAfter("0".into())),
        2 => first(seen, Act::Status(500)),
        // Longer than the client waits.
        3 if item == 3 || item == 105 => first(seen, Act::Slow(Duration::from_secs(20))),
        4 => first(seen, Act::Cut),
        5 => first(seen, Act::Text("{\"reason\": \"bad, \"score\": }".into())),
        6 => Act::Fence,
        7 => Act::Text(format!("{{\"score\": \"{}/10\", \"reason\": \"r\",}}", score(item))),
        8 => first(seen, Act::Text(verdict(11))),
        9 => Act::Refuse,
        10 => Act::Empty,
        11 => first(seen, Act::Truncated),
        12 => first(seen, Act::Garbage),
        13 => first(seen, Act::Text("A fine answer, nearly perfect.".into())),
        15 => first(seen, Act::Status(409)),
        16 => Act::Text("Eight or so.".into()),
        _ => Act::Answer,
    }
}

/// Calls that an item needs, and its score or the word for its failure.
fn expected(item: usize) -> (usize, Result<u8, &'static str>) {
    let good = Ok(score(item));
    match item % 17 {
        1 | 2 | 4 | 5 | 8 | 11 | 12 | 13 => (3, good),
        3 if item == 3 || item == 105 => (3, good),
        9 => (2, Err("refused")),
        10 => (2, Err("empty")),
        // Five and four excerpts were too many; three fit.
        14 => (4, good),
        15 => (4, good),
        16 => (3, Err("invalid")),
        _ => (2, good),
    }
}

#[test]
fn two_hundred_items_through_everything_that_can_go_wrong() {
    let server = Server::start(answer, plan).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache.sqlite");
    let mut settings = config(&server.base_url());
    settings.concurrency = 8;
    settings.timeout_seconds = 8.0;
    let items: Vec<usize> = (0..ITEMS).collect();
    let check = |bench: &Bench| {
        let done = map_concurrent(8, &items, |_, item| bench.item(*item, &CHUNKS));
        assert!(done.stopped.is_none(), "{:?}", done.stopped);
        for (item, result) in items.iter().zip(done.results) {
            match (expected(*item).1, result.unwrap()) {
                (Ok(score), Ok((found, dropped))) => {
                    assert_eq!(found, f64::from(score), "item {item}");
                    assert_eq!(dropped, if item % 17 == 14 { 2 } else { 0 }, "item {item}");
                }
                (Err(status), Err(error)) => assert_eq!(error.status(), status, "item {item}: {error}"),
                (expected, found) => panic!("item {item}: {found:?}, expected {expected:?}"),
            }
        }
    };
    check(&Bench::new(&settings, &shared(Cache::open(&path).unwrap())));
    let calls: usize = items.iter().map(|item| expected(*item).0).sum();
    assert_eq!(server.calls(), calls);
    assert!(server.most_at_once() <= 8, "{}", server.most_at_once());

    // Again: every answer is known, and so is what did not fit and what failed.
    check(&Bench::new(&settings, &shared(Cache::open(&path).unwrap())));
    assert_eq!(server.calls(), calls);

    // And without a server.
    drop(server);
    let offline = Shared { offline: true, ..shared(Cache::open(&path).unwrap()) };
    let bench = Bench::new(&settings, &offline);
    check(&bench);
    assert!(matches!(bench.item(ITEMS, &CHUNKS), Err(LlmError::NotCached)));
}

#[test]
fn a_run_that_stops_in_the_middle_goes_on_where_it_stopped() {
    let server = Server::start(answer, always(Act::Answer)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache.sqlite");
    let settings = config(&server.base_url());
    let items: Vec<usize> = (0..50).collect();
    let done = AtomicUsize::new(0);
    let half = {
        let bench = Bench::new(&settings, &shared(Cache::open(&path).unwrap()));
        map_concurrent(4, &items, |_, item| {
            if done.fetch_add(1, Ordering::SeqCst) >= 20 {
                return Err(LlmError::Config("enough".into()));
            }
            bench.item(*item, &CHUNKS)
        })
    };
    assert!(half.stopped.is_some());
    assert_eq!(half.results.iter().flatten().count(), 20);
    assert_eq!(server.calls(), 40);
    let bench = Bench::new(&settings, &shared(Cache::open(&path).unwrap()));
    let whole = map_concurrent(4, &items, |_, item| bench.item(*item, &CHUNKS));
    assert!(whole.results.into_iter().all(|result| result.is_some_and(|r| r.is_ok())));
    assert_eq!(server.calls(), 100);
    assert_eq!(bench.generator.client().total().cached, 40);
}

#[test]
fn the_same_question_asked_by_many_at_once_is_asked_once() {
    let slow = |_: &Seen| Act::Slow(Duration::from_millis(100));
    let server = Server::start(|_| "the same".into(), slow).unwrap();
    let client = crate::support::client(&server);
    let request = crate::support::plain("hello");
    let all = map_concurrent(16, &[(); 16], |_, ()| client.complete(&request));
    assert!(all.results.iter().all(|r| matches!(r, Some(Ok(a)) if a.reply.text == "the same")));
    assert_eq!(server.calls(), 1);
    let total = client.total();
    assert_eq!((total.calls, total.cached), (16, 15));
}

#[test]
fn votes_are_asked_for_one_by_one() {
    // The seed decides.
    let server = Server::start(
        |seen| verdict(u8::try_from(seen.body["seed"].as_u64().unwrap() % 11).unwrap()),
        |seen| if seen.body["seed"] == 10 { Act::Refuse } else { Act::Answer },
    )
    .unwrap();
    let settings = config(&server.base_url());
    let shared = Shared::in_memory().unwrap();
    let judge = LlmJudge::from_config(&settings, 5, &shared).unwrap();
    let found = judge.judge("q", "gold", "answer").unwrap();
    // Seeds 7, 8, 9, 10 (refused), 11.
    let scores: Vec<u8> = found.votes.iter().map(|vote| vote.score).collect();
    assert_eq!(scores, [7, 8, 9, 0]);
    assert_eq!((found.mean, found.failed.len()), (6.0, 1));
    let expected = (1.0 + 4.0 + 9.0 + 36.0) / 3.0;
    assert!((found.variance.unwrap() - expected).abs() < 1e-12);
    assert_eq!(server.calls(), 5);
}

#[test]
fn faithfulness_and_relevance() {
    let server = Server::start(
        |seen| {
            if seen.prompt.contains("Split the answer") {
                r#"{"claims": [{"claim": "a", "supported": true}, {"claim": "b", "supported": false}]}"#.into()
            } else if seen.before == 0 {
                // The second excerpt is forgotten at first.
                r#"{"excerpts": [{"number": 1, "relevant": true}]}"#.into()
            } else {
                r#"{"excerpts": [{"number": 1, "relevant": true}, {"number": 2, "relevant": "no"}]}"#.into()
            }
        },
        always(Act::Answer),
    )
    .unwrap();
    let shared = Shared::in_memory().unwrap();
    let judge = LlmJudge::from_config(&config(&server.base_url()), 1, &shared).unwrap();
    let faithful = judge.faithfulness("a and b", &["a"]).unwrap();
    assert_eq!((faithful.share, faithful.statements.len()), (Some(0.5), 2));
    let relevant = judge.relevance("q", &["x", "y"]).unwrap();
    assert_eq!((relevant.relevant, relevant.share), (vec![true, false], Some(0.5)));
    assert_eq!(judge.relevance("q", &[]).unwrap().share, None);
    assert_eq!(server.calls(), 3);
}
