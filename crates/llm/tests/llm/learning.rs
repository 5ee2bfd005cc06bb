//! What endpoints disagree on is found out once.

use pericope_llm::{LlmError, LlmJudge, Shared, map_concurrent};
use pericope_testkit::llm::{Act, Seen, Server};
use serde_json::Value;

use crate::support::{always, config, plain, verdict};

/// Judges `items` items at a time of 4; calls made and what was learned.
fn judged(plan: impl Fn(&Seen) -> Act + Send + Sync + 'static, items: usize) -> (Server, Vec<String>) {
    let server = Server::start(|_| verdict(7), plan).unwrap();
    let shared = Shared::in_memory().unwrap();
    let judge = LlmJudge::from_config(&config(&server.base_url()), 1, &shared).unwrap();
    let questions: Vec<String> = (0..items).map(|i| format!("question {i}")).collect();
    let done = map_concurrent(4, &questions, |_, question| judge.judge(question, "gold", "answer"));
    for result in done.results {
        assert_eq!(result.unwrap().unwrap().mean, 7.0);
    }
    let notes = judge.client().provider().notes();
    (server, notes)
}

fn formats(server: &Server) -> Vec<Option<String>> {
    server.log().iter().map(|seen| seen.format().map(str::to_owned)).collect()
}

#[test]
fn schemas_where_they_are_taken() {
    let (server, notes) = judged(always(Act::Answer), 10);
    assert_eq!(server.calls(), 10);
    assert!(notes.is_empty());
    let body = &server.log()[0].body;
    let schema = &body["response_format"]["json_schema"];
    assert_eq!(schema["strict"], true);
    assert_eq!(schema["schema"]["required"], serde_json::json!(["reason", "score"]));
    assert_eq!(schema["schema"]["additionalProperties"], false);
    assert_eq!((&body["temperature"], &body["seed"], &body["stream"]), (&0.0.into(), &7.into(), &false.into()));
}

#[test]
fn an_endpoint_without_schemas_is_asked_for_objects() {
    for (status, message) in [
        (400, "response_format.type 'json_schema' is not supported"),
        (500, "Unsupported response_format"),
        // Not every server says what it does not like.
        (422, "bad request"),
    ] {
        let (server, notes) = judged(
            move |seen| {
                if seen.format() == Some("json_schema") { Act::Error(status, message.into()) } else { Act::Answer }
            },
            10,
        );
        assert_eq!(server.calls(), 11, "{message}");
        assert_eq!(formats(&server).iter().filter(|f| f.as_deref() == Some("json_object")).count(), 10);
        assert!(server.log()[1].prompt.contains("JSON Schema"));
        assert_eq!(notes.len(), 1);
    }
}

#[test]
fn an_endpoint_without_formats_is_asked_in_words() {
    let (server, notes) = judged(
        |seen| {
            if seen.format().is_some() { Act::Error(400, "unknown field response_format".into()) } else { Act::Answer }
        },
        10,
    );
    assert_eq!(server.calls(), 12);
    assert_eq!(formats(&server).iter().filter(|f| f.is_none()).count(), 10);
    assert!(notes[0].contains("in words"));
}

#[test]
fn an_endpoint_that_ignores_formats_is_understood() {
    let (server, _) = judged(|_| Act::Fence, 10);
    assert_eq!(server.calls(), 10);
}

#[test]
fn names_of_the_limit_and_parameters_that_are_not_taken() {
    let has = |seen: &Seen, key: &str| seen.body.get(key).is_some();
    let (server, notes) = judged(
        move |seen| {
            if has(seen, "max_tokens") {
                let text = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
                Act::Error(400, text.into())
            } else if has(seen, "temperature") {
                Act::Error(400, "Unsupported value: 'temperature' does not support 0 with this model.".into())
            } else if has(seen, "seed") {
                Act::Error(400, "Unrecognized request argument supplied: seed".into())
            } else {
                Act::Answer
            }
        },
        10,
    );
    assert_eq!(server.calls(), 13);
    assert_eq!(notes.len(), 3, "{notes:?}");
    let last = server.log().pop().unwrap().body;
    assert_eq!(last["max_completion_tokens"], 1024);
    assert!(last.get("response_format").is_some());

    // The other way round: a server that knows only the older name, asked by the newer, which is what OpenAI gets.
    let server = Server::start(
        |_| "x".into(),
        |seen| {
            if seen.body.get("max_tokens") == Some(&Value::from(50)) { Act::Answer } else { Act::Status(418) }
        },
    )
    .unwrap();
    assert_eq!(crate::support::client(&server).complete(&plain("x")).unwrap().reply.text, "x");
}

#[test]
fn cut_off_answers_get_room() {
    let short = |seen: &Seen| if seen.body["max_tokens"].as_u64() < Some(100) { Act::Truncated } else { Act::Answer };
    let server = Server::start(|_| verdict(4), short).unwrap();
    let mut settings = config(&server.base_url());
    settings.max_tokens = 30;
    let judge = LlmJudge::from_config(&settings, 1, &Shared::in_memory().unwrap()).unwrap();
    let found = judge.judge("q", "gold", "answer").unwrap();
    assert_eq!((found.mean, found.repaired, found.spent.calls), (4.0, 0, 2));
    assert_eq!(server.log()[1].body["max_tokens"], 120);
    assert_eq!(server.calls(), 2);
}

#[test]
fn what_was_found_out_is_part_of_an_answer_s_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache.sqlite");
    // A server that takes no schema and no seed at first, and both after an update.
    let updated = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let is_updated = updated.clone();
    let server = Server::start(
        move |seen| verdict(if seen.body.get("seed").is_some() { 9 } else { 3 }),
        move |seen| {
            let old = !is_updated.load(std::sync::atomic::Ordering::SeqCst);
            if old && seen.format() == Some("json_schema") {
                Act::Error(400, "response_format.type 'json_schema' is not supported".into())
            } else if old && seen.body.get("seed").is_some() {
                Act::Error(400, "unknown parameter: seed".into())
            } else {
                Act::Answer
            }
        },
    )
    .unwrap();
    let judge = |offline| {
        let shared = Shared::open(&path, None, offline).unwrap();
        LlmJudge::from_config(&config(&server.base_url()), 1, &shared).unwrap()
    };
    assert_eq!(judge(false).judge("q", "gold", "a").unwrap().mean, 3.0);
    assert_eq!(server.calls(), 3);
    // Another session, with a network or without, knows it and comes to the same name.
    assert_eq!(judge(false).judge("q", "gold", "a").unwrap().mean, 3.0);
    assert_eq!(judge(true).judge("q", "gold", "a").unwrap().mean, 3.0);
    assert_eq!(server.calls(), 3);
    updated.store(true, std::sync::atomic::Ordering::SeqCst);
    // In a cache of its own the updated server is asked in full, and the old answer is not taken for its.
    let anew = folder.path().join("anew.sqlite");
    let shared = Shared::open(&anew, None, false).unwrap();
    let in_full = LlmJudge::from_config(&config(&server.base_url()), 1, &shared).unwrap();
    assert_eq!(in_full.judge("q", "gold", "a").unwrap().mean, 9.0);
    assert!(matches!(judge(true).judge("other", "gold", "a"), Err(LlmError::NotCached)));
}
