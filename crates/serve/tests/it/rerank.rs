//! Searches whose hits a reranker orders anew.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pericope::EngineError;
use pericope::api::{RerankError, Reranker};
use pericope_serve::service::{NamedPlace, NamedReranker, Problem, Service, ServiceOptions};
use serde_json::{Value, json};

use crate::common::{INDEX, get, make_index, rules, start};

/// Scores passages by their length: the shortest, or the longest, are best. `boom` breaks it, `wait` takes its time.
pub struct Length {
    sign: f32,
    /// The greatest number of passages that it was given.
    most: AtomicUsize,
    asked: Mutex<Vec<String>>,
}

impl Length {
    pub fn new(sign: f32) -> Arc<Self> {
        Arc::new(Self { sign, most: AtomicUsize::new(0), asked: Mutex::default() })
    }
}

impl Reranker for Length {
    fn name(&self) -> &str {
        "length"
    }

    fn fingerprint(&self) -> String {
        format!("length:{}", self.sign)
    }

    fn scores(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>, RerankError> {
        self.most.fetch_max(passages.len(), Ordering::Relaxed);
        self.asked.lock().unwrap().push(query.to_owned());
        if query.contains("boom") {
            return Err(RerankError::Run("the service is gone".into()));
        }
        if query.contains("wait") {
            std::thread::sleep(Duration::from_secs(3));
        }
        Ok(passages.iter().map(|text| self.sign * text.len() as f32).collect())
    }
}

pub fn named(name: &str, reranker: &Arc<Length>) -> NamedReranker {
    NamedReranker { name: name.to_owned(), reranker: Arc::clone(reranker) as Arc<dyn Reranker> }
}

fn service(folder: &std::path::Path, rerankers: Vec<NamedReranker>) -> Result<Service, Problem> {
    let place = NamedPlace::parse(folder.join(INDEX).to_str().unwrap()).unwrap();
    let options = ServiceOptions {
        encoders: Arc::new(|_| Err(EngineError::Usage("no embedder in this test".into()))),
        addresses: rules(),
        rerankers,
        rerank_depth: 3,
        ..ServiceOptions::default()
    };
    Service::open(vec![place], options)
}

/// The lengths of the hits' texts, which their scores are with that sign.
fn lengths(answer: &Value, sign: f64) -> Vec<usize> {
    let hits = answer["hits"].as_array().unwrap();
    let length = |hit: &Value| {
        let length = hit["text"].as_str().unwrap().len();
        assert_eq!(hit["score"].as_f64(), Some(sign * length as f64), "{hit}");
        length
    };
    hits.iter().map(length).collect()
}

#[test]
fn requests_choose_among_the_rerankers_that_the_server_was_started_with() {
    let folder = make_index();
    let (short, long) = (Length::new(-1.0), Length::new(1.0));
    let service = service(folder.path(), vec![named("short", &short), named("long", &long)]).unwrap();
    let server = start(folder, Arc::new(service), |_| ()).ready();
    let search = |query: &str| {
        let reply = get(server.address, &format!("/v1/search?q=moon&mode=bm25&{query}"));
        assert_eq!(reply.status, 200, "{}", reply.text());
        reply.json()
    };
    assert_eq!(get(server.address, "/v1/indexes").json()["rerankers"], json!(["short", "long"]));
    // The first is the one where a request names none; three hits are scored.
    let answer = search("k=2");
    assert_eq!(answer["rerank"], "short");
    let found = lengths(&answer, -1.0);
    assert!(found.len() == 2 && found.is_sorted(), "{found:?}");
    assert_eq!(short.most.load(Ordering::Relaxed), 3);
    let answer = search("k=2&rerank=long");
    assert_eq!(answer["rerank"], "long");
    let found = lengths(&answer, 1.0);
    assert!(found.len() == 2 && found.is_sorted_by(|a, b| a >= b), "{found:?}");
    // As many as are asked for.
    assert!(lengths(&search("k=100&rerank=long"), 1.0).len() > 3);
    let plain = search("k=3&rerank=none");
    assert_eq!(plain.get("rerank"), None);
    assert!(plain["hits"].as_array().unwrap().iter().all(|hit| hit["score"].as_f64() > Some(0.0)));
    // Grouping and expansion come after it.
    let groups = search("k=2&group=true");
    let best: Vec<f64> =
        groups["groups"].as_array().unwrap().iter().map(|group| group["score"].as_f64().unwrap()).collect();
    assert!(best.len() == 2 && best.is_sorted_by(|a, b| a >= b) && best[0] < 0.0, "{groups}");
    let expanded = search("k=1&expand=parent");
    let hit = &expanded["hits"][0];
    assert!(hit["score"].as_f64().unwrap() < 0.0 && hit["chunks"].as_array().is_some(), "{expanded}");
    assert!(short.asked.lock().unwrap().iter().all(|query| query == "moon"), "the server does not rerank by itself");
}

#[test]
fn nothing_else_can_be_named() {
    let folder = make_index();
    let service = service(folder.path(), vec![named("short", &Length::new(-1.0))]).unwrap();
    let server = start(folder, Arc::new(service), |_| ()).ready();
    for other in ["long", "weswin", "cross-encoder:model=/etc", "https://evil.example/rerank"] {
        let other = other.replace(':', "%3A").replace('/', "%2F");
        let reply = get(server.address, &format!("/v1/search?q=moon&rerank={other}"));
        assert_eq!((reply.status, reply.header("content-type")), (400, Some("application/problem+json")), "{other}");
        let problem = reply.json();
        assert_eq!(problem["code"], "no-such-reranker", "{problem}");
        assert!(problem["detail"].as_str().unwrap().ends_with("was started with these: none, short"), "{problem}");
    }
}

#[test]
fn a_reranker_that_fails_or_takes_too_long_is_a_problem() {
    let folder = make_index();
    let service = service(folder.path(), vec![named("short", &Length::new(-1.0))]).unwrap();
    let limit = Duration::from_millis(700);
    let server = start(folder, Arc::new(service), |options| options.limits.request = limit).ready();
    let problem = |query: &str| {
        let reply = get(server.address, &format!("/v1/search?q=moon+{query}&mode=bm25"));
        assert_eq!(reply.header("content-type"), Some("application/problem+json"));
        (reply.status, reply.json())
    };
    let (status, failed) = problem("boom");
    assert_eq!((status, &failed["code"]), (502, &json!("reranker-failed")), "{failed}");
    assert!(failed["detail"].as_str().unwrap().contains("the service is gone"), "{failed}");
    let (status, late) = problem("wait");
    assert_eq!((status, &late["code"]), (504, &json!("time-limit")), "{late}");
    // Without it there is an answer.
    assert_eq!(get(server.address, "/v1/search?q=moon+boom&mode=bm25&rerank=none").status, 200);
}

#[test]
fn rerankers_have_names_of_their_own() {
    let folder = make_index();
    let short = Length::new(-1.0);
    for (names, says) in [
        (&["a", "a"][..], "two rerankers are called a"),
        (&["none"], "`none` is no name for a reranker"),
        (&["a b"], "`a b` is no name for a reranker"),
    ] {
        let rerankers = names.iter().map(|name| named(name, &short)).collect();
        let problem = service(folder.path(), rerankers).err().unwrap();
        assert!(problem.status == 400 && problem.detail.contains(says), "{problem}");
    }
}
