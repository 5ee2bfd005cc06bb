use pericope_segment::foreign::{Given, Offsets};
use serde::Deserialize;

/// What a retriever answers: passages, best first, and perhaps an answer of its own.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Reply {
    pub(crate) hits: Vec<GivenHit>,
    pub(crate) answer: Option<String>,
    /// What its ranges count, where it says so.
    pub(crate) offsets: Option<Offsets>,
}

/// A passage as a retriever gives it: a range of a document, or a text.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
pub(crate) struct GivenHit {
    /// The document's id; a text without one is looked for in all documents.
    pub(crate) document: Option<String>,
    #[serde(flatten)]
    pub(crate) given: Given,
    /// Its score; without one the ranks count.
    pub(crate) score: Option<f64>,
}

/// The JSON form.
#[derive(Deserialize)]
struct Form {
    hits: Option<Vec<GivenHit>>,
    answer: Option<String>,
    offsets: Option<Offsets>,
    error: Option<String>,
}

/// The two ways in which an answer is none.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NoReply {
    /// It is not of the form.
    Form(String),
    /// The retriever says that it failed.
    Failed(String),
}

impl Reply {
    /// Reads `{"hits": [...], "answer"?: TEXT}` or `{"error": TEXT}`. Fields beside these say nothing to us.
    pub(crate) fn read(value: serde_json::Value) -> Result<Self, NoReply> {
        let wrong = |problem: String| {
            NoReply::Form(format!(
                "the answer is none ({problem}); it is {{\"hits\": [{{\"document\": ..., \"start\": ..., \"end\": ...}}, ...]}}, or with \
                 \"text\" instead of start and end"
            ))
        };
        let form: Form = serde_json::from_value(value).map_err(|error| wrong(error.to_string()))?;
        match (form.error, form.hits) {
            (Some(error), _) => Err(NoReply::Failed(pericope_util::visible_line(&error).into_owned())),
            (None, Some(hits)) => Ok(Self { hits, answer: form.answer, offsets: form.offsets }),
            (None, None) => Err(wrong("it has no hits".into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{NoReply, Reply};

    #[test]
    fn hits_are_ranges_or_texts() {
        let value = json!({"hits": [{"document": "a", "start": 1, "end": 4, "score": 0.5, "more": []}, {"text": "b"}],
            "answer": "yes", "offsets": "chars", "took": 3});
        let reply = Reply::read(value).unwrap_or_default();
        assert_eq!((reply.hits.len(), reply.answer.as_deref()), (2, Some("yes")));
        assert_eq!((reply.hits[0].given.end, reply.hits[1].given.text.as_deref()), (Some(4), Some("b")));
        assert_eq!(Reply::read(json!({"hits": []})), Ok(Reply::default()));
        assert_eq!(Reply::read(json!({"error": "too\nbusy"})), Err(NoReply::Failed("too\\nbusy".into())));
        for wrong in [json!({}), json!([]), json!("x"), json!({"hits": 3}), json!({"hits": [{"start": -1, "end": 3}]})]
        {
            assert!(matches!(Reply::read(wrong.clone()), Err(NoReply::Form(_))), "{wrong}");
        }
    }
}
