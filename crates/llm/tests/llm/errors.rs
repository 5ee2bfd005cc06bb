//! What stops a run, what fails an item, and what is tried again.

use std::time::{Duration, Instant};

use pericope_llm::{Client, LlmConfig, LlmError, LlmGenerator, Shared, map_concurrent};
use pericope_testkit::llm::{Act, Seen, Server};

use crate::support::{always, client, config, first, plain};

/// Asks once; the error and the calls that it took.
fn asked(act: Act, retries: u32) -> (LlmError, usize) {
    let server = Server::start(|_| "x".into(), always(act)).unwrap();
    let mut settings = config(&server.base_url());
    settings.retries = retries;
    let client = Client::from_config(&settings, &Shared::in_memory().unwrap()).unwrap();
    let answered = client.complete(&plain("hello")).and_then(|answered| answered.text().map(str::to_owned));
    (answered.unwrap_err(), server.calls())
}

#[test]
fn what_is_not_tried_again() {
    for (act, status, aborts) in [
        (Act::Status(401), "denied", true),
        (Act::Status(403), "denied", true),
        (Act::Status(404), "not-found", true),
        (Act::Status(301), "not-found", true),
        (Act::Status(402), "billing", true),
        (Act::Billing, "billing", true),
        (Act::RetryAfter("86400".into()), "wait", true),
        (Act::Status(400), "rejected", false),
        (Act::Status(413), "rejected", false),
        (Act::Status(422), "rejected", false),
        (Act::TooLong, "context-length", false),
        (Act::Refuse, "refused", false),
        (Act::Empty, "empty", false),
    ] {
        let (error, calls) = asked(act.clone(), 3);
        assert_eq!((error.status(), error.aborts_run(), calls), (status, aborts, 1), "{act:?}: {error}");
    }
}

#[test]
fn what_is_tried_again_and_then_given_up() {
    for act in [
        Act::Status(408),
        Act::Status(409),
        Act::Status(500),
        Act::Status(503),
        Act::Status(529),
        Act::RetryAfter("0".into()),
        Act::Cut,
        Act::Garbage,
        Act::Error(200, "an error in a success".into()),
    ] {
        let (error, calls) = asked(act.clone(), 3);
        assert!(matches!(error, LlmError::Unavailable { tries: 4, .. }), "{act:?}: {error}");
        assert_eq!(calls, 4, "{act:?}");
    }
}

#[test]
fn a_server_that_is_away() {
    let server = Server::start(|_| "x".into(), always(Act::Answer)).unwrap();
    let mut settings = config(&server.base_url());
    drop(server);
    settings.retries = 1;
    let client = Client::from_config(&settings, &Shared::in_memory().unwrap()).unwrap();
    let items: Vec<String> = (0..100).map(|i| format!("{i}")).collect();
    let done = map_concurrent(1, &items, |_, item| client.complete(&plain(item)));
    // Four items fail; the fifth ends a run that would only fail on.
    assert!(matches!(done.stopped, Some(LlmError::Down { failures: 5, .. })), "{:?}", done.stopped);
    assert_eq!(done.results.iter().flatten().count(), 4);
    let text = done.stopped.unwrap().to_string();
    assert!(text.contains("127.0.0.1") && text.to_lowercase().contains("connect"), "{text}");
}

/// A server that refuses some items and fails others is there: they are no failures in a row.
#[test]
fn a_server_that_refuses_items_in_between_is_not_down() {
    let refuses = |seen: &Seen| if seen.prompt.contains("odd") { Act::Status(400) } else { Act::Status(503) };
    let server = Server::start(|_| "x".into(), refuses).unwrap();
    let settings = LlmConfig { retries: 0, ..config(&server.base_url()) };
    let client = Client::from_config(&settings, &Shared::in_memory().unwrap()).unwrap();
    let items: Vec<String> = (0..12).map(|i| format!("{} {i}", if i % 2 == 0 { "even" } else { "odd" })).collect();
    let done = map_concurrent(1, &items, |_, item| client.complete(&plain(item)));
    assert!(done.stopped.is_none(), "{:?}", done.stopped);
    assert_eq!(done.results.iter().flatten().count(), 12);
}

#[test]
fn the_servers_wish_to_wait_is_granted() {
    let server = Server::start(|_| "x".into(), |seen| first(seen, Act::RetryAfter("1".into()))).unwrap();
    let started = Instant::now();
    let answered = client(&server).complete(&plain("hello")).unwrap();
    assert!(started.elapsed() >= Duration::from_secs(1));
    assert_eq!((answered.reply.tries, server.calls()), (2, 2));
}

#[test]
fn tokens_a_minute_are_kept_to() {
    let server = Server::start(|_| "x".into(), always(Act::Answer)).unwrap();
    let mut settings = config(&server.base_url());
    // One request of 50 tokens of answer and some of prompt fits a minute's burst, and the answer gives most of it back.
    settings.tokens_per_minute = Some(60);
    let client = Client::from_config(&settings, &Shared::in_memory().unwrap()).unwrap();
    let started = Instant::now();
    for text in ["a", "b", "c", "d", "e"] {
        client.complete(&plain(text)).unwrap();
    }
    // Two tokens are used a call (the server's count), one returns each second, and 55 are wanted: the fifth call comes after three
    // seconds at the earliest. How long each call waits is checked beside the limiter, on a clock of its own.
    assert!(started.elapsed() > Duration::from_secs(1), "{:?}", started.elapsed());
    assert_eq!(server.calls(), 5);
}

#[test]
fn a_prompt_that_never_fits_fails_its_item() {
    let server = Server::start(|_| "x".into(), always(Act::TooLong)).unwrap();
    let generator = LlmGenerator::from_config(&config(&server.base_url()), &Shared::in_memory().unwrap()).unwrap();
    let error = generator.answer("q", &["one", "two", "three"]).unwrap_err();
    assert_eq!((error.status(), server.calls()), ("context-length", 3));
}

#[test]
fn abstentions_and_thoughts() {
    let said = |text: &'static str| {
        let server = Server::start(move |_| text.into(), always(Act::Answer)).unwrap();
        let generator = LlmGenerator::from_config(&config(&server.base_url()), &Shared::in_memory().unwrap()).unwrap();
        let found = generator.answer("q", &["one"]).unwrap();
        (found.text, found.abstained)
    };
    assert_eq!(said("Not in context."), ("Not in context.".into(), true));
    assert_eq!(said("<think>hm, NOT IN CONTEXT?</think>\n\nOne."), ("One.".into(), false));
    // Where the prompt began the thoughts, the reply only ends them, on a line of its own.
    assert_eq!(said("Hm, one?\nOr two?\n</think>\n\nOne."), ("One.".into(), false));
    assert_eq!(said("Hm.\n</think>\nNot in context."), ("Not in context.".into(), true));
    assert_eq!(said("It ends with `</think>`."), ("It ends with `</think>`.".into(), false));
}

#[test]
fn works_inside_an_executor_too() {
    let server = Server::start(|_| "x".into(), always(Act::Answer)).unwrap();
    let client = client(&server);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let text = runtime.block_on(async { client.complete(&plain("hello")).unwrap().reply.text });
    assert_eq!(text, "x");
}

#[test]
fn places_at_the_server_are_limited() {
    let slow = |_: &Seen| Act::Slow(Duration::from_millis(30));
    let server = Server::start(|_| "x".into(), slow).unwrap();
    let mut settings = config(&server.base_url());
    settings.concurrency = 3;
    let client = Client::from_config(&settings, &Shared::in_memory().unwrap()).unwrap();
    let items: Vec<String> = (0..24).map(|i| format!("{i}")).collect();
    let done = map_concurrent(12, &items, |_, item| client.complete(&plain(item)));
    assert!(done.results.iter().all(|r| matches!(r, Some(Ok(_)))));
    assert_eq!(server.most_at_once(), 3);
}
