//! Rerankers behind the API of Cohere, Jina and Text Embeddings Inference (TEI).

use std::fmt;
use std::time::Duration;

use pericope_api::{RerankError, Reranker};
use pericope_util::short_line;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::LlmError;
use crate::http::address;
use crate::service::JsonService;

/// The most bytes of an answer.
const MOST: u64 = 64 << 20;
/// Characters of a passage or an answer that messages repeat.
const SHOWN: usize = 60;

/// The form of the requests to a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RerankForm {
    /// `{"model", "query", "documents", "top_n"}`: Cohere (v2), Jina, vLLM.
    Documents,
    /// `{"query", "texts", "truncate": true}`: TEI.
    Texts,
}

impl RerankForm {
    /// Returns the form of a service by what its settings say: `documents` or `texts`; where nothing is said, documents with a model,
    /// texts without. None for anything else.
    #[must_use]
    pub fn of(form: Option<&str>, model: Option<&str>) -> Option<Self> {
        match (form, model) {
            (Some("documents"), _) | (None, Some(_)) => Some(Self::Documents),
            (Some("texts"), _) | (None, None) => Some(Self::Texts),
            (Some(_), _) => None,
        }
    }

    /// Passages of a request where nobody says how many: TEI refuses more than 32, the others take a thousand.
    #[must_use]
    pub fn usual_batch(self) -> usize {
        match self {
            Self::Documents => 1_000,
            Self::Texts => 32,
        }
    }
}

/// The service that a [`HttpReranker`] asks.
#[derive(Debug, Clone, PartialEq)]
pub struct RerankService<'a> {
    /// The whole address: `https://api.cohere.com/v2/rerank`.
    pub url: &'a str,
    /// The model, where the service has several.
    pub model: Option<&'a str>,
    /// The environment variable with the key that is sent as `Authorization: Bearer KEY`.
    pub key_env: Option<&'a str>,
    /// The form of the requests.
    pub form: RerankForm,
    /// Passages of one request, at most; at least 1.
    pub batch: usize,
    /// The time of one request, at most.
    pub timeout: Duration,
    /// Requests that follow one that failed, at most.
    pub retries: u32,
}

/// Scores passages by a service over HTTP. Each passage must get one score, whatever the service leaves out or repeats.
pub struct HttpReranker {
    service: JsonService,
    model: Option<String>,
    form: RerankForm,
    batch: usize,
    fingerprint: String,
}

impl HttpReranker {
    /// Names a service; it is asked when there is something to score.
    ///
    /// # Errors
    /// [`LlmError`] for an address that is none, and a key that is not set.
    pub fn new(service: &RerankService<'_>) -> Result<Self, LlmError> {
        let RerankService { url, model, key_env, form, batch, timeout, retries } = *service;
        // The configuration of a model calls its address and its key so.
        let renamed = |error| match error {
            LlmError::Config(problem) => LlmError::Config(
                problem.replace("base_url: ", "").replace("api_key_env or headers = {...}", "key_env=VARIABLE"),
            ),
            other => other,
        };
        let (_, shown) = address(url, "").map_err(renamed)?;
        let fingerprint = format!("http:{shown}:{}:{form:?}", model.unwrap_or_default());
        Ok(Self {
            service: JsonService::new(url, key_env, timeout, retries, MOST).map_err(renamed)?,
            model: model.map(str::to_owned),
            form,
            batch: batch.max(1),
            fingerprint,
        })
    }

    fn body(&self, query: &str, passages: &[&str]) -> Value {
        // Blank texts are refused by some services.
        let texts: Vec<&str> = passages.iter().map(|text| if text.trim().is_empty() { " " } else { text }).collect();
        let mut body = match self.form {
            RerankForm::Documents => json!({"query": query, "documents": texts, "top_n": texts.len()}),
            RerankForm::Texts => json!({"query": query, "texts": texts, "truncate": true}),
        };
        if let Some(model) = &self.model {
            body["model"] = json!(model);
        }
        body
    }

    fn ask(&self, query: &str, passages: &[&str], first: usize) -> Result<Vec<f32>, LlmError> {
        let answer = self.service.ask(&self.body(query, passages))?.body;
        let unusable =
            |problem: String| LlmError::Invalid { problem, answer: short_line(&answer.to_string(), 2 * SHOWN) };
        let given = results(&answer).map_err(unusable)?;
        let mut scores: Vec<Option<f32>> = vec![None; passages.len()];
        for Scored { index, score } in given {
            let place = scores.get_mut(index).ok_or_else(|| {
                unusable(format!("it scores a passage with index {index}, and {} were sent", passages.len()))
            })?;
            // Beyond the range of f32 is infinite, which is no score.
            let score = score.map(|score| score as f32).filter(|score| score.is_finite());
            if place.replace(score.unwrap_or(f32::NAN)).is_some() {
                return Err(unusable(format!("it scores the passage with index {index} twice")));
            }
        }
        let named = |at: usize| {
            let begins = short_line(passages.get(at).copied().unwrap_or_default(), SHOWN);
            format!("passage {} ({begins:?})", first + at + 1)
        };
        let missing: Vec<usize> =
            (0..scores.len()).filter(|&at| scores.get(at).copied().flatten().is_none_or(f32::is_nan)).collect();
        if let Some(&at) = missing.first() {
            let more = match missing.len() - 1 {
                0 => String::new(),
                more => format!(" and {more} more have"),
            };
            let has = if more.is_empty() { " has" } else { "" };
            return Err(unusable(format!("{}{more}{has} no score", named(at))));
        }
        Ok(scores.into_iter().flatten().collect())
    }
}

impl Reranker for HttpReranker {
    fn name(&self) -> &str {
        "http"
    }

    fn fingerprint(&self) -> String {
        self.fingerprint.clone()
    }

    fn scores(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>, RerankError> {
        let mut scores = Vec::with_capacity(passages.len());
        for batch in passages.chunks(self.batch) {
            let found = self.ask(query, batch, scores.len()).map_err(|e| RerankError::Run(Box::new(e)))?;
            scores.extend(found);
        }
        Ok(scores)
    }
}

impl fmt::Debug for HttpReranker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpReranker").field("fingerprint", &self.fingerprint).finish_non_exhaustive()
    }
}

/// A passage's score: `relevance_score` (Cohere, Jina) or `score` (TEI).
#[derive(Debug, Deserialize)]
struct Scored {
    index: usize,
    #[serde(alias = "relevance_score")]
    score: Option<f64>,
}

/// Reads `{"results": [...]}`, or the list alone.
fn results(answer: &Value) -> Result<Vec<Scored>, String> {
    let list = answer.get("results").unwrap_or(answer);
    let expected =
        "it is {\"results\": [{\"index\": 0, \"relevance_score\": 0.5}, ...]} or [{\"index\": 0, \"score\": 0.5}, ...]";
    let wrong = |problem: String| format!("{problem}; {expected}");
    let list = list.as_array().ok_or_else(|| wrong("there is no list of results".into()))?;
    list.iter().map(|one| Scored::deserialize(one).map_err(|e| wrong(e.to_string()))).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::{HttpReranker, RerankForm, RerankService, results};
    use pericope_api::Reranker;
    use std::time::Duration;

    fn service(url: &str) -> RerankService<'_> {
        RerankService {
            url,
            model: Some("m"),
            key_env: None,
            form: RerankForm::Documents,
            batch: 9,
            timeout: Duration::from_secs(1),
            retries: 0,
        }
    }

    #[test]
    fn both_forms_of_answers_are_read() {
        let pairs =
            |value| results(&value).map(|found| found.iter().map(|one| (one.index, one.score)).collect::<Vec<_>>());
        let wanted = Ok(vec![(1, Some(0.5)), (0, Some(-2.0))]);
        assert_eq!(pairs(json!([{"index": 1, "score": 0.5}, {"index": 0, "score": -2, "text": "x"}])), wanted);
        let cohere = json!({"id": "x", "results": [{"index": 1, "relevance_score": 0.5}, {"index": 0, "relevance_score": -2.0}]});
        assert_eq!(pairs(cohere), wanted);
        for wrong in [json!({}), json!("x"), json!({"results": 3}), json!([{"score": 1.0}]), json!([{"index": -1}])] {
            assert!(pairs(wrong.clone()).unwrap_err().contains("relevance_score"), "{wrong}");
        }
    }

    #[test]
    fn what_an_address_holds_is_in_no_fingerprint() {
        let reranker = HttpReranker::new(&service("https://h.example/v1/rerank?key=hush-hush-123")).unwrap();
        assert_eq!(reranker.fingerprint(), "http:https://h.example/v1/rerank:m:Documents");
        for (wrong, says) in [("https://me:pw123@h/r", "key_env=VARIABLE"), ("https://", "expected for example")] {
            let text = HttpReranker::new(&service(wrong)).unwrap_err().to_string();
            assert!(text.contains(says) && !text.contains("base_url") && !text.contains("pw123"), "{text}");
        }
    }
}
