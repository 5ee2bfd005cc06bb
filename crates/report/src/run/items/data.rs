//! The items as the page's script wants them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::Hash;
use std::io::{self, Write};

use pericope_eval::cell::Setting;
use pericope_eval::metric::{Metric, Unit};
use pericope_eval::record::{Item, Retrieved, Status};
use pericope_util::sound;
use serde::Serialize;
use serde_json::json;

/// Items on the page at most.
const ITEMS: usize = 150_000;
/// Bytes of JSON on the page, about, at most.
const BYTES: usize = 48 << 20;
/// Bytes of chunk texts at most; beyond, chunks are held without theirs.
const TEXTS: usize = 16 << 20;
/// Bytes of one text at most: a chunk's, a gold answer, an answer.
const TEXT: usize = 4 << 10;
/// Bytes of a question, a reason or an error at most.
const LINE: usize = 1 << 10;
/// Bytes of a name at most: an id, a document, a heading.
const NAME: usize = 300;
/// Headings of a path at most, outermost first.
const HEADINGS: usize = 8;
/// Gold spans of a question at most.
const SPANS: usize = 64;

/// The items of a run as its page of items shows them: compact data in which every question and every chunk stands once.
///
/// What it holds is bounded. Of a run with more items than there is room for, the first questions are held with all that
/// belongs to them, and the others are counted.
#[derive(Debug, Clone, PartialEq)]
pub struct Items {
    question_of: Numbered<String>,
    settings: Numbered<Setting>,
    chunkers: Numbered<String>,
    metrics: Numbered<Metric>,
    /// The questions that are held, as JSON; those with the lowest numbers.
    questions: Vec<String>,
    /// Questions with lower numbers are held.
    held: usize,
    chunk_of: Numbered<(String, usize, usize)>,
    chunks: Vec<Chunk>,
    rows: Vec<Row>,
    left_out: usize,
    bytes: usize,
    texts: usize,
    most: Room,
}

/// What there is room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Room {
    items: usize,
    bytes: usize,
    texts: usize,
}

/// A chunk as JSON: document, start, end, heading path, text.
#[derive(Debug, Clone, PartialEq)]
struct Chunk {
    json: String,
    /// Bytes of its text; none where there was no room for it.
    text: Option<usize>,
}

/// An item; the keys are those of the script.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Row {
    q: usize,
    c: usize,
    s: usize,
    m: Vec<Option<f64>>,
    r: Vec<(usize, Option<f64>, Option<f64>, usize)>,
    t: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    a: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    j: Option<Judged>,
    #[serde(skip_serializing_if = "Option::is_none")]
    d: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    e: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct Judged {
    score: f64,
    reason: String,
    votes: Vec<f64>,
}

impl Row {
    /// Bytes that it takes as JSON, about: as many as its texts, and what numbers take.
    fn bytes(&self) -> usize {
        let texts = [&self.a, &self.e].into_iter().flatten().map(String::len).sum::<usize>();
        let judged = self.j.as_ref().map_or(0, |judged| judged.reason.len() + 8 * judged.votes.len());
        60 + texts + judged + 8 * self.m.len() + 28 * self.r.len()
    }
}

impl Default for Items {
    fn default() -> Self {
        Self::with_room(Room { items: ITEMS, bytes: BYTES, texts: TEXTS })
    }
}

impl Items {
    fn with_room(most: Room) -> Self {
        Self {
            question_of: Numbered::default(),
            settings: Numbered::default(),
            chunkers: Numbered::default(),
            metrics: Numbered::default(),
            questions: Vec::new(),
            held: usize::MAX,
            chunk_of: Numbered::default(),
            chunks: Vec::new(),
            rows: Vec::new(),
            left_out: 0,
            bytes: 0,
            texts: 0,
            most,
        }
    }

    /// Adds an item; returns the numbers of its question and of its setting, and its scores by the number of the metric.
    pub(in crate::run) fn take(&mut self, item: &Item) -> (usize, usize, Vec<Option<f64>>) {
        let (question, _) = self.question_of.place(&item.question_id);
        let (setting, _) = self.settings.place(&item.setting());
        let (chunker, _) = self.chunkers.place(&item.chunker);
        let mut scores = Vec::new();
        for (metric, value) in item.metrics.iter().filter(|(_, value)| value.is_finite()) {
            let (at, _) = self.metrics.place(metric);
            scores.resize(scores.len().max(at + 1), None);
            if let Some(slot) = scores.get_mut(at) {
                *slot = Some(*value);
            }
        }
        if question < self.held {
            self.hold(item, question, setting, chunker, &scores);
            while self.held > 0 && (self.rows.len() > self.most.items || self.bytes > self.most.bytes) {
                self.make_room();
            }
        } else {
            self.left_out += 1;
        }
        (question, setting, scores)
    }

    /// Adds an item to those that are held.
    fn hold(&mut self, item: &Item, question: usize, setting: usize, chunker: usize, scores: &[Option<f64>]) {
        if question >= self.questions.len() {
            let json = described(item);
            self.bytes += json.len();
            self.questions.push(json);
        }
        let row = Row {
            q: question,
            c: chunker,
            s: setting,
            m: scores.iter().map(|value| value.and_then(rounded)).collect(),
            r: item.retrieved.iter().map(|chunk| self.chunk(chunk)).collect(),
            t: item.context_tokens,
            a: item.answer.as_ref().map(|answer| clipped(&answer.text, TEXT)),
            j: item.judgement.as_ref().map(|of| Judged {
                score: of.score,
                reason: clipped(&of.reason, LINE),
                votes: of.votes.iter().take(SPANS).copied().collect(),
            }),
            d: Some(item.dropped).filter(|dropped| *dropped > 0),
            e: (item.status == Status::Failed).then(|| clipped(item.error.as_deref().unwrap_or("failed"), LINE)),
        };
        self.bytes += row.bytes();
        self.rows.push(row);
    }

    /// Lets go of the later half of the questions.
    fn make_room(&mut self) {
        self.held = self.questions.len() / 2;
        self.questions.truncate(self.held);
        let before = self.rows.len();
        self.rows.retain(|row| row.q < self.held);
        self.left_out += before - self.rows.len();
        // Chunks that nothing refers to go too.
        let (names, chunks) = (std::mem::take(&mut self.chunk_of), std::mem::take(&mut self.chunks));
        let mut moved: Vec<Option<usize>> = vec![None; chunks.len()];
        for hit in self.rows.iter_mut().flat_map(|row| &mut row.r) {
            let (Some(new), Some(name), Some(chunk)) = (moved.get_mut(hit.0), names.list.get(hit.0), chunks.get(hit.0))
            else {
                continue;
            };
            hit.0 = *new.get_or_insert_with(|| {
                self.chunks.push(chunk.clone());
                self.chunk_of.place(name).0
            });
        }
        self.texts = self.chunks.iter().filter_map(|chunk| chunk.text).sum();
        self.bytes = self.questions.iter().map(String::len).sum::<usize>()
            + self.chunks.iter().map(|chunk| chunk.json.len()).sum::<usize>()
            + self.rows.iter().map(Row::bytes).sum::<usize>();
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
        let (at, new) = self.chunk_of.place(&(chunk.document.clone(), chunk.start, chunk.end));
        if new {
            let mut text = clipped(&chunk.text, TEXT);
            let fits = self.texts + text.len() <= self.most.texts;
            if !fits {
                text.clear();
            }
            self.texts += text.len();
            let headings: Vec<String> = chunk.heading_path.iter().take(HEADINGS).map(|h| clipped(h, NAME)).collect();
            let json = json_of(&(clipped(&chunk.document, NAME), chunk.start, chunk.end, headings, &text));
            self.bytes += json.len();
            self.chunks.push(Chunk { json, text: fits.then_some(text.len()) });
        }
        (at, rounded(chunk.score), rounded(chunk.gold_share), chunk.tokens)
    }

    /// Writes all of it as JSON that may stand in a script element: only `</` and `<!--` could end or confuse that.
    pub(super) fn write(&self, out: &mut dyn Write, name: &str) -> io::Result<()> {
        let most = |metric: &Metric| if metric.unit() == Unit::Share { 1 } else { 10 };
        let metrics = self.metrics.list.iter();
        let metrics: Vec<_> = metrics.map(|m| json!({"key": m.key(), "label": m.label(), "most": most(m)})).collect();
        let settings: Vec<_> = self.settings.list.iter().map(|s| format!("{}, {}", s.mode, s.label())).collect();
        let chunkers: Vec<_> = self.chunkers.list.iter().map(|name| clipped(name, NAME)).collect();
        let mut put = |text: &str| out.write_all(safe(text).as_bytes());
        let (name, metrics, settings) = (json_of(&name), json_of(&metrics), json_of(&settings));
        put(&format!("{{\"name\":{name},\"metrics\":{metrics},\"settings\":{settings}"))?;
        put(&format!(",\"chunkers\":{},\"questions\":[", json_of(&chunkers)))?;
        listed(&mut put, self.questions.iter().map(|json| Cow::Borrowed(json.as_str())))?;
        put("],\"chunks\":[")?;
        listed(&mut put, self.chunks.iter().map(|chunk| Cow::Borrowed(chunk.json.as_str())))?;
        put("],\"items\":[")?;
        listed(&mut put, self.rows.iter().map(|row| Cow::Owned(json_of(row))))?;
        let without_text = self.chunks.iter().filter(|chunk| chunk.text.is_none()).count();
        let questions = self.question_of.list.len() - self.questions.len();
        put(&format!("],\"withoutText\":{without_text}"))?;
        if self.left_out > 0 {
            put(&format!(",\"leftOut\":{{\"questions\":{questions},\"items\":{}}}", self.left_out))?;
        }
        put("}")
    }
}

/// A question with its gold answer as JSON.
fn described(item: &Item) -> String {
    let gold = &item.gold;
    let spans: Vec<[usize; 2]> = gold.spans.iter().take(SPANS).map(|s| [s.start, s.end]).collect();
    json_of(&json!({
        "id": clipped(&item.question_id, NAME), "text": clipped(&item.question, LINE),
        "gold": {"document": clipped(&gold.document, NAME), "text": clipped(&gold.text, TEXT), "spans": spans},
    }))
}

/// Writes values with commas between them.
fn listed<'a>(
    put: &mut impl FnMut(&str) -> io::Result<()>,
    values: impl Iterator<Item = Cow<'a, str>>,
) -> io::Result<()> {
    for (number, value) in values.enumerate() {
        if number > 0 {
            put(",")?;
        }
        put(&value)?;
    }
    Ok(())
}

/// JSON without what could end a script element, or may not stand in a page.
fn safe(json: &str) -> Cow<'_, str> {
    if json.contains(['<', '\u{2028}', '\u{2029}']) {
        let escaped = json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029");
        return Cow::Owned(sound(&escaped).into_owned());
    }
    sound(json)
}

/// Texts and numbers always have a JSON form.
fn json_of(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

fn rounded(value: f64) -> Option<f64> {
    value.is_finite().then(|| (value * 1e4).round() / 1e4).filter(|value| value.is_finite())
}

/// A text of at most so many bytes; one that is cut ends with an ellipsis.
fn clipped(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    format!("{} …", text.get(..text.floor_char_boundary(bytes)).unwrap_or_default())
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
    fn place(&mut self, value: &T) -> (usize, bool) {
        if let Some(&number) = self.numbers.get(value) {
            return (number, false);
        }
        let number = self.list.len();
        self.list.push(value.clone());
        self.numbers.insert(value.clone(), number);
        (number, true)
    }
}

#[cfg(test)]
mod tests;
