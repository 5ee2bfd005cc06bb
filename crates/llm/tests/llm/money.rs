//! What is reserved, charged and written down.

use std::sync::Arc;
use std::time::Duration;

use pericope_llm::config::Price;
use pericope_llm::{Budget, Cache, Client, LlmError, OpenAiEmbeddings, ProviderKind, Shared, map_concurrent};
use pericope_testkit::llm::{Act, Seen, Server};

use crate::support::{always, config, first, item, plain};

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

/// Settings with which a token written costs 1, and one read nothing.
fn priced(server: &Server) -> pericope_llm::LlmConfig {
    let mut settings = config(&server.base_url());
    settings.price = Some(Price { input: 0.0, output: 1e6 });
    settings
}

/// An answer that is as long as it may be ([`plain`] allows 50): what it may cost is what it costs.
fn fifty_words() -> String {
    "word ".repeat(50)
}

#[test]
fn calls_wait_for_what_others_give_back() {
    // Four calls may cost 200 and cost 8: together far below the budget, and never at once within it.
    let server = Server::start(|_| "two words".into(), always(Act::Slow(Duration::from_millis(3)))).unwrap();
    let mut settings = priced(&server);
    settings.concurrency = 16;
    let shared = Shared { budget: Arc::new(Budget::new(Some(130.0))), ..Shared::in_memory().unwrap() };
    let client = Client::from_config(&settings, &shared).unwrap();
    let items: Vec<String> = (0..40).map(|i| format!("item {i}")).collect();
    let done = map_concurrent(16, &items, |_, item| client.complete(&plain(item)));
    assert!(done.stopped.is_none(), "{:?}", done.stopped);
    assert!(done.results.iter().all(|result| matches!(result, Some(Ok(_)))));
    assert_eq!((shared.budget.spent(), shared.budget.reserved(), server.calls()), (80.0, 0.0, 40));
    assert!(server.most_at_once() <= 2, "50 each");
    // Now even a call alone is too much.
    for i in 0..10 {
        drop(client.complete(&plain(&format!("more {i}"))));
    }
    let error = client.complete(&plain("last")).unwrap_err().to_string();
    assert!(error.contains("82.0000 spent, 0.0000 reserved") && error.contains("may cost 50.0000"), "{error}");
}

#[test]
fn many_at_once_do_not_overspend() {
    let server = Server::start(|_| fifty_words(), always(Act::Slow(Duration::from_millis(5)))).unwrap();
    let mut settings = priced(&server);
    settings.concurrency = 16;
    let shared = Shared { budget: Arc::new(Budget::new(Some(1040.0))), ..Shared::in_memory().unwrap() };
    let client = Client::from_config(&settings, &shared).unwrap();
    let items: Vec<String> = (0..100).map(|i| format!("item {i}")).collect();
    let done = map_concurrent(16, &items, |_, item| client.complete(&plain(item)));
    assert!(matches!(done.stopped, Some(LlmError::Budget { .. })));
    assert_eq!((shared.budget.spent(), server.calls(), server.charged()), (1000.0, 20, 1000));
}

/// What goes wrong with a call, by the number of its item and the calls for it before.
fn trouble(seen: &Seen) -> Act {
    let act = match item(seen) % 9 {
        1 => Act::RetryAfter("0".into()),
        2 => Act::Cut,
        3 => Act::Reset,
        4 => Act::Slow(Duration::from_secs(20)),
        5 => Act::Garbage,
        6 => Act::CutAfterUsage,
        7 => Act::Status(500),
        8 => Act::Drip(Duration::from_secs(1)),
        _ => Act::Answer,
    };
    first(seen, act)
}

#[test]
fn the_ledger_is_the_bill_of_the_server_whatever_goes_wrong() {
    let server = Server::start(|_| fifty_words(), trouble).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache.sqlite");
    let mut settings = priced(&server);
    settings.concurrency = 64;
    settings.timeout_seconds = 2.0;
    let shared = Shared::for_run(&path, Some(1e6), false, "run", false).unwrap();
    let client = Client::from_config(&settings, &shared).unwrap();
    let items: Vec<String> = (0..64).map(|i| format!("item-{i}")).collect();
    let done = map_concurrent(64, &items, |_, item| client.complete(&plain(item)));
    assert!(done.stopped.is_none(), "{:?}", done.stopped);
    assert!(done.results.iter().all(|result| matches!(result, Some(Ok(_)))), "each is answered in the end");
    let bill = server.charged() as f64;
    assert!(bill > 64.0 * 50.0 && server.calls() > 110, "{bill}");
    assert_eq!((shared.budget.spent(), shared.budget.reserved()), (bill, 0.0));
    // Of 64 items, 7 of each kind of trouble: cut off, no answer, too slow, no JSON, a byte a second.
    assert_eq!(shared.budget.estimated(), 5.0 * 7.0 * 50.0);
    assert_eq!(client.total().paid, bill, "those that broke off are part of the price");
    drop(client);
    let again = Shared::for_run(&path, Some(1e6), false, "run", true).unwrap();
    assert_eq!((again.budget.spent(), again.budget.estimated()), (bill, 5.0 * 7.0 * 50.0));
}

#[test]
fn tries_that_break_off_use_up_the_budget() {
    for (act, charged) in [(Act::Cut, true), (Act::Garbage, true), (Act::Reset, true), (Act::Status(503), false)] {
        let server = Server::start(|_| fifty_words(), always(act.clone())).unwrap();
        let mut settings = priced(&server);
        settings.retries = 6;
        let shared = Shared { budget: Arc::new(Budget::new(Some(220.0))), ..Shared::in_memory().unwrap() };
        let client = Client::from_config(&settings, &shared).unwrap();
        let error = client.complete(&plain("x")).unwrap_err();
        if charged {
            assert!(matches!(error, LlmError::Budget { spent: 200.0, .. }), "{act:?}: {error}");
            assert_eq!((server.calls(), shared.budget.estimated()), (4, 200.0), "{act:?}");
        } else {
            assert!(matches!(error, LlmError::Unavailable { tries: 7, .. }), "{act:?}: {error}");
        }
        assert_eq!(shared.budget.spent(), server.charged() as f64);
        assert_eq!(client.total().paid, server.charged() as f64);
    }
}

#[test]
fn numbers_of_tokens_that_cannot_be_are_not_taken() {
    for provider in [ProviderKind::OpenAi, ProviderKind::Anthropic] {
        let server = Server::start(|_| "two words".into(), always(Act::Usage(u64::MAX, u64::MAX))).unwrap();
        let mut settings = priced(&server);
        settings.provider = provider;
        let shared = Shared { budget: Arc::new(Budget::new(Some(400.0))), ..Shared::in_memory().unwrap() };
        let client = Client::from_config(&settings, &shared).unwrap();
        for i in 0..3 {
            let usage = client.complete(&plain(&format!("question {i}"))).unwrap().reply.usage;
            assert!(usage.estimated && usage.prompt < 20 && usage.completion == 3, "{usage:?}");
        }
        assert_eq!((shared.budget.spent(), shared.budget.estimated()), (9.0, 9.0));
        assert!(client.provider().notes().iter().any(|note| note.contains("cannot be")));
        assert!(client.total().prompt_tokens < 60);
    }
}

#[test]
fn vectors_are_paid_for_by_the_same_rules() {
    let plan = |seen: &Seen| first(seen, Act::Garbage);
    let server = Server::start(|_| "x".into(), plan).unwrap();
    let mut settings = config(&server.base_url());
    settings.price = Some(Price { input: 1e6, output: 0.0 });
    let budget = Arc::new(Budget::new(Some(100.0)));
    let shared = Shared { budget: Arc::clone(&budget), ..Shared::in_memory().unwrap() };
    let encoder = OpenAiEmbeddings::new(&settings, Some(8), &shared).unwrap();
    encoder.vectors(&["four letters a token, estimated"]).unwrap();
    // The server counts one token a text, and the try that broke off is estimated by its letters.
    assert_eq!((budget.spent(), budget.estimated(), budget.reserved()), (9.0, 8.0, 0.0));
    assert!(matches!(encoder.vectors(&[&"long ".repeat(100)]), Err(LlmError::Budget { .. })));
    assert_eq!(server.calls(), 2);
}
