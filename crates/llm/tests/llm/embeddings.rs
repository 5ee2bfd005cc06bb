use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pericope_api::SentenceEncoder;
use pericope_llm::{LlmError, OpenAiEmbeddings, Shared};
use pericope_testkit::llm::{Act, Seen, Server};

use crate::support::{always, config, first};

fn inputs(seen: &Seen) -> usize {
    seen.body["input"].as_array().map_or(0, Vec::len)
}

#[test]
fn vectors_in_order_normalised_and_paid_for_once() {
    let server = Server::start(|_| String::new(), |seen| first(seen, Act::Status(500))).unwrap();
    let shared = Shared::in_memory().unwrap();
    let encoder = OpenAiEmbeddings::new(&config(&server.base_url()), None, &shared).unwrap();
    assert_eq!((encoder.dimension(), encoder.name(), server.calls()), (8, "openai:test-model", 2));

    // 600 texts, one of them twice, one blank: three batches of at most 256, each tried twice.
    let mut texts: Vec<String> = (0..598).map(|i| format!("text number {i}")).collect();
    texts.extend(["text number 3".to_owned(), "  ".to_owned()]);
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let all = encoder.encode(&texts).unwrap();
    assert_eq!((all.len(), all.dimension(), server.calls()), (600, 8, 8));
    assert!(server.log().iter().all(|seen| inputs(seen) <= 256 && seen.path == "/v1/embeddings"));
    for row in all.rows() {
        let norm: f32 = row.iter().map(|x| x * x).sum();
        assert!((norm - 1.0).abs() < 1e-5);
    }
    assert_eq!(all.row(3), all.row(598));
    assert_ne!(all.row(3), all.row(4));
    assert_eq!(all.row(3), encoder.encode(&["text number 3"]).unwrap().row(0));
    assert_eq!(server.calls(), 8);

    drop(server);
    let offline = Shared { offline: true, ..shared.clone() };
    let offline = OpenAiEmbeddings::new(&config("http://127.0.0.1:1/v1"), None, &offline);
    // Another address is another model.
    assert!(matches!(offline.err(), Some(LlmError::NotCached)));
    assert!(encoder.encode(&texts).is_ok());
    assert!(encoder.encode(&["new"]).is_err());
}

#[test]
fn dimensions_and_specs() {
    let server = Server::start(|_| String::new(), always(Act::Answer)).unwrap();
    let shared = || Shared::in_memory().unwrap();
    let short = OpenAiEmbeddings::new(&config(&server.base_url()), Some(3), &shared()).unwrap();
    assert_eq!((short.dimension(), short.name(), server.calls()), (3, "openai:test-model:3", 0));
    assert_eq!(short.encode(&["a"]).unwrap().row(0).len(), 3);
    assert_eq!(server.log()[0].body["dimensions"], 3);
    let long = OpenAiEmbeddings::new(&config(&server.base_url()), None, &shared()).unwrap();
    assert_ne!(short.fingerprint(), long.fingerprint());

    // Offline, so that neither a key nor a server is needed.
    let open = |spec: &str| OpenAiEmbeddings::from_spec(spec, shared().cache, true);
    let spec = |spec: &str| open(spec).map(|e| e.dimension());
    // The name that an index records opens the same encoder.
    let named = open("openai:text-embedding-3-large:256").unwrap();
    let again = open(named.name()).unwrap();
    assert_eq!((again.dimension(), again.fingerprint()), (256, named.fingerprint()));
    assert_eq!(spec("openai:text-embedding-3-large").unwrap(), 3072);
    assert_eq!(spec("openai:text-embedding-3-large:256").unwrap(), 256);
    assert!(matches!(spec("openai:bge-m3:latest"), Err(LlmError::NotCached)));
    for wrong in ["openai:", "minilm", "openai:m:0"] {
        assert!(matches!(spec(wrong), Err(LlmError::Config(_))), "{wrong}");
    }
}

#[test]
fn texts_that_are_too_long_are_cut_and_batches_halved() {
    // The server reads 1000 bytes of a text, and 4 texts at once.
    let plan = |seen: &Seen| {
        let long = |text: &serde_json::Value| text.as_str().is_some_and(|text| text.len() > 1000);
        let input = seen.body["input"].as_array().unwrap();
        if input.len() > 4 {
            Act::Error(413, "batch too large".into())
        } else if input.iter().any(long) {
            Act::TooLong
        } else {
            Act::Answer
        }
    };
    let server = Server::start(|_| String::new(), plan).unwrap();
    let encoder = OpenAiEmbeddings::new(&config(&server.base_url()), Some(8), &Shared::in_memory().unwrap()).unwrap();
    let long = "word ".repeat(600);
    let texts: Vec<String> = (0..7).map(|i| if i == 2 { long.clone() } else { format!("short {i}") }).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let all = encoder.encode(&texts).unwrap();
    assert_eq!(all.len(), 7);
    let log = server.log();
    let accepted: Vec<&Seen> = log.iter().filter(|seen| plan(seen) == Act::Answer).collect();
    assert_eq!(accepted.iter().map(|seen| inputs(seen)).sum::<usize>(), 7);
    // Three quarters of what was too long, and no more than needed.
    let kept = accepted.iter().flat_map(|seen| seen.body["input"].as_array().unwrap().iter());
    let longest = kept.map(|text| text.as_str().unwrap().len()).max().unwrap();
    assert!((750..=1000).contains(&longest), "{longest}");
    // Counted once, however often it was cut; and not again where its vector is kept.
    assert_eq!(encoder.texts_cut(), 1);
    encoder.encode(&texts).unwrap();
    assert_eq!(encoder.texts_cut(), 1);
}

#[test]
fn a_vector_of_zeros_is_kept_and_not_asked_for_again() {
    let zeros = [0.0f32; 8];
    let answer = serde_json::json!({"data": [{"index": 0, "embedding": zeros}]}).to_string();
    let server = Server::start(|_| String::new(), always(Act::Raw(200, answer))).unwrap();
    let encoder = OpenAiEmbeddings::new(&config(&server.base_url()), Some(8), &Shared::in_memory().unwrap()).unwrap();
    for _ in 0..2 {
        assert_eq!(encoder.encode(&["unknown"]).unwrap().row(0), zeros);
    }
    assert_eq!(server.calls(), 1);
}

#[test]
fn a_text_whose_request_fails_counts_when_it_is_answered() {
    let ill = Arc::new(AtomicBool::new(true));
    let is_ill = Arc::clone(&ill);
    let plan = move |seen: &Seen| {
        let long = |text: &serde_json::Value| text.as_str().is_some_and(|text| text.len() > 40_000);
        match seen.body["input"].as_array().unwrap().iter().any(long) {
            true => Act::TooLong,
            false if is_ill.load(Ordering::SeqCst) => Act::Error(400, "not now".into()),
            false => Act::Answer,
        }
    };
    let server = Server::start(|_| String::new(), plan).unwrap();
    let encoder = OpenAiEmbeddings::new(&config(&server.base_url()), Some(8), &Shared::in_memory().unwrap()).unwrap();
    let (long, longest) = ("word ".repeat(9_000), "word ".repeat(20_000));
    for text in [&long, &longest] {
        assert!(encoder.encode(&[text.as_str()]).is_err());
        assert_eq!(encoder.texts_cut(), 0);
    }
    ill.store(false, Ordering::SeqCst);
    encoder.encode(&[long.as_str(), longest.as_str()]).unwrap();
    assert_eq!(encoder.texts_cut(), 2);
}

#[test]
fn a_text_that_is_cut_before_it_is_sent_is_counted_once() {
    let plan = |seen: &Seen| {
        let long = |text: &serde_json::Value| text.as_str().is_some_and(|text| text.len() > 40_000);
        let is_long = seen.body["input"].as_array().unwrap().iter().any(long);
        if is_long { Act::TooLong } else { Act::Answer }
    };
    let server = Server::start(|_| String::new(), plan).unwrap();
    let encoder = OpenAiEmbeddings::new(&config(&server.base_url()), Some(8), &Shared::in_memory().unwrap()).unwrap();
    let (long, shorter) = ("word ".repeat(20_000), "word ".repeat(9_000));
    assert_eq!(encoder.encode(&[long.as_str(), "short", shorter.as_str()]).unwrap().len(), 3);
    assert_eq!(encoder.texts_cut(), 2);
}
