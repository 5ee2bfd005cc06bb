//! The choice of the few questions that are shown in full: those on which the chunkers differ most.

use std::collections::HashMap;

use pericope_eval::metric::Metric;
use pericope_eval::record::{Item, Status, Summary};

use super::items::Items;
use super::report::{Contrast, Side};
use super::view::View;

/// Questions that are set side by side.
const CONTRASTS: usize = 10;
/// Chunks that are shown of one result.
const RANKS: usize = 10;
/// Chunkers that are shown side by side; of more, those with the highest and the lowest scores.
const SIDES: usize = 6;
/// Bytes that are kept of a text of which the page shows an excerpt: gold text and answers.
const KEPT: usize = 8 * 1024;

/// What is kept of the items that were seen: the range of each score by setting and question, and where the items stand.
#[derive(Debug, Default)]
pub(super) struct Seen {
    place: HashMap<(usize, usize), usize>,
    ranges: Vec<Ranges>,
    /// Number of the range of each item, and the byte of its file at which its line begins.
    offsets: Vec<(u32, u64)>,
}

/// The scores of one question at one setting.
#[derive(Debug)]
struct Ranges {
    question: usize,
    setting: usize,
    /// By the number of the metric among [`Items`].
    scores: Vec<Range>,
}

impl Seen {
    /// Adds an item by the numbers of its question and setting among [`Items`], with its scores by the number of the metric;
    /// a failed item has none.
    pub fn add(&mut self, question: usize, setting: usize, scores: &[Option<f64>], offset: u64) {
        let at = *self.place.entry((question, setting)).or_insert(self.ranges.len());
        if at == self.ranges.len() {
            self.ranges.push(Ranges { question, setting, scores: Vec::new() });
        }
        if let Some(ranges) = self.ranges.get_mut(at) {
            ranges.scores.resize(ranges.scores.len().max(scores.len()), Range::NONE);
            ranges.scores.iter_mut().zip(scores).for_each(|(range, score)| *range = range.with(*score));
        }
        self.offsets.push((u32::try_from(at).unwrap_or(u32::MAX), offset));
    }
}

/// The questions to show and where their items stand.
#[derive(Debug, Default)]
pub(super) struct Chosen {
    /// Ids and spreads of the questions, in their order.
    questions: Vec<(String, f64)>,
    /// Where the items begin that belong to them, in the order in which they were seen.
    pub offsets: Vec<u64>,
}

/// Lowest and highest score.
#[derive(Debug, Clone, Copy)]
struct Range(f64, f64);

impl Range {
    const NONE: Self = Self(f64::INFINITY, f64::NEG_INFINITY);

    fn with(self, x: Option<f64>) -> Self {
        x.map_or(self, |x| Self(self.0.min(x), self.1.max(x)))
    }

    fn width(self) -> f64 {
        if self.1 >= self.0 { self.1 - self.0 } else { 0.0 }
    }
}

/// Chooses the questions with the widest range of the headline's metric at the headline's setting; among equals the widest
/// range of the answers' scores, then the order of the items. A question on which all chunkers score the same is never
/// shown.
pub(super) fn choose(summary: &Summary, items: &Items, seen: &Seen) -> Chosen {
    let view = View::new(summary);
    let number = |metric: Option<&Metric>| items.metric(metric?);
    let setting = view.setting.as_ref().and_then(|setting| items.setting(setting));
    let (Some(setting), Some(chief)) = (setting, number(view.metric.as_ref())) else { return Chosen::default() };
    let answers = number(view.answer_metric());
    let of = |ranges: &Ranges, metric: usize| ranges.scores.get(metric).copied().unwrap_or(Range::NONE);
    let mut widest: Vec<(usize, &Ranges, Range, Range)> = (seen.ranges.iter().enumerate())
        .filter(|(_, ranges)| ranges.setting == setting)
        .map(|(at, ranges)| (at, ranges, of(ranges, chief), answers.map_or(Range::NONE, |metric| of(ranges, metric))))
        .filter(|(_, _, chief, _)| chief.width() > 0.0)
        .collect();
    // The sort is stable: equals stay in the order of the items.
    widest.sort_by(|x, y| y.2.width().total_cmp(&x.2.width()).then(y.3.width().total_cmp(&x.3.width())));
    widest.truncate(CONTRASTS);
    let wanted = |at: u32| widest.iter().any(|(number, ..)| usize::try_from(at) == Ok(*number));
    Chosen {
        offsets: seen.offsets.iter().filter(|(at, _)| wanted(*at)).map(|(_, offset)| *offset).collect(),
        questions: (widest.iter())
            .map(|(_, ranges, chief, _)| (items.question(ranges.question).to_owned(), chief.width()))
            .collect(),
    }
}

/// Sets the items of the chosen questions side by side.
pub(super) fn contrasts(summary: &Summary, chosen: &Chosen, items: Vec<Item>) -> Vec<Contrast> {
    let view = View::new(summary);
    let empty =
        |(id, spread): &(String, f64)| Contrast { question_id: id.clone(), spread: *spread, ..Contrast::default() };
    let mut contrasts: Vec<Contrast> = chosen.questions.iter().map(empty).collect();
    for item in items {
        if let Some(contrast) = contrasts.iter_mut().find(|c| c.question_id == item.question_id) {
            add(contrast, item);
        }
    }
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

fn add(contrast: &mut Contrast, mut item: Item) {
    let error = (item.status == Status::Failed).then(|| reason(&item));
    // A resumed run may hold an item twice; the later line counts.
    contrast.sides.retain(|side| side.chunker != item.chunker);
    if contrast.question.is_empty() {
        contrast.question = item.question;
        contrast.gold = item.gold;
        cut(&mut contrast.gold.text);
    }
    let more = item.retrieved.len().saturating_sub(RANKS);
    item.retrieved.truncate(RANKS);
    if let Some(answer) = &mut item.answer {
        cut(&mut answer.text);
    }
    contrast.sides.push(Side {
        chunker: item.chunker,
        retrieved: item.retrieved,
        more,
        answer: item.answer,
        metrics: item.metrics,
        context_tokens: item.context_tokens,
        error,
    });
}

/// Why an item has no result.
pub(super) fn reason(item: &Item) -> String {
    item.error.clone().unwrap_or_else(|| "no reason on record".to_owned())
}

fn cut(text: &mut String) {
    text.truncate(text.floor_char_boundary(KEPT));
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use crate::run::Report;
    use pericope_eval::cell::Cutoff;
    use pericope_eval::record::{Cell, ChunkerRow, Item, Retrieved, RunRecord, Status, Summary};

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
        let contrasts = Report::new(summary, RunRecord::default(), &items).contrasts;
        let ids: Vec<&str> = contrasts.iter().map(|c| c.question_id.as_str()).collect();
        assert_eq!(ids, ["q14", "q13", "q12", "q11", "q10", "q9", "q8", "q7", "q6", "q5"]);
        assert!((contrasts[0].spread - 0.7).abs() < 1e-12);
        let sides: Vec<&str> = contrasts[0].sides.iter().map(|s| s.chunker.as_str()).collect();
        assert_eq!(sides, ["x", "y"]);
        assert_eq!((contrasts[0].sides[0].retrieved.len(), contrasts[0].sides[0].more), (10, 2));
    }

    #[test]
    fn failures_are_listed_and_do_not_widen_a_range() {
        let failed = Item { status: Status::Failed, error: Some("timed out".into()), ..item("q", "y", 0.0) };
        let report = Report::new(summary(), RunRecord::default(), &[item("q", "x", 1.0), failed]);
        assert_eq!(report.failures.len(), 1);
        assert_eq!(report.failures[0].error, "timed out");
        assert!(report.contrasts.is_empty());
    }
}
