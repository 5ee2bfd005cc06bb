//! The reranker over HTTP against a server that answers in the forms of Cohere, Jina and TEI, or wrongly.

use std::error::Error;
use std::time::Duration;

use pericope_api::{RerankError, Reranker};
use pericope_llm::{HttpReranker, LlmError, RerankForm, RerankService};
use pericope_testkit::llm::{Act, Seen, Server};
use serde_json::{Value, json};

fn service(url: &str, form: RerankForm) -> RerankService<'_> {
    let model = (form == RerankForm::Documents).then_some("rerank-v4");
    RerankService { url, model, key_env: None, form, batch: 100, timeout: Duration::from_secs(20), retries: 1 }
}

/// The texts of a request, in either form.
fn texts(seen: &Seen) -> Vec<String> {
    let list = seen.body.get("documents").or_else(|| seen.body.get("texts")).and_then(Value::as_array).unwrap();
    list.iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// A score that depends on the text alone: its length.
fn length(text: &str) -> f64 {
    text.len() as f64 / 8.0
}

/// What a good service answers: best first, as they all do.
fn good(seen: &Seen) -> Act {
    let mut scored: Vec<(usize, f64)> = texts(seen).iter().map(|text| length(text)).enumerate().collect();
    scored.sort_by(|a, b| b.1.total_cmp(&a.1));
    let answer = match seen.body.get("texts") {
        Some(_) => json!(scored.iter().map(|(i, s)| json!({"index": i, "score": s})).collect::<Vec<_>>()),
        None => {
            json!({"results": scored.iter().map(|(i, s)| json!({"index": i, "relevance_score": s})).collect::<Vec<_>>()})
        }
    };
    Act::Raw(200, answer.to_string())
}

const PASSAGES: [&str; 4] = ["a tide", "the moon pulls the sea", "", "salt"];

fn wanted() -> Vec<f32> {
    // A blank text is sent as one blank.
    PASSAGES.map(|text| length(if text.is_empty() { " " } else { text }) as f32).to_vec()
}

#[test]
fn services_of_both_forms_are_asked_as_they_want_it() {
    let server = Server::start(|_| String::new(), good).unwrap();
    let url = format!("{}/rerank", server.base_url());
    let cohere = HttpReranker::new(&service(&url, RerankForm::Documents)).unwrap();
    assert_eq!(cohere.scores("why tides?", &PASSAGES).unwrap(), wanted());
    let call = &server.log()[0];
    assert_eq!(
        call.body,
        json!({"model": "rerank-v4", "query": "why tides?", "documents": ["a tide", "the moon pulls the sea", " ", "salt"],
            "top_n": 4})
    );
    assert_eq!((call.path.as_str(), call.headers.get("authorization")), ("/v1/rerank", None));
    let tei = HttpReranker::new(&RerankService { batch: 3, ..service(&url, RerankForm::Texts) }).unwrap();
    assert_eq!(tei.scores("why tides?", &PASSAGES).unwrap(), wanted());
    let log = server.log();
    assert_eq!(log.len(), 3, "four passages in batches of three");
    assert_eq!(log[2].body, json!({"query": "why tides?", "texts": ["salt"], "truncate": true}));
    assert!(tei.scores("x", &[]).unwrap().is_empty());
    assert_eq!(server.calls(), 3);
}

/// The error that a server's answer gives.
fn refused(act: Act) -> LlmError {
    let server = Server::start(|_| String::new(), move |_| act.clone()).unwrap();
    let url = format!("{}/rerank", server.base_url());
    let asked = RerankService { retries: 0, ..service(&url, RerankForm::Documents) };
    let error = HttpReranker::new(&asked).unwrap().scores("why?", &["one", "two\nlines", "three"]).unwrap_err();
    let RerankError::Run(source) = error else { panic!("{error}") };
    let source: Box<dyn Error> = source;
    *source.downcast::<LlmError>().unwrap()
}

#[test]
fn every_passage_needs_a_score() {
    let list = |results: Value| Act::Raw(200, json!({"results": results}).to_string());
    let one = |index: usize, score: Value| json!({"index": index, "relevance_score": score});
    for (act, says) in [
        (list(json!([one(0, json!(0.5)), one(2, json!(0.1))])), "passage 2 (\"two lines\") has no score"),
        (list(json!([one(1, json!(0.5))])), "passage 1 (\"one\") and 1 more have no score"),
        (
            list(json!([one(0, json!(1)), one(1, json!(null)), one(2, json!(1))])),
            "passage 2 (\"two lines\") has no score",
        ),
        (
            list(json!([one(0, json!(1)), one(1, json!(1e300)), one(2, json!(1))])),
            "passage 2 (\"two lines\") has no score",
        ),
        (list(json!([one(0, json!(1)), one(0, json!(1))])), "it scores the passage with index 0 twice"),
        (list(json!([one(3, json!(1))])), "a passage with index 3, and 3 were sent"),
        (Act::Raw(200, "{\"message\": \"hello\"}".into()), "there is no list of results"),
    ] {
        let error = refused(act);
        let text = error.to_string();
        assert!(text.contains(says) && !error.aborts_run() && !text.contains('\n'), "{says}: {text}");
    }
}

#[test]
fn a_service_that_is_none_or_refuses_is_named() {
    let error = refused(Act::Status(404));
    assert!(error.aborts_run() && error.to_string().contains("/v1/rerank is no service (404)"), "{error}");
    let error = refused(Act::Error(401, "no key".into()));
    assert!(error.aborts_run() && error.to_string().contains("refuses the key (401)"), "{error}");
    let error = refused(Act::Error(400, "too many documents".into()));
    assert!(!error.aborts_run() && error.to_string().contains("too many documents"), "{error}");
    let asked =
        RerankService { key_env: Some("PERICOPE_TEST_NO_SUCH_KEY"), ..service("http://h/r", RerankForm::Texts) };
    let text = HttpReranker::new(&asked).unwrap_err().to_string();
    assert!(text.contains("PERICOPE_TEST_NO_SUCH_KEY is not set"), "{text}");
}
