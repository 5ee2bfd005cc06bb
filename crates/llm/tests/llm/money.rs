use std::sync::Arc;

use pericope_llm::config::Price;
use pericope_llm::{Budget, Cache, Client, LlmError, Shared, map_concurrent};
use pericope_testkit::llm::{Act, Server};

use crate::support::{always, config, plain};

#[test]
fn a_budget_stops_the_run_before_it_is_overspent() {
    // Every answer has two words, which the server counts as tokens; a token written costs 1.
    let server = Server::start(|_| "two words".into(), always(Act::Answer)).unwrap();
    let mut settings = config(&server.base_url());
    settings.price = Some(Price { input: 0.0, output: 1e6 });
    let cache = Arc::new(Cache::in_memory().unwrap());
    let with = |limit: f64| Shared { cache: cache.clone(), budget: Arc::new(Budget::new(Some(limit))), offline: false };
    let items: Vec<String> = (0..40).map(|i| format!("item {i}")).collect();

    let shared = with(90.0);
    let client = Client::from_config(&settings, &shared).unwrap();
    // A request may cost 50. After 20 answers 40 are spent, and 50 more are allowed; after 21, they are not.
    let done = map_concurrent(1, &items, |_, item| client.complete(&plain(item)));
    assert!(matches!(done.stopped, Some(LlmError::Budget { .. })), "{:?}", done.stopped);
    assert_eq!((server.calls(), shared.budget.spent(), client.total().paid), (21, 42.0, 42.0));

    // With more money it goes on, and what is known costs nothing.
    let shared = with(90.0);
    let client = Client::from_config(&settings, &shared).unwrap();
    let done = map_concurrent(1, &items, |_, item| client.complete(&plain(item)));
    assert!(done.stopped.is_none() && done.results.iter().all(|r| matches!(r, Some(Ok(_)))));
    let total = client.total();
    assert_eq!((server.calls(), shared.budget.spent()), (40, 38.0));
    assert_eq!((total.calls, total.cached, total.paid, total.cost), (40, 21, 38.0, 80.0));
}

#[test]
fn a_budget_counts_all_sessions_of_a_run() {
    let server = Server::start(|_| "two words".into(), always(Act::Answer)).unwrap();
    let mut settings = config(&server.base_url());
    settings.price = Some(Price { input: 0.0, output: 1e6 });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache.sqlite");
    let items: Vec<String> = (0..40).map(|i| format!("item {i}")).collect();
    let session = |limit: f64, run: &str, resume: bool| {
        let shared = Shared::for_run(&path, Some(limit), false, run, resume).unwrap();
        let client = Client::from_config(&settings, &shared).unwrap();
        let done = map_concurrent(1, &items, |_, item| client.complete(&plain(item)));
        (done.stopped.is_none(), shared.budget.spent())
    };
    assert_eq!(session(90.0, "a", false), (false, 42.0));
    // The same money again is no more money; more of it is.
    assert_eq!(session(90.0, "a", true), (false, 42.0));
    assert_eq!(session(93.0, "a", true), (false, 44.0));
    // Another run, and the same one begun anew, have spent nothing.
    assert_eq!(session(70.0, "b", false), (false, 22.0));
    assert_eq!(session(90.0, "a", false), (true, 14.0));
    assert_eq!(server.calls(), 40);
}

#[test]
fn many_at_once_do_not_overspend_either() {
    let server =
        Server::start(|_| "two words".into(), always(Act::Slow(std::time::Duration::from_millis(20)))).unwrap();
    let mut settings = config(&server.base_url());
    settings.concurrency = 16;
    settings.price = Some(Price { input: 0.0, output: 1e6 });
    let shared = Shared { budget: Arc::new(Budget::new(Some(100.0))), ..Shared::in_memory().unwrap() };
    let client = Client::from_config(&settings, &shared).unwrap();
    let items: Vec<String> = (0..100).map(|i| format!("item {i}")).collect();
    let done = map_concurrent(16, &items, |_, item| client.complete(&plain(item)));
    assert!(matches!(done.stopped, Some(LlmError::Budget { .. })));
    assert!(shared.budget.spent() <= 100.0 && server.calls() >= 2);
}
