//! Of all items, the few that the report shows: the questions on which the chunkers differ most, and the failures.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use pericope_eval::cell::Setting;
use pericope_eval::metric::Metric;
use pericope_eval::record::{Answer, Gold, Item, Metrics, Retrieved, Status, Summary};

use super::view::View;

/// Questions that are set side by side.
const CONTRASTS: usize = 10;
/// Failures that are listed one by one.
const FAILURES: usize = 20;
/// Chunks that are shown of one result.
const RANKS: usize = 10;
/// Chunkers that are shown side by side; of more, those with the highest and the lowest scores.
const SIDES: usize = 6;
/// Bytes that are kept of a text of which the page shows an excerpt: gold text and answers.
const KEPT: usize = 8 * 1024;

/// One question on which the chunkers differ, with what each of them retrieved.
#[derive(Debug, Clone, PartialEq)]
pub struct Contrast {
    /// Id of the question.
    pub question_id: String,
    /// The question.
    pub question: String,
    /// The gold answer.
    pub gold: Gold,
    /// Largest minus smallest score of the chunkers.
    pub spread: f64,
    /// What each chunker retrieved, in the order of the configuration.
    pub sides: Vec<Side>,
    /// Chunkers that are not among them, for want of room.
    pub left_out: usize,
}

/// What one chunker retrieved for a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// Name of the chunker.
    pub chunker: String,
    /// Best first, the first ten.
    pub retrieved: Vec<Retrieved>,
    /// How many further ones there were.
    pub more: usize,
    /// The generator's answer.
    pub answer: Option<Answer>,
    /// The item's scores.
    pub metrics: Metrics,
    /// Tokens given to the reader.
    pub context_tokens: usize,
    /// Why there is no result, where there is none.
    pub error: Option<String>,
}

/// An item without a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Id of the question.
    pub question_id: String,
    /// Name of the chunker.
    pub chunker: String,
    /// Mode and setting, for people: `dense, k = 3`.
    pub setting: String,
    /// Why.
    pub error: String,
}

/// The parts of an item that decide whether it is shown; its texts are skipped while reading.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Key {
    pub question_id: String,
    pub chunker: String,
    #[serde(flatten)]
    pub setting: Setting,
    #[serde(default)]
    metrics: BTreeMap<Metric, Option<f64>>,
    #[serde(default)]
    status: Status,
    #[serde(default)]
    error: Option<String>,
}

impl From<&Item> for Key {
    fn from(item: &Item) -> Self {
        Self {
            question_id: item.question_id.clone(),
            chunker: item.chunker.clone(),
            setting: item.setting(),
            metrics: item.metrics.iter().map(|(name, value)| (name.clone(), Some(*value))).collect(),
            status: item.status,
            error: item.error.clone(),
        }
    }
}

/// Lowest and highest score of a question so far, by the headline's metric and by that of the answers.
#[derive(Debug, Clone, Copy)]
struct Range {
    chief: (f64, f64),
    answers: (f64, f64),
    order: usize,
}

/// The first look at the items, one by one in any order.
#[derive(Debug)]
pub(crate) struct Choice {
    setting: Option<Setting>,
    chief: Option<Metric>,
    answers: Option<Metric>,
    ranges: BTreeMap<String, Range>,
    pub failures: Vec<Failure>,
}

impl Choice {
    pub fn new(summary: &Summary) -> Self {
        let view = View::new(summary);
        Self {
            setting: view.setting.clone(),
            chief: view.metric.clone(),
            answers: view.answer_metric().cloned(),
            ranges: BTreeMap::new(),
            failures: Vec::new(),
        }
    }

    pub fn see(&mut self, key: Key) {
        if key.status == Status::Failed {
            if self.failures.len() < FAILURES {
                self.failures.push(Failure {
                    question_id: key.question_id,
                    chunker: key.chunker,
                    setting: format!("{}, {}", key.setting.mode, key.setting.label()),
                    error: key.error.unwrap_or_else(|| "no reason on record".to_owned()),
                });
            }
            return;
        }
        if self.setting.as_ref() != Some(&key.setting) {
            return;
        }
        let value = |metric: &Metric| key.metrics.get(metric).copied().flatten().filter(|x| x.is_finite());
        let Some(chief) = self.chief.as_ref().and_then(value) else { return };
        let nothing = (f64::INFINITY, f64::NEG_INFINITY);
        let order = self.ranges.len();
        let answers = self.answers.as_ref().and_then(value);
        let range = self.ranges.entry(key.question_id).or_insert(Range { chief: nothing, answers: nothing, order });
        let widen = |(low, high): (f64, f64), x: f64| (low.min(x), high.max(x));
        range.chief = widen(range.chief, chief);
        if let Some(answers) = answers {
            range.answers = widen(range.answers, answers);
        }
    }

    /// The questions to show: those with the widest range; among equals the widest range of the answers' scores, then
    /// the order of the items. A question on which all chunkers score the same is never shown.
    pub fn chosen(self) -> Chosen {
        let width = |(low, high): (f64, f64)| if high >= low { high - low } else { 0.0 };
        let mut ranked: Vec<(String, f64, f64, usize)> = self
            .ranges
            .into_iter()
            .map(|(id, range)| (id, width(range.chief), width(range.answers), range.order))
            .filter(|(_, chief, ..)| *chief > 0.0)
            .collect();
        ranked.sort_by(|x, y| y.1.total_cmp(&x.1).then(y.2.total_cmp(&x.2)).then(x.3.cmp(&y.3)));
        ranked.truncate(CONTRASTS);
        let wanted = ranked.iter().map(|(id, ..)| id.clone()).collect();
        Chosen {
            setting: self.setting,
            wanted,
            contrasts: ranked
                .into_iter()
                .map(|(question_id, spread, ..)| Contrast {
                    question_id,
                    question: String::new(),
                    gold: Gold::default(),
                    spread,
                    sides: Vec::new(),
                    left_out: 0,
                })
                .collect(),
        }
    }
}

/// The second look: the chosen questions collect their items.
#[derive(Debug)]
pub(crate) struct Chosen {
    setting: Option<Setting>,
    wanted: BTreeSet<String>,
    contrasts: Vec<Contrast>,
}

impl Chosen {
    /// True where the item belongs to one of the questions shown.
    pub fn wants(&self, question: &str, setting: &Setting) -> bool {
        self.setting.as_ref() == Some(setting) && self.wanted.contains(question)
    }

    pub fn take(&mut self, item: Item) {
        if !self.wants(&item.question_id, &item.setting()) {
            return;
        }
        let Some(contrast) = self.contrasts.iter_mut().find(|c| c.question_id == item.question_id) else { return };
        // A resumed run may hold an item twice; the later line counts.
        contrast.sides.retain(|side| side.chunker != item.chunker);
        if contrast.question.is_empty() {
            contrast.question = item.question;
            contrast.gold = item.gold;
            cut(&mut contrast.gold.text);
        }
        let more = item.retrieved.len().saturating_sub(RANKS);
        let mut retrieved = item.retrieved;
        retrieved.truncate(RANKS);
        let answer = item.answer.map(|mut answer| {
            cut(&mut answer.text);
            answer
        });
        let error = match item.status {
            Status::Ok => None,
            Status::Failed => Some(item.error.unwrap_or_else(|| "no reason on record".to_owned())),
        };
        contrast.sides.push(Side {
            chunker: item.chunker,
            retrieved,
            more,
            answer,
            metrics: item.metrics,
            context_tokens: item.context_tokens,
            error,
        });
    }

    pub fn finish(self, summary: &Summary) -> Vec<Contrast> {
        let view = View::new(summary);
        let mut contrasts = self.contrasts;
        for contrast in &mut contrasts {
            contrast.left_out = contrast.sides.len().saturating_sub(SIDES);
            if let Some(metric) = &view.metric {
                let score = |side: &Side| side.metrics.get(metric).copied().unwrap_or(f64::NEG_INFINITY);
                contrast.sides.sort_by(|x, y| score(y).total_cmp(&score(x)));
                if contrast.left_out > 0 {
                    contrast.sides.drain(SIDES / 2..SIDES / 2 + contrast.left_out);
                }
            }
            contrast.sides.sort_by_key(|side| view.place(&side.chunker));
        }
        contrasts
    }
}

fn cut(text: &mut String) {
    text.truncate(text.floor_char_boundary(KEPT));
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::{Choice, Key};
    use pericope_eval::cell::Cutoff;
    use pericope_eval::record::{Cell, ChunkerRow, Item, Retrieved, Status, Summary};

    fn summary() -> Summary {
        let chunker = |name: &str| ChunkerRow { name: name.into(), ..ChunkerRow::default() };
        let cell = |chunker: &str| Cell {
            chunker: chunker.into(),
            mode: "dense".into(),
            cutoff: Cutoff::K(3),
            metrics: [("span_recall".into(), 0.5)].into(),
            ..Cell::default()
        };
        Summary { chunkers: vec![chunker("x"), chunker("y")], cells: vec![cell("x"), cell("y")], ..Summary::default() }
    }

    fn item(question: &str, chunker: &str, recall: f64) -> Item {
        Item {
            question_id: question.into(),
            question: format!("{question}?"),
            chunker: chunker.into(),
            mode: "dense".into(),
            cutoff: Cutoff::K(3),
            metrics: [("span_recall".into(), recall)].into(),
            retrieved: vec![Retrieved::default(); 12],
            ..Item::default()
        }
    }

    #[test]
    fn the_widest_ranges_are_shown_and_equal_scores_never() {
        let summary = summary();
        let mut items = Vec::new();
        for i in 0..15 {
            let width = f64::from(i) / 20.0;
            items.push(item(&format!("q{i}"), "y", 0.9 - width));
            items.push(item(&format!("q{i}"), "x", 0.9));
        }
        items.push(Item { cutoff: Cutoff::K(1), ..item("q0", "x", 0.0) });
        let mut choice = Choice::new(&summary);
        items.iter().for_each(|item| choice.see(Key::from(item)));
        let mut chosen = choice.chosen();
        items.into_iter().for_each(|item| chosen.take(item));
        let contrasts = chosen.finish(&summary);
        let ids: Vec<&str> = contrasts.iter().map(|c| c.question_id.as_str()).collect();
        assert_eq!(ids, ["q14", "q13", "q12", "q11", "q10", "q9", "q8", "q7", "q6", "q5"]);
        assert!((contrasts[0].spread - 0.7).abs() < 1e-12);
        let sides: Vec<&str> = contrasts[0].sides.iter().map(|s| s.chunker.as_str()).collect();
        assert_eq!(sides, ["x", "y"]);
        assert_eq!((contrasts[0].sides[0].retrieved.len(), contrasts[0].sides[0].more), (10, 2));
    }

    #[test]
    fn failures_are_listed_and_do_not_widen_a_range() {
        let summary = summary();
        let mut choice = Choice::new(&summary);
        choice.see(Key::from(&item("q", "x", 1.0)));
        let failed = Item { status: Status::Failed, error: Some("timed out".into()), ..item("q", "y", 0.0) };
        choice.see(Key::from(&failed));
        assert_eq!(choice.failures.len(), 1);
        assert_eq!(choice.failures[0].error, "timed out");
        assert!(choice.chosen().contrasts.is_empty());
    }
}
