//! `items.html`: every item of a run in a page that filters and sorts without a server.
//!
//! The page holds the items as one block of JSON and a script that shows a screenful at a time; it loads nothing. Texts
//! that are retrieved again and again are held once. Where all texts would be too much for a browser, chunks keep their
//! place and heading and lose their text, and the page says so.

use std::collections::HashMap;
use std::path::Path;

use serde_json::{Value, json};

use super::load::each_line;
use super::{Report, ReportError};
use crate::kit::markup::Markup;
use crate::kit::shell;
use pericope_eval::cell::Setting;
use pericope_eval::metric::Metric;
use pericope_eval::record::{Item, Status};

/// Bytes of chunk texts at most; beyond, chunks are held without theirs.
const TEXTS: usize = 16 << 20;
/// Bytes of one text at most.
const TEXT: usize = 4 << 10;

const STYLE: &str = include_str!("browser.css");
const SCRIPT: &str = include_str!("browser.js");

/// The page, from the items of a run in their file.
pub(super) fn page(report: &Report, items: &Path) -> Result<String, ReportError> {
    let mut held = Held::default();
    each_line(items, |item: Item, _| {
        held.take(item);
        Ok(())
    })?;
    Ok(markup(report, &held.finish(report)))
}

/// The items as the script wants them.
#[derive(Default)]
struct Held {
    questions: Vec<Value>,
    question: HashMap<String, usize>,
    chunks: Vec<Value>,
    chunk: HashMap<(String, usize, usize), usize>,
    settings: Vec<Setting>,
    chunkers: Vec<String>,
    metrics: Vec<Metric>,
    items: Vec<Value>,
    bytes: usize,
    without_text: usize,
}

impl Held {
    fn take(&mut self, item: Item) {
        let setting = item.setting();
        let question = match self.question.get(&item.question_id) {
            Some(&at) => at,
            None => {
                let at = self.questions.len();
                self.questions.push(json!({
                    "id": item.question_id, "text": item.question,
                    "gold": {"document": item.gold.document, "text": clipped(&item.gold.text),
                             "spans": item.gold.spans.iter().map(|s| [s.start, s.end]).collect::<Vec<_>>()},
                }));
                self.question.insert(item.question_id.clone(), at);
                at
            }
        };
        let setting = place(&mut self.settings, setting);
        let chunker = place(&mut self.chunkers, item.chunker.clone());
        let chunks: Vec<Value> = item
            .retrieved
            .iter()
            .map(|chunk| {
                let key = (chunk.document.clone(), chunk.start, chunk.end);
                let at = *self.chunk.entry(key).or_insert_with(|| {
                    let mut text = clipped(&chunk.text);
                    if self.bytes + text.len() > TEXTS {
                        text = String::new();
                        self.without_text += 1;
                    }
                    self.bytes += text.len();
                    self.chunks.push(json!([chunk.document, chunk.start, chunk.end, chunk.heading_path, text]));
                    self.chunks.len() - 1
                });
                json!([at, rounded(chunk.score), rounded(chunk.gold_share), chunk.tokens])
            })
            .collect();
        let mut scores = Vec::new();
        for (metric, value) in &item.metrics {
            let at = place(&mut self.metrics, metric.clone());
            if scores.len() <= at {
                scores.resize(at + 1, Value::Null);
            }
            if let Some(slot) = scores.get_mut(at) {
                *slot = rounded(*value);
            }
        }
        let mut row =
            json!({"q": question, "c": chunker, "s": setting, "m": scores, "r": chunks, "t": item.context_tokens});
        if let Some(row) = row.as_object_mut() {
            let mut put = |key: &str, value: Value| row.insert(key.to_owned(), value);
            if let Some(answer) = &item.answer {
                put("a", clipped(&answer.text).into());
            }
            if let Some(judgement) = &item.judgement {
                put("j", json!({"score": judgement.score, "reason": judgement.reason, "votes": judgement.votes}));
            }
            if item.dropped > 0 {
                put("d", item.dropped.into());
            }
            if item.status == Status::Failed {
                put("e", item.error.unwrap_or_else(|| "failed".into()).into());
            }
        }
        self.items.push(row);
    }

    fn finish(self, report: &Report) -> String {
        let metrics: Vec<Value> = (self.metrics.iter())
            .map(|metric| {
                json!({"key": metric.key(), "label": metric.label(), "most": if metric.unit().value(1.0).contains('%') { 1 } else { 10 }})
            })
            .collect();
        let settings: Vec<String> = self.settings.iter().map(|s| format!("{}, {}", s.mode, s.label())).collect();
        let whole = json!({
            "name": report.name(), "metrics": metrics, "settings": settings, "chunkers": self.chunkers,
            "questions": self.questions, "chunks": self.chunks, "items": self.items, "withoutText": self.without_text,
        });
        // Inside a script element only `</` and `<!--` could end or confuse it.
        whole.to_string().replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
    }
}

/// Where a value stands in a list that grows by it.
fn place<T: PartialEq>(list: &mut Vec<T>, value: T) -> usize {
    list.iter().position(|known| *known == value).unwrap_or_else(|| {
        list.push(value);
        list.len() - 1
    })
}

fn rounded(value: f64) -> Value {
    if value.is_finite() { json!((value * 1e4).round() / 1e4) } else { Value::Null }
}

fn clipped(text: &str) -> String {
    if text.len() <= TEXT {
        return text.to_owned();
    }
    let mut end = TEXT;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{} …", text.get(..end).unwrap_or_default())
}

fn markup(report: &Report, data: &str) -> String {
    let title = format!("{}, item by item – Pericope", report.name());
    shell::with(&title, STYLE, SCRIPT, None, |m: &mut Markup| {
        m.element("header", &[("class", "top")], |m| {
            m.element("p", &[("class", "eyebrow")], |m| {
                m.leaf("a", &[("href", "index.html")], "Report");
                m.text(" · item by item");
            });
            m.leaf("h1", &[], report.name());
        });
        m.element("main", &[("id", "main")], |m| {
            m.leaf("noscript", &[], "This page needs its script; items.jsonl holds the same.");
            m.leaf("p", &[("id", "says"), ("class", "facts"), ("role", "status")], "");
            m.leaf("form", &[("id", "filters"), ("class", "filters")], "");
            m.leaf("ol", &[("id", "list"), ("class", "list")], "");
            m.leaf("p", &[("id", "pages"), ("class", "switch")], "");
        });
        m.element("script", &[("type", "application/json"), ("id", "data")], |m| m.raw(data));
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use pericope_eval::cell::Cutoff;
    use pericope_eval::record::{Answer, Judgement, Retrieved};

    fn data(page: &str) -> Value {
        let from = page.find("id=\"data\">").unwrap() + 10;
        let text = &page[from..from + page[from..].find("</script>").unwrap()];
        serde_json::from_str(text).unwrap()
    }

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
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut failed = item("b", "text");
        (failed.status, failed.error) = (Status::Failed, Some("timed out".into()));
        let lines: Vec<String> =
            [item("a", "text"), failed].iter().map(|item| serde_json::to_string(item).unwrap()).collect();
        std::fs::write(file.path(), lines.join("\n")).unwrap();
        let page = page(&Report::default(), file.path()).unwrap();
        let data = data(&page);
        assert_eq!(data["questions"][0]["text"], "Why </script><b>?");
        assert_eq!((data["chunks"].as_array().unwrap().len(), data["items"].as_array().unwrap().len()), (1, 2));
        assert_eq!(data["items"][0]["j"]["reason"], "close");
        assert_eq!(data["items"][1]["e"], "timed out");
        assert_eq!(data["settings"][0].as_str().unwrap().replace('\u{a0}', " "), "dense, k = 3");
        assert_eq!(data["items"][0]["m"], json!([7.0, 0.1235]));
    }

    #[test]
    fn texts_have_a_limit() {
        let mut held = Held { bytes: TEXTS - 2, ..Held::default() };
        held.take(item("a", "long text"));
        assert_eq!(held.without_text, 1);
        assert_eq!(held.chunks[0][4], "");
        assert!(clipped(&"é".repeat(TEXT)).len() < TEXT + 8);
    }
}
