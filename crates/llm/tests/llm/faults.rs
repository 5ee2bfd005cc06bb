//! Every request of an item fails once, in every way: afterwards the item is whole, or it has failed and says why, or the run
//! has stopped; and the ledger is right.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pericope_llm::config::Price;
use pericope_llm::{Budget, Client, LlmConfig, LlmError, OpenAiEmbeddings, Shared, map_concurrent, on_notice};
use pericope_testkit::llm::{Act, Seen, Server};

use crate::support::{Bench, always, answer, config, first, item, judges, plain};

/// What becomes of the item.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Then {
    /// It is tried again, and answered.
    Answered,
    /// The item fails, with this word; the next one does not.
    Fails(&'static str),
    /// The run stops, with this word.
    Stops(&'static str),
}

fn faults() -> Vec<(Act, Then)> {
    use Then::{Answered, Fails, Stops};
    vec![
        (Act::Reset, Answered),
        (Act::Cut, Answered),
        (Act::CutAfterUsage, Answered),
        (Act::Slow(Duration::from_secs(20)), Answered),
        (Act::Drip(Duration::from_secs(1)), Answered),
        (Act::Garbage, Answered),
        (Act::Raw(200, String::new()), Answered),
        (Act::Raw(200, "[".repeat(100_000)), Answered),
        (Act::Raw(200, "{\"error\": {\"message\": \"later\"}}".into()), Answered),
        (Act::Raw(200, "{\"choices\": []}".into()), Fails("rejected")),
        (Act::Raw(200, "17".into()), Fails("rejected")),
        (Act::Endless, Fails("too-large")),
        (Act::Status(408), Answered),
        (Act::Status(409), Answered),
        (Act::Status(425), Answered),
        (Act::Status(429), Answered),
        (Act::RetryAfter("0".into()), Answered),
        (Act::RetryAfter("301".into()), Stops("wait")),
        (Act::Status(500), Answered),
        (Act::Status(503), Answered),
        (Act::Status(400), Fails("rejected")),
        (Act::Status(413), Fails("rejected")),
        (Act::Status(401), Stops("denied")),
        (Act::Raw(401, "x".repeat(1 << 20)), Stops("denied")),
        (Act::Status(403), Stops("denied")),
        (Act::Status(404), Stops("not-found")),
        (Act::Redirect("http://127.0.0.1:1/steal".into()), Stops("not-found")),
        (Act::Billing, Stops("billing")),
        (Act::Empty, Fails("empty")),
        (Act::Refuse, Fails("refused")),
    ]
}

/// One try costs what it may cost: a token written is 1, and the server's own count is the bill.
fn settings(server: &Server) -> LlmConfig {
    let mut settings = config(&server.base_url());
    settings.price = Some(Price { input: 0.0, output: 1e6 });
    settings.timeout_seconds = 2.0;
    settings.concurrency = 2;
    settings
}

#[test]
fn every_request_fails_once_in_every_way() {
    for (fault, then) in faults() {
        for step in ["answer", "judgement"] {
            let what = fault.clone();
            let server = Server::start(answer, move |seen: &Seen| {
                let here = item(seen) == 1 && judges(seen) == (step == "judgement");
                if here { first(seen, what.clone()) } else { Act::Answer }
            })
            .unwrap();
            let folder = tempfile::tempdir().unwrap();
            let shared = Shared::for_run(&folder.path().join("c.sqlite"), Some(1e9), false, "run", false).unwrap();
            let bench = Bench::new(&settings(&server), &shared);
            let done = map_concurrent(1, &[0, 1, 2], |_, item| bench.item(*item, &["a"]));
            let said: Vec<Option<&str>> = (done.results.iter())
                .map(|result| result.as_ref().map(|result| result.as_ref().map_or_else(LlmError::status, |_| "ok")))
                .collect();
            let stopped = done.stopped.as_ref().map(LlmError::status);
            let expected = match then {
                Then::Answered => (vec![Some("ok"); 3], None),
                Then::Fails(status) => (vec![Some("ok"), Some(status), Some("ok")], None),
                Then::Stops(status) => (vec![Some("ok"), None, None], Some(status)),
            };
            assert_eq!((said, stopped), expected, "{fault:?} at the {step}: {:?} {:?}", done.results, done.stopped);
            // What the server wrote is paid; what it may have written is an estimate, and nothing is left reserved.
            let (spent, estimated) = (shared.budget.spent(), shared.budget.estimated());
            assert_eq!(shared.budget.reserved(), 0.0, "{fault:?}");
            if fault.is_charged() {
                assert!(spent >= server.charged() as f64 - 10.0, "{fault:?}: {spent} of {}", server.charged());
            } else {
                assert_eq!((spent, estimated), (server.charged() as f64, 0.0), "{fault:?} at the {step}");
            }
        }
    }
}

#[test]
fn vectors_fail_in_every_way_too() {
    for (fault, then) in faults() {
        let what = fault.clone();
        let server = Server::start(|_| String::new(), move |seen: &Seen| first(seen, what.clone())).unwrap();
        let budget = Arc::new(Budget::new(Some(1e9)));
        let shared = Shared { budget: Arc::clone(&budget), ..Shared::in_memory().unwrap() };
        let encoder = OpenAiEmbeddings::new(&settings(&server), Some(8), &shared).unwrap();
        let result = encoder.vectors(&["a text"]);
        match (&result, then) {
            // The answers of chats are none.
            (Err(LlmError::Invalid { .. } | LlmError::TooLarge { .. } | LlmError::Rejected { .. }), Then::Fails(_)) => {
            }
            (Ok(vectors), Then::Answered | Then::Fails(_)) => assert_eq!(vectors[0].len(), 8),
            (Err(error), Then::Stops(status)) => assert_eq!(error.status(), status, "{fault:?}"),
            _ => panic!("{fault:?}: {result:?}"),
        }
        assert_eq!(budget.reserved(), 0.0, "{fault:?}");
    }
}

#[test]
fn servers_that_never_answer_cost_nothing() {
    let server = Server::start(answer, always(Act::Answer)).unwrap();
    let plain_address = server.base_url();
    let mut refused = settings(&server);
    let mut no_tls = settings(&server);
    no_tls.base_url = Some(plain_address.replace("http://", "https://"));
    let mut nowhere = settings(&server);
    nowhere.base_url = Some("http://no-such-host.invalid/v1".into());
    {
        let gone = Server::start(answer, always(Act::Answer)).unwrap();
        refused.base_url = Some(gone.base_url());
    }
    for mut settings in [refused, no_tls, nowhere] {
        settings.retries = 1;
        let shared = Shared { budget: Arc::new(Budget::new(Some(1e9))), ..Shared::in_memory().unwrap() };
        let client = Client::from_config(&settings, &shared).unwrap();
        let error = client.complete(&plain("x")).unwrap_err();
        assert!(matches!(error, LlmError::Unavailable { tries: 2, .. }), "{:?}: {error}", settings.base_url);
        assert_eq!(shared.budget.reserved(), 0.0, "{:?}: {error}", settings.base_url);
        // The server may reset the connection before its words are read, and a reset may come after the request.
        let handshake = settings.base_url.as_ref().is_some_and(|url| url.starts_with("https"));
        assert!(handshake || shared.budget.spent() == 0.0, "{:?}: {error}", settings.base_url);
    }
    assert_eq!(server.calls(), 0);
}

#[test]
fn an_answer_without_end_is_read_up_to_a_limit() {
    let server = Server::start(answer, always(Act::Endless)).unwrap();
    let client = Client::from_config(&settings(&server), &Shared::in_memory().unwrap()).unwrap();
    let error = client.complete(&plain("x")).unwrap_err();
    assert!(matches!(error, LlmError::TooLarge { limit: 5 }) && error.to_string().contains("5 MiB"), "{error}");
    assert_eq!(server.calls(), 1, "it is not asked for again");
}

#[test]
fn a_byte_a_second_is_too_slow() {
    let server = Server::start(answer, always(Act::Drip(Duration::from_secs(1)))).unwrap();
    let mut settings = settings(&server);
    (settings.timeout_seconds, settings.retries) = (1.5, 1);
    let client = Client::from_config(&settings, &Shared::in_memory().unwrap()).unwrap();
    let started = Instant::now();
    let error = client.complete(&plain("x")).unwrap_err();
    assert!(
        matches!(error, LlmError::Unavailable { tries: 2, .. }) && error.to_string().contains("broke off"),
        "{error}"
    );
    // Far below the minutes that the whole answer would take.
    assert!(started.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_run_waits_for_a_server_so_long_and_says_so() {
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let listener = Arc::clone(&told);
    on_notice(move |text| listener.lock().unwrap().push(text.to_owned()));
    // Fifty pauses of 300 ms each: after a second in all the run stops.
    let server = Server::start(answer, always(Act::RetryAfter("0.3".into()))).unwrap();
    let mut patient = settings(&server);
    patient.retries = 50;
    patient.max_wait_seconds = 1.0;
    let client = Client::from_config(&patient, &Shared::in_memory().unwrap()).unwrap();
    let error = client.complete(&plain("x")).unwrap_err();
    assert!(error.aborts_run() && error.to_string().contains("max_wait_seconds = 1"), "{error}");
    assert_eq!(server.calls(), 4);
    // A long pause is announced.
    let server = Server::start(answer, |seen| first(seen, Act::RetryAfter("5".into()))).unwrap();
    let client = Client::from_config(&settings(&server), &Shared::in_memory().unwrap()).unwrap();
    client.complete(&plain("x")).unwrap();
    let told = told.lock().unwrap();
    assert!(told.iter().any(|text| text.contains("127.0.0.1") && text.contains("asks to wait 5 s")), "{told:?}");
}
