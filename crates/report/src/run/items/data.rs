//! The items as the page's script wants them.

use std::collections::HashMap;
use std::hash::Hash;

use pericope_eval::cell::Setting;
use pericope_eval::metric::{Metric, Unit};
use pericope_eval::record::{Item, Judgement, Retrieved, Status};
use serde::Serialize;
use serde_json::json;

/// Bytes of chunk texts at most; beyond, chunks are held without theirs.
const TEXTS: usize = 16 << 20;
/// Bytes of one text at most.
const TEXT: usize = 4 << 10;

/// All items of a run as its page of items shows them: compact JSON in which every question and every chunk stands once.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Items {
    question_of: Numbered<String>,
    chunk_of: Numbered<(String, usize, usize)>,
    settings: Numbered<Setting>,
    chunkers: Numbered<String>,
    metrics: Numbered<Metric>,
    questions: JsonList,
    chunks: JsonList,
    items: JsonList,
    bytes: usize,
    without_text: usize,
}

/// An item; the keys are those of the script.
#[derive(Serialize)]
struct Row<'a> {
    q: usize,
    c: usize,
    s: usize,
    m: Vec<Option<f64>>,
    r: Vec<(usize, Option<f64>, Option<f64>, usize)>,
    t: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    a: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    j: Option<Judged<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    d: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    e: Option<&'a str>,
}

#[derive(Serialize)]
struct Judged<'a> {
    score: f64,
    reason: &'a str,
    votes: &'a [f64],
}

impl<'a> From<&'a Judgement> for Judged<'a> {
    fn from(of: &'a Judgement) -> Self {
        Self { score: of.score, reason: &of.reason, votes: &of.votes }
    }
}

impl Items {
    /// Adds an item; returns the numbers of its question and of its setting, and its scores by the number of the metric.
    pub(in crate::run) fn take(&mut self, item: &Item) -> (usize, usize, Vec<Option<f64>>) {
        let (question, new) = self.question_of.place(item.question_id.clone());
        if new {
            let spans: Vec<[usize; 2]> = item.gold.spans.iter().map(|s| [s.start, s.end]).collect();
            self.questions.push(&json!({
                "id": item.question_id, "text": item.question,
                "gold": {"document": item.gold.document, "text": clipped(&item.gold.text), "spans": spans},
            }));
        }
        let (setting, _) = self.settings.place(item.setting());
        let (chunker, _) = self.chunkers.place(item.chunker.clone());
        let mut scores = Vec::new();
        for (metric, value) in item.metrics.iter().filter(|(_, value)| value.is_finite()) {
            let (at, _) = self.metrics.place(metric.clone());
            scores.resize(scores.len().max(at + 1), None);
            if let Some(slot) = scores.get_mut(at) {
                *slot = Some(*value);
            }
        }
        let row = Row {
            q: question,
            c: chunker,
            s: setting,
            m: scores.iter().map(|value| value.and_then(rounded)).collect(),
            r: item.retrieved.iter().map(|chunk| self.chunk(chunk)).collect(),
            t: item.context_tokens,
            a: item.answer.as_ref().map(|answer| clipped(&answer.text)),
            j: item.judgement.as_ref().map(Judged::from),
            d: Some(item.dropped).filter(|dropped| *dropped > 0),
            e: (item.status == Status::Failed).then(|| item.error.as_deref().unwrap_or("failed")),
        };
        self.items.push(&row);
        (question, setting, scores)
    }

    /// The id of a question.
    pub(in crate::run) fn question(&self, number: usize) -> &str {
        self.question_of.list.get(number).map_or("", String::as_str)
    }

    /// The number of a setting.
    pub(in crate::run) fn setting(&self, setting: &Setting) -> Option<usize> {
        self.settings.numbers.get(setting).copied()
    }

    /// The number of a metric.
    pub(in crate::run) fn metric(&self, metric: &Metric) -> Option<usize> {
        self.metrics.numbers.get(metric).copied()
    }

    fn chunk(&mut self, chunk: &Retrieved) -> (usize, Option<f64>, Option<f64>, usize) {
        let (at, new) = self.chunk_of.place((chunk.document.clone(), chunk.start, chunk.end));
        if new {
            let mut text = clipped(&chunk.text);
            if self.bytes + text.len() > TEXTS {
                text.clear();
                self.without_text += 1;
            }
            self.bytes += text.len();
            self.chunks.push(&(&chunk.document, chunk.start, chunk.end, &chunk.heading_path, text));
        }
        (at, rounded(chunk.score), rounded(chunk.gold_share), chunk.tokens)
    }

    /// Returns all of it, so that it may stand in a script element: only `</` and `<!--` could end or confuse that.
    pub(super) fn json(&self, name: &str) -> String {
        let most = |metric: &Metric| if metric.unit() == Unit::Share { 1 } else { 10 };
        let metrics = self.metrics.list.iter();
        let metrics = metrics.map(|m| json!({"key": m.key(), "label": m.label(), "most": most(m)})).collect();
        let settings = self.settings.list.iter().map(|s| format!("{}, {}", s.mode, s.label()).into()).collect();
        let (name, metrics, settings) =
            (json!(name), serde_json::Value::Array(metrics), serde_json::Value::Array(settings));
        let (chunkers, questions, chunks, items) =
            (json!(self.chunkers.list), &self.questions.0, &self.chunks.0, &self.items.0);
        let whole = format!(
            "{{\"name\":{name},\"metrics\":{metrics},\"settings\":{settings},\"chunkers\":{chunkers},\
             \"questions\":[{questions}],\"chunks\":[{chunks}],\"items\":[{items}],\"withoutText\":{}}}",
            self.without_text
        );
        whole.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
    }
}

/// Values numbered in the order in which they come.
#[derive(Debug, Clone, PartialEq)]
struct Numbered<T: Eq + Hash> {
    list: Vec<T>,
    numbers: HashMap<T, usize>,
}

impl<T: Eq + Hash> Default for Numbered<T> {
    fn default() -> Self {
        Self { list: Vec::new(), numbers: HashMap::new() }
    }
}

impl<T: Eq + Hash + Clone> Numbered<T> {
    /// Returns the number of a value, and whether it is new.
    fn place(&mut self, value: T) -> (usize, bool) {
        if let Some(&number) = self.numbers.get(&value) {
            return (number, false);
        }
        let number = self.list.len();
        self.list.push(value.clone());
        self.numbers.insert(value, number);
        (number, true)
    }
}

/// JSON values, separated by commas.
#[derive(Debug, Clone, PartialEq, Default)]
struct JsonList(String);

impl JsonList {
    fn push(&mut self, value: &impl Serialize) {
        if !self.0.is_empty() {
            self.0.push(',');
        }
        // Texts and numbers always have a JSON form.
        self.0.push_str(&serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned()));
    }
}

fn rounded(value: f64) -> Option<f64> {
    value.is_finite().then(|| (value * 1e4).round() / 1e4)
}

fn clipped(text: &str) -> String {
    if text.len() <= TEXT {
        return text.to_owned();
    }
    format!("{} …", text.get(..text.floor_char_boundary(TEXT)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::run::items::page;
    use pericope_eval::cell::Cutoff;
    use pericope_eval::record::Answer;
    use serde_json::Value;

    fn item(chunker: &str, text: &str) -> Item {
        Item {
            question_id: "q".into(),
            question: "Why </script><b>?".into(),
            chunker: chunker.into(),
            mode: "dense".into(),
            cutoff: Cutoff::K(3),
            retrieved: vec![Retrieved { document: "d".into(), end: 4, text: text.into(), ..Retrieved::default() }],
            answer: Some(Answer { text: "Because".into(), ..Answer::default() }),
            judgement: Some(Judgement { score: 7.0, reason: "close".into(), votes: vec![7.0], ..Judgement::default() }),
            metrics: [("judge".into(), 7.0), ("span_recall".into(), 0.123_456)].into(),
            ..Item::default()
        }
    }

    #[test]
    fn items_are_held_once_and_cannot_end_the_block() {
        let mut items = Items::default();
        items.take(&item("a", "text"));
        items.take(&Item { status: Status::Failed, error: Some("timed out".into()), ..item("b", "text") });
        let page = page("x", &items);
        let (_, after) = page.split_once("id=\"data\">").unwrap();
        let data: Value = serde_json::from_str(after.split_once("</script>").unwrap().0).unwrap();
        assert_eq!(data["questions"][0]["text"], "Why </script><b>?");
        assert_eq!((data["chunks"].as_array().unwrap().len(), data["items"].as_array().unwrap().len()), (1, 2));
        assert_eq!(data["items"][0]["j"]["reason"], "close");
        assert_eq!(data["items"][1]["e"], "timed out");
        assert_eq!(data["settings"][0].as_str().unwrap().replace('\u{a0}', " "), "dense, k = 3");
        assert_eq!(data["items"][0]["m"], json!([7.0, 0.1235]));
    }

    #[test]
    fn texts_have_a_limit() {
        let mut items = Items { bytes: TEXTS - 2, ..Items::default() };
        items.take(&item("a", "long text"));
        assert_eq!(items.without_text, 1);
        assert!(items.chunks.0.ends_with(",[],\"\"]"), "{}", items.chunks.0);
        assert!(clipped(&"é".repeat(TEXT)).len() < TEXT + 8);
    }
}
