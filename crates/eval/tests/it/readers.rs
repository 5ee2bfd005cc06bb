//! Chunkers and retrievers that each have their answers made by another reader.

use std::sync::Arc;

use pericope_api::{Span, SpanReader, SpanReaderError};
use pericope_eval::answer::{Missing, Models};
use pericope_eval::record::Item;
use pericope_eval::retriever::Finder;
use serde_json::{Value, json};

use super::judges::{QUESTIONS, go_with, lines, parsed, questions};

/// Answers with the first word of the first text.
struct FirstWord;

impl SpanReader for FirstWord {
    fn name(&self) -> &str {
        "first word"
    }

    fn fingerprint(&self) -> String {
        "first word".into()
    }

    fn answer(&self, _: &str, texts: &[&str]) -> Result<Option<pericope_api::FoundSpan>, SpanReaderError> {
        let word = texts.first().and_then(|text| Some(Span::new(0, text.find(' ')?)));
        Ok(word.map(|span| pericope_api::FoundSpan { text: 0, span, score: 1.0 }))
    }

    fn recall(&self, _: &str, _: &[&str], _: usize) -> Result<Vec<pericope_api::FoundSpan>, SpanReaderError> {
        Ok(Vec::new())
    }
}

struct Halls;

impl Finder for Halls {
    fn fingerprint(&self) -> String {
        "halls".into()
    }

    fn find(&self, _: &str, _: usize) -> Result<Value, Missing> {
        Ok(json!({"hits": [{"text": "Dust lies on shelf 1 of room 0, as it did in the winter before last."}]}))
    }
}

const READERS: &str = "[{name=\"best\", spec=\"fixed:words=30\", generator=\"best\"}, \
    {name=\"extractive\", spec=\"fixed:words=30\"}, {name=\"first\", spec=\"fixed:words=30\", generator=\"cogltx\"}]";

#[test]
fn readers_are_compared_in_one_run() {
    let (data, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    questions(data.path());
    let (chunkers, retrievers) =
        (format!("chunker={READERS}"), "retriever=[{name=\"halls\", spec=\"custom\", generator=\"best\"}]");
    let compare = "compare={baseline=\"best\", primary={metric=\"token_f1\", k=1}}";
    let experiment = parsed(data.path(), &["answer.generator=extractive", &chunkers, retrievers, compare]);
    let models = Models {
        reader: Some(Arc::new(FirstWord)),
        finders: [("halls".to_owned(), Arc::new(Halls) as Arc<dyn Finder>)].into(),
        ..Models::default()
    };
    let summary = go_with(&experiment, out.path(), models, false, None).unwrap();
    assert_eq!(summary.failed, 0);
    let items: Vec<Item> = lines(&out.path().join("items.jsonl"));
    assert_eq!(items.len(), 4 * 2 * QUESTIONS);
    for item in &items {
        let (answer, best) = (&item.answer.as_ref().unwrap().text, &item.retrieved[0].text);
        match item.chunker.as_str() {
            "best" | "halls" => assert_eq!(answer, best),
            "first" => assert_eq!(answer.split(' ').count(), 1, "{answer}"),
            _ => assert!(item.retrieved.iter().any(|chunk| chunk.text.contains(answer)), "{answer}"),
        }
    }
    let answers = |name: &str| -> Vec<&str> {
        items
            .iter()
            .filter(|item| item.chunker == name)
            .map(|item| item.answer.as_ref().unwrap().text.as_str())
            .collect()
    };
    assert!(answers("extractive") != answers("best"));
    // The same chunks and the same search.
    let recalls = |name: &str| -> Vec<f64> {
        let own = items.iter().filter(|item| item.chunker == name);
        own.map(|item| item.metrics.iter().find(|(metric, _)| metric.key() == "span_recall").unwrap().1)
            .copied()
            .collect()
    };
    assert!(recalls("best") == recalls("extractive") && recalls("best") == recalls("first"));
    let shown: Vec<String> = summary.chunkers.iter().map(|row| row.shown_spec()).collect();
    assert!(shown[0].ends_with(" + answers by best") && shown[2].ends_with(" + answers by cogltx"), "{shown:?}");
    assert!(!shown[1].contains("answers by"), "{shown:?}");
    // What decides is a pair of readers on the same questions.
    let verdict = serde_json::to_value(summary.verdict.as_ref().unwrap()).unwrap();
    assert_eq!((&verdict["primary"]["metric"], &verdict["primary"]["baseline"]), (&json!("token_f1"), &json!("best")));
    assert_eq!(verdict["possible"], json!(["best", "extractive"]), "{verdict}");
}
