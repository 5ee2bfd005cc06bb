//! Metrics as values: what each is called, the scale and direction of its values, and what it means.
//!
//! A [`Metric`] prints as it parses: its key, which is its name in configurations, `items.jsonl` and `summary.json`.
//! Every list of metrics (columns, comparisons, gates, sweeps) is taken from [`Metric::all`], in its order.

mod by_key;
mod unit;

use std::str::FromStr;
use std::sync::Arc;

use crate::format;

pub use unit::Unit;

/// The facts about a metric that this program computes.
#[derive(Debug)]
struct Definition {
    key: &'static str,
    label: &'static str,
    unit: Unit,
    meaning: &'static str,
    /// Place among the metrics of answers, 0 for the one to speak of first; none for metrics of retrieval.
    of_answers: Option<u8>,
}

/// A metric of one question's result; for every one of them more is better.
///
/// Two metrics are equal where their keys are. Files may hold metrics that this version does not compute:
/// [`Metric::named`] takes them as they are, while [`FromStr`] refuses them.
#[derive(Debug, Clone)]
pub struct Metric(Repr);

#[derive(Debug, Clone)]
enum Repr {
    Known(&'static Definition),
    Other(Arc<str>),
}

/// Metrics in the order of the tables' columns: those of retrieval first, then those of answers.
static ALL: [Metric; 16] = [
    Metric::SPAN_RECALL,
    Metric::SPAN_PRECISION,
    Metric::IOU,
    Metric::PRECISION_OMEGA,
    Metric::HIT,
    Metric::MRR,
    Metric::NDCG,
    Metric::DOCUMENT_RECALL,
    Metric::JUDGE,
    Metric::TOKEN_F1,
    Metric::EXACT_MATCH,
    Metric::ROUGE_L,
    Metric::ANSWER_IOU,
    Metric::COSINE,
    Metric::FAITHFULNESS,
    Metric::CONTEXT_RELEVANCE,
];

/// The others are in the tables.
static COMPARED: [Metric; 5] = [Metric::JUDGE, Metric::TOKEN_F1, Metric::SPAN_RECALL, Metric::IOU, Metric::NDCG];

impl Metric {
    /// Share of the gold text that lies inside the retrieved chunks.
    pub const SPAN_RECALL: Metric = Metric(Repr::Known(&Definition {
        key: "span_recall",
        label: "span recall",
        unit: Unit::Share,
        meaning: "Share of the gold text that lies inside the retrieved chunks.",
        of_answers: None,
    }));
    /// Share of the retrieved text that is gold; what is retrieved twice is counted twice.
    pub const SPAN_PRECISION: Metric = Metric(Repr::Known(&Definition {
        key: "span_precision",
        label: "span precision",
        unit: Unit::Share,
        meaning: "Share of the retrieved text that is gold; what is retrieved twice is counted twice.",
        of_answers: None,
    }));
    /// Gold text that was found, over gold text and retrieved text together: recall and precision in one figure.
    pub const IOU: Metric = Metric(Repr::Known(&Definition {
        key: "iou",
        label: "IoU",
        unit: Unit::Share,
        meaning: "Gold text that was found, over gold text and retrieved text together: recall and \
                  precision in one figure.",
        of_answers: None,
    }));
    /// The precision that would be reached if exactly the chunks that touch gold were retrieved.
    pub const PRECISION_OMEGA: Metric = Metric(Repr::Known(&Definition {
        key: "precision_omega",
        label: "precision Ω",
        unit: Unit::Share,
        meaning: "The precision that would be reached if exactly the chunks that touch gold were \
                  retrieved: a property of the cutting alone.",
        of_answers: None,
    }));
    /// Share of questions for which at least one retrieved chunk holds some gold text.
    pub const HIT: Metric = Metric(Repr::Known(&Definition {
        key: "hit",
        label: "hit",
        unit: Unit::Share,
        meaning: "Share of questions for which at least one retrieved chunk holds some gold text.",
        of_answers: None,
    }));
    /// Mean of 1 / rank of the first chunk that holds gold text, 0 where there is none.
    pub const MRR: Metric = Metric(Repr::Known(&Definition {
        key: "mrr",
        label: "MRR",
        unit: Unit::Share,
        meaning: "Mean of 1 / rank of the first chunk that holds gold text, 0 where there is none.",
        of_answers: None,
    }));
    /// How early the gold comes: each chunk's gain is the share of the gold that it adds, discounted by its rank.
    pub const NDCG: Metric = Metric(Repr::Known(&Definition {
        key: "ndcg",
        label: "nDCG",
        unit: Unit::Share,
        meaning: "How early the gold comes: each chunk's gain is the share of the gold that it adds, \
                  discounted by its rank.",
        of_answers: None,
    }));
    /// Share of the gold documents of which a chunk was retrieved.
    pub const DOCUMENT_RECALL: Metric = Metric(Repr::Known(&Definition {
        key: "document_recall",
        label: "document recall",
        unit: Unit::Share,
        meaning: "Share of the gold documents of which a chunk was retrieved.",
        of_answers: None,
    }));
    /// Score out of 10 that a judge gives the answer when it sees the question and the gold answer.
    pub const JUDGE: Metric = Metric(Repr::Known(&Definition {
        key: "judge",
        label: "judge",
        unit: Unit::Ten,
        meaning: "Score out of 10 that a judge gives the answer when it sees the question and the \
                  gold answer.",
        of_answers: Some(0),
    }));
    /// Overlap of the answer's words with the gold answer's, as F1 (SQuAD's rule).
    pub const TOKEN_F1: Metric = Metric(Repr::Known(&Definition {
        key: "token_f1",
        label: "token F1",
        unit: Unit::Share,
        meaning: "Overlap of the answer's words with the gold answer's, as F1 (SQuAD's rule).",
        of_answers: Some(1),
    }));
    /// Share of answers equal to the gold answer after SQuAD's normalisation.
    pub const EXACT_MATCH: Metric = Metric(Repr::Known(&Definition {
        key: "exact_match",
        label: "exact match",
        unit: Unit::Share,
        meaning: "Share of answers equal to the gold answer after SQuAD's normalisation.",
        of_answers: Some(5),
    }));
    /// F1 of the longest common subsequence of words of the answer and the gold answer.
    pub const ROUGE_L: Metric = Metric(Repr::Known(&Definition {
        key: "rouge_l",
        label: "ROUGE-L",
        unit: Unit::Share,
        meaning: "F1 of the longest common subsequence of words of the answer and the gold answer.",
        of_answers: Some(3),
    }));
    /// Overlap of the answer's place in the document with the gold's: shared over covered by either.
    pub const ANSWER_IOU: Metric = Metric(Repr::Known(&Definition {
        key: "answer_iou",
        label: "answer IoU",
        unit: Unit::Share,
        meaning: "Overlap of the answer's place in the document with the gold's: shared over covered \
                  by either.",
        of_answers: Some(2),
    }));
    /// Cosine of the embeddings of the answer and the gold answer.
    pub const COSINE: Metric = Metric(Repr::Known(&Definition {
        key: "cosine",
        label: "answer cosine",
        unit: Unit::Share,
        meaning: "Cosine of the embeddings of the answer and the gold answer.",
        of_answers: Some(4),
    }));
    /// Share of the answer's claims that a judge finds in what was retrieved, whatever the gold answer says.
    pub const FAITHFULNESS: Metric = Metric(Repr::Known(&Definition {
        key: "faithfulness",
        label: "faithfulness",
        unit: Unit::Share,
        meaning: "Share of the answer's claims that a judge finds in what was retrieved, whatever the \
                  gold answer says.",
        of_answers: None,
    }));
    /// Share of the retrieved chunks that a judge finds to help with the question.
    pub const CONTEXT_RELEVANCE: Metric = Metric(Repr::Known(&Definition {
        key: "context_relevance",
        label: "context relevance",
        unit: Unit::Share,
        meaning: "Share of the retrieved chunks that a judge finds to help with the question.",
        of_answers: None,
    }));

    /// Share of documents that are given their own class: the metric of classification, in no experiment on retrieval.
    pub const ACCURACY: Metric = Metric(Repr::Known(&Definition {
        key: "accuracy",
        label: "accuracy",
        unit: Unit::Share,
        meaning: "Share of documents that are given their own class.",
        of_answers: None,
    }));

    /// Returns all metrics of questions that this program computes, in the order of the tables' columns.
    #[must_use]
    pub fn all() -> &'static [Metric] {
        &ALL
    }

    /// Returns the metrics that chunkers are compared by in every run, in the order of `summary.json`.
    #[must_use]
    pub fn compared() -> &'static [Metric] {
        &COMPARED
    }

    /// Returns the metric of that key; an unknown key is its own label, and its values stay plain numbers.
    #[must_use]
    pub fn named(key: &str) -> Self {
        let of_classification = Some(Metric::ACCURACY).filter(|metric| metric.key() == key);
        key.parse().ok().or(of_classification).unwrap_or_else(|| Metric(Repr::Other(key.into())))
    }

    fn definition(&self) -> Option<&'static Definition> {
        match &self.0 {
            Repr::Known(definition) => Some(definition),
            Repr::Other(_) => None,
        }
    }

    /// Returns the name in files: `span_recall`.
    #[must_use]
    pub fn key(&self) -> &str {
        match &self.0 {
            Repr::Known(definition) => definition.key,
            Repr::Other(key) => key,
        }
    }

    /// Returns the name for people: `span recall`.
    #[must_use]
    pub fn label(&self) -> String {
        self.definition().map_or_else(|| self.key().replace('_', " "), |known| known.label.to_owned())
    }

    /// Returns the scale of the values.
    #[must_use]
    pub fn unit(&self) -> Unit {
        self.definition().map_or(Unit::Plain, |known| known.unit)
    }

    /// Returns one sentence on what it measures; empty for a metric that this program does not compute.
    #[must_use]
    pub fn meaning(&self) -> &'static str {
        self.definition().map_or("", |known| known.meaning)
    }

    /// Returns the least and the greatest value.
    #[must_use]
    pub fn range(&self) -> (f64, f64) {
        self.unit().range()
    }

    /// Returns the width of the range, by which differences of several metrics are compared.
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.unit().scale()
    }

    /// Returns what a failed item scores: the least value, 0 where the range is not known.
    #[must_use]
    pub fn worst(&self) -> f64 {
        let (least, _) = self.range();
        if least.is_finite() { least } else { 0.0 }
    }

    /// Returns true where what was retrieved is measured, and no answer has to be known or made.
    #[must_use]
    pub fn is_of_retrieval(&self) -> bool {
        self.order() < Metric::JUDGE.order()
    }

    /// Returns true where a score needs all chunks there are: what only hands out passages has none.
    #[must_use]
    pub fn needs_all_chunks(&self) -> bool {
        [Metric::PRECISION_OMEGA, Metric::NDCG].contains(self)
    }

    /// Returns the place among the columns; unknown metrics come last.
    #[must_use]
    pub fn order(&self) -> usize {
        ALL.iter().position(|known| known == self).unwrap_or(ALL.len())
    }

    /// Returns the place among the metrics of answers, 0 for the one that stands for all; none for other metrics.
    #[must_use]
    pub fn answer_rank(&self) -> Option<usize> {
        self.definition()?.of_answers.map(usize::from)
    }

    /// Returns `span recall, %`, for the head of a column or an axis.
    #[must_use]
    pub fn heading(&self) -> String {
        match self.unit().mark() {
            "" => self.label(),
            mark => format!("{}, {mark}", self.label()),
        }
    }

    /// Returns the label with a capital, to begin a sentence or a title with.
    #[must_use]
    pub fn title(&self) -> String {
        format::capitalised(&self.label())
    }

    /// Returns the core of a sentence, verb included: who reaches the value `x`, which is already formatted.
    #[must_use]
    pub fn says(&self, who: &str, x: &str) -> String {
        match self.key() {
            "span_recall" => format!("{who} finds {x} of the gold text"),
            "judge" => format!("answers from the chunks of {who} are judged {x} of 10"),
            "hit" => format!("{who} finds some gold text for {x} of the questions"),
            _ => format!("{who} reaches {x} {}", self.label()),
        }
    }
}

/// The error of a name that is no metric's key; it lists the keys.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{name}\" is not known: choose from {}", ALL.iter().map(Metric::key).collect::<Vec<_>>().join(", "))]
pub struct UnknownMetric {
    /// The name.
    pub name: String,
}

impl FromStr for Metric {
    type Err = UnknownMetric;

    fn from_str(key: &str) -> Result<Self, UnknownMetric> {
        ALL.iter().find(|known| known.key() == key).cloned().ok_or_else(|| UnknownMetric { name: key.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::collections::BTreeMap;

    use super::{Metric, Unit};

    #[test]
    fn values_read_by_their_unit() {
        assert_eq!(Unit::Share.value(0.7124), "71.2\u{a0}%");
        assert_eq!(Unit::Ten.value(6.25), "6.25");
        assert_eq!(Unit::Share.difference(-0.052), "−5.2");
        assert_eq!(Unit::Share.bare(f64::NAN), "–");
    }

    #[test]
    fn unknown_metrics_come_last_under_their_own_name() {
        let unknown = Metric::named("my_metric");
        assert_eq!((unknown.label().as_str(), unknown.unit()), ("my metric", Unit::Plain));
        assert!(unknown.order() > Metric::COSINE.order());
        assert_eq!((Metric::JUDGE.answer_rank(), Metric::IOU.answer_rank()), (Some(0), None));
        // Records hold it, experiments on retrieval do not.
        assert_eq!(Metric::named("accuracy").unit(), Unit::Share);
        assert!("accuracy".parse::<Metric>().is_err());
        assert!("my_metric".parse::<Metric>().unwrap_err().to_string().contains("choose from span_recall, "));
    }

    #[test]
    fn metrics_print_as_they_parse_and_are_told_apart() {
        let mut by_key = BTreeMap::new();
        for metric in Metric::all() {
            assert_eq!(metric.to_string().parse::<Metric>().unwrap(), *metric);
            let (low, high) = metric.range();
            assert!((high - low - metric.scale()).abs() < 1e-12);
            assert!(metric.meaning().ends_with('.'));
            by_key.insert(metric.clone(), metric.order());
        }
        assert_eq!(by_key.len(), Metric::all().len());
        assert_eq!(by_key.get("judge"), Some(&Metric::JUDGE.order()));
        let ranks: Vec<usize> = Metric::all().iter().filter_map(Metric::answer_rank).collect();
        assert_eq!(ranks.iter().max(), Some(&(ranks.len() - 1)));
    }
}
