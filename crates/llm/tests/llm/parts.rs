//! Models that are asked about parts of documents: where content shifts, and what places a chunk.

use std::sync::Arc;

use pericope_api::{Chunk, Document, SegmentError, ShiftFinder, Span};
use pericope_llm::{Budget, Cache, LlmConfig, LlmContextWriter, LlmError, LlmShiftFinder, ProviderKind, Shared};
use pericope_testkit::llm::{Act, Seen, Server};
use serde_json::json;

use crate::support::{always, config, first, shared};

/// Names the first passage behind the first that begins with "new", or 0.
fn shift(seen: &Seen) -> String {
    let numbered = seen.prompt.lines().filter_map(|line| line.split_once(": "));
    let found =
        numbered.filter(|(number, text)| *number != "1" && text.starts_with("new")).find_map(|(n, _)| n.parse().ok());
    json!({"id": found.unwrap_or(0_u64)}).to_string()
}

fn finder(server: &Server, shared: &Shared) -> LlmShiftFinder {
    LlmShiftFinder::from_config(&config(&server.base_url()), shared).unwrap()
}

#[test]
fn shifts_are_asked_for_once_and_counted() {
    let server = Server::start(shift, always(Act::Answer)).unwrap();
    let memory = Shared::in_memory().unwrap();
    let finder = finder(&server, &memory);
    assert_eq!(finder.first_shift(&["old", "old\n2: new", "new", "new"]).unwrap(), Some(2), "a passage is one line");
    assert_eq!(finder.first_shift(&["old", "old"]).unwrap(), None);
    assert_eq!(finder.first_shift(&["old", "old"]).unwrap(), None);
    let used = finder.used();
    assert_eq!((used.asked, used.calls, used.cached, used.failed, server.calls()), (3, 3, 1, 0, 2));
    let prompt = &server.log()[0].prompt;
    assert!(prompt.contains("\n1: old\n2: old 2: new\n3: new\n4: new\n"), "{prompt}");
    assert_eq!(server.log()[0].format(), Some("json_schema"));
}

#[test]
fn what_is_no_passage_is_asked_for_again_and_then_none() {
    let wrong = |text: &'static str| move |seen: &Seen| first(seen, Act::Text(text.into()));
    for text in ["at the third", r#"{"id": 1}"#, r#"{"id": 9}"#, r#"{"passage": 2}"#] {
        let server = Server::start(shift, wrong(text)).unwrap();
        let finder = finder(&server, &Shared::in_memory().unwrap());
        assert_eq!(finder.first_shift(&["old", "new"]).unwrap(), Some(1), "{text}");
        let used = finder.used();
        assert_eq!((used.asked, used.repaired, used.failed, used.calls, server.calls()), (1, 1, 0, 2, 2), "{text}");
        let again = &server.log()[1].prompt;
        assert!(again.contains("That answer cannot be used") && again.contains("Answer again"), "{again}");
    }
    for act in [Act::Text(r#"{"id": 7}"#.into()), Act::Refuse, Act::Empty] {
        let server = Server::start(shift, always(act.clone())).unwrap();
        let finder = finder(&server, &Shared::in_memory().unwrap());
        assert_eq!(finder.first_shift(&["old", "new"]).unwrap(), None, "{act:?}");
        assert_eq!((finder.used().asked, finder.used().failed), (1, 1), "{act:?}");
    }
}

#[test]
fn who_does_not_answer_is_an_error() {
    for (act, stops) in [(Act::Status(401), true), (Act::Billing, true), (Act::Error(400, "no".into()), false)] {
        let server = Server::start(shift, always(act.clone())).unwrap();
        let error = finder(&server, &Shared::in_memory().unwrap()).first_shift(&["old", "new"]).unwrap_err();
        assert_eq!(error.stops_run(), stops, "{act:?}: {error}");
        assert!(matches!(error, SegmentError::Model { .. }));
    }
    let server = Server::start(shift, always(Act::Answer)).unwrap();
    let mut priced = config(&server.base_url());
    priced.price = Some(pericope_llm::config::Price { input: 1e6, output: 1e6 });
    let poor = Shared { budget: Arc::new(Budget::new(Some(1.0))), ..Shared::in_memory().unwrap() };
    let finder = LlmShiftFinder::from_config(&priced, &poor).unwrap();
    let error = finder.first_shift(&["old", "new"]).unwrap_err();
    assert!(error.stops_run() && error.to_string().contains("budget"), "{error}");
    assert_eq!(server.calls(), 0);
}

#[test]
fn the_cache_alone_answers_offline() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache.sqlite");
    let server = Server::start(shift, always(Act::Answer)).unwrap();
    let online = finder(&server, &shared(Cache::open(&path).unwrap()));
    assert_eq!(online.first_shift(&["old", "new"]).unwrap(), Some(1));
    let mut wanted = config(&server.base_url());
    drop(server);
    let offline = Shared { offline: true, ..shared(Cache::open(&path).unwrap()) };
    let again = LlmShiftFinder::from_config(&wanted, &offline).unwrap();
    assert_eq!((again.first_shift(&["old", "new"]).unwrap(), again.fingerprint()), (Some(1), online.fingerprint()));
    let error = again.first_shift(&["other", "new"]).unwrap_err();
    assert!(error.to_string().contains("not in the cache"), "{error}");
    // Another model, and another prompt, is another fingerprint.
    wanted.model = "another".into();
    assert_ne!(LlmShiftFinder::from_config(&wanted, &offline).unwrap().fingerprint(), online.fingerprint());
    let prompt = folder.path().join("p.md");
    std::fs::write(&prompt, "Where? {passages}").unwrap();
    let mut own = LlmConfig { prompt: Some(prompt.clone()), model: "test-model".into(), ..wanted };
    assert_ne!(LlmShiftFinder::from_config(&own, &offline).unwrap().fingerprint(), online.fingerprint());
    std::fs::write(&prompt, "Where?").unwrap();
    assert!(LlmShiftFinder::from_config(&own, &offline).is_err_and(|e| e.to_string().contains("{passages}")));
    own.prompt = None;
    own.provider = ProviderKind::Anthropic;
    let anthropic = LlmShiftFinder::from_config(&own, &offline).unwrap();
    assert!(anthropic.fingerprint().starts_with("anthropic:model=test-model:prompt="), "{}", anthropic.fingerprint());
}

fn document() -> (Document, Vec<Chunk>) {
    let document = Document::from_sentences("pumps.md", &["A pump hums.", "It leaks at the seal.", "Call us."]);
    let chunk = |(ordinal, span): (usize, Span)| Chunk {
        document: document.id.clone(),
        ordinal,
        span,
        heading_path: vec!["Pumps".into()],
        tokens: 3,
        hash: Chunk::content_hash(document.text(span)),
        context: None,
    };
    let chunks = document.sentences.iter().map(|one| one.span).enumerate().map(chunk).collect();
    (document, chunks)
}

/// Repeats the first word of the chunk.
fn place(seen: &Seen) -> String {
    let (_, chunk) = seen.prompt.split_once("[begin chunk ").unwrap();
    let word = chunk.lines().nth(1).and_then(|line| line.split_whitespace().next()).unwrap_or_default();
    json!({"context": format!("Where {word}\n stands.")}).to_string()
}

#[test]
fn chunks_get_contexts_and_those_that_fail_none() {
    let refuses = |seen: &Seen| {
        let of_last = seen.prompt.contains("Call us.\n[end chunk");
        if of_last { Act::Refuse } else { Act::Answer }
    };
    let server = Server::start(place, refuses).unwrap();
    let writer = LlmContextWriter::from_config(&config(&server.base_url()), &Shared::in_memory().unwrap()).unwrap();
    let (document, mut chunks) = document();
    writer.write(&document, &mut chunks).unwrap();
    let contexts: Vec<Option<&str>> = chunks.iter().map(|chunk| chunk.context.as_deref()).collect();
    assert_eq!(contexts, [Some("Where A stands."), Some("Where It stands."), None]);
    let used = writer.used();
    assert_eq!((used.asked, used.failed, used.cached), (3, 1, 0));
    let seen = server.log().into_iter().find(|seen| seen.prompt.contains("leaks at the seal.\n[end chunk")).unwrap();
    assert!(
        seen.prompt.contains("Pumps\n[end title") && seen.prompt.contains("A pump hums.\nIt leaks"),
        "{}",
        seen.prompt
    );
    // Nothing is asked twice.
    let calls = server.calls();
    writer.write(&document, &mut chunks[..2]).unwrap();
    assert_eq!((server.calls(), writer.used().cached), (calls, 2));
}

#[test]
fn every_provider_will_do() {
    for provider in [ProviderKind::OpenAi, ProviderKind::Anthropic] {
        let both = |seen: &Seen| if seen.prompt.contains("\nPassages:\n") { shift(seen) } else { place(seen) };
        let server = Server::start(both, always(Act::Answer)).unwrap();
        let settings = LlmConfig { provider, ..config(&server.base_url()) };
        let shared = Shared::in_memory().unwrap();
        let finder = LlmShiftFinder::from_config(&settings, &shared).unwrap();
        assert_eq!(finder.first_shift(&["old", "new"]).unwrap(), Some(1), "{provider:?}");
        let writer = LlmContextWriter::from_config(&settings, &shared).unwrap();
        let (document, mut chunks) = document();
        writer.write(&document, &mut chunks).unwrap();
        assert_eq!(chunks[0].context.as_deref(), Some("Where A stands."), "{provider:?}");
    }
}

/// Of a model in this process the weights say who answers, wherever its file lies.
#[cfg(feature = "candle")]
#[test]
fn a_file_of_weights_is_known_by_its_checksum() {
    let golden = std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let folder = tempfile::tempdir().unwrap();
    let moved = folder.path().join("moved.gguf");
    std::fs::copy(golden.join("qwen2-tiny/model.gguf"), &moved).unwrap();
    let of = |model: &std::path::Path| {
        let mut settings = LlmConfig::new(ProviderKind::Candle, model.to_str().unwrap());
        settings.tokenizer = Some(golden.join("tokenizer.json"));
        LlmShiftFinder::from_config(&settings, &Shared::in_memory().unwrap()).unwrap().fingerprint()
    };
    assert_eq!(of(&moved), of(&golden.join("qwen2-tiny/model.gguf")));
    assert!(of(&moved).starts_with("candle:sha256="), "{}", of(&moved));
    assert_ne!(of(&moved), of(&golden.join("llama-tiny/model.gguf")));
}

#[test]
fn contexts_that_nobody_can_write_stop_the_run() {
    let server = Server::start(place, always(Act::Billing)).unwrap();
    let (document, mut chunks) = document();
    let writer = LlmContextWriter::from_config(&config(&server.base_url()), &Shared::in_memory().unwrap()).unwrap();
    assert!(matches!(writer.write(&document, &mut chunks), Err(LlmError::Billing { .. })));
    let offline = Shared { offline: true, ..Shared::in_memory().unwrap() };
    let writer = LlmContextWriter::from_config(&config(&server.base_url()), &offline).unwrap();
    assert!(matches!(writer.write(&document, &mut chunks), Err(LlmError::NotCached)));
    // A document of fewer chunks than a server may fail items in a row, and the server is down.
    let server = Server::start(place, always(Act::Status(503))).unwrap();
    let settings = LlmConfig { retries: 0, ..config(&server.base_url()) };
    let writer = LlmContextWriter::from_config(&settings, &Shared::in_memory().unwrap()).unwrap();
    assert!(matches!(writer.write(&document, &mut chunks), Err(LlmError::Unavailable { .. })));
    assert_eq!(writer.used().failed, 0, "the model has said nothing");
    assert!(chunks.iter().all(|chunk| chunk.context.is_none()));
}

#[test]
fn a_chunk_on_which_a_server_always_fails_keeps_its_document_waiting_but_stops_no_experiment() {
    let fails = |seen: &Seen| place(seen).contains("It");
    let plan = move |seen: &Seen| if fails(seen) { Act::Status(503) } else { Act::Answer };
    let server = Server::start(place, plan).unwrap();
    let settings = LlmConfig { retries: 0, ..config(&server.base_url()) };
    let writer = LlmContextWriter::from_config(&settings, &Shared::in_memory().unwrap()).unwrap();
    let (document, mut chunks) = document();
    assert!(matches!(writer.write(&document, &mut chunks), Err(LlmError::Unavailable { .. })));
    let pairs: Vec<(&Document, &Chunk)> = chunks.iter().map(|chunk| (&document, chunk)).collect();
    let contexts = writer.contexts(&pairs, &|| ()).unwrap();
    assert_eq!(contexts.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, true]);
    assert_eq!(writer.used().failed, 1);
}

#[test]
fn no_more_calls_are_under_way_than_allowed_however_many_ask() {
    let server = Server::start(place, always(Act::Slow(std::time::Duration::from_millis(5)))).unwrap();
    let settings = LlmConfig { concurrency: 3, ..config(&server.base_url()) };
    let writer = LlmContextWriter::from_config(&settings, &Shared::in_memory().unwrap()).unwrap();
    std::thread::scope(|scope| {
        for n in 0..4 {
            let writer = &writer;
            scope.spawn(move || {
                let document =
                    Document::from_sentences("d", &[format!("One is here, {n}."), format!("Two is there, {n}.")]);
                let (_, mut chunks) = crate::parts::document();
                chunks.truncate(2);
                for (chunk, sentence) in chunks.iter_mut().zip(&document.sentences) {
                    chunk.span = sentence.span;
                }
                writer.write(&document, &mut chunks).unwrap();
            });
        }
    });
    assert!((2..=3).contains(&server.most_at_once()), "{}", server.most_at_once());
}
