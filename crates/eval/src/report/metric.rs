//! What each metric is called, how its values read, and what it means.

use super::format;
use super::view::Setting;

/// How a metric's values read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// 0..1, shown as percent; differences in points.
    Share,
    /// 0..10, shown with two decimals.
    Ten,
    /// Anything else, shown with three decimals.
    Plain,
}

impl Unit {
    /// A value on its own: `71.2 %`, `6.25`.
    pub fn value(self, x: f64) -> String {
        match self {
            Unit::Share => format::percent(x),
            Unit::Ten => format::decimal(x, 2),
            Unit::Plain => format::decimal(x, 3),
        }
    }

    /// A value in a table whose head names the unit: `71.2`, `6.25`.
    pub fn bare(self, x: f64) -> String {
        match self {
            Unit::Share => format::decimal(100.0 * x, 1),
            Unit::Ten => format::decimal(x, 2),
            Unit::Plain => format::decimal(x, 3),
        }
    }

    /// A difference with its sign, without unit: `+5.2`.
    pub fn difference(self, x: f64) -> String {
        match self {
            Unit::Share => format::signed(100.0 * x, 1),
            Unit::Ten => format::signed(x, 2),
            Unit::Plain => format::signed(x, 3),
        }
    }

    /// What a difference is counted in, with a space before it where there is a word.
    pub fn points(self) -> &'static str {
        match self {
            Unit::Share => " points",
            Unit::Ten | Unit::Plain => "",
        }
    }

    /// A unit for the head of a table's column or a chart's axis; empty where there is none.
    pub fn mark(self) -> &'static str {
        match self {
            Unit::Share => "%",
            Unit::Ten => "of 10",
            Unit::Plain => "",
        }
    }
}

/// A metric as the report shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Metric {
    /// Its name in `summary.json`.
    pub key: String,
    /// Its name for people.
    pub label: String,
    /// How its values read.
    pub unit: Unit,
    /// One sentence on what it measures; empty for metrics that this program does not know.
    pub meaning: &'static str,
}

/// Metrics in the order of the tables' columns: what was retrieved first, then what was answered.
const KNOWN: [(&str, &str, Unit, &str); 16] = [
    ("span_recall", "span recall", Unit::Share, "Share of the gold text that lies inside the retrieved chunks."),
    (
        "span_precision",
        "span precision",
        Unit::Share,
        "Share of the retrieved text that is gold; what is retrieved twice is counted twice.",
    ),
    (
        "iou",
        "IoU",
        Unit::Share,
        "Gold text that was found, over gold text and retrieved text together: recall and precision in one figure.",
    ),
    (
        "precision_omega",
        "precision Ω",
        Unit::Share,
        "The precision that would be reached if exactly the chunks that touch gold were retrieved: a property of the \
         cutting alone.",
    ),
    ("hit", "hit", Unit::Share, "Share of questions for which at least one retrieved chunk holds some gold text."),
    ("mrr", "MRR", Unit::Share, "Mean of 1 / rank of the first chunk that holds gold text, 0 where there is none."),
    (
        "ndcg",
        "nDCG",
        Unit::Share,
        "How early the gold comes: each chunk's gain is the share of the gold that it adds, discounted by its rank.",
    ),
    ("document_recall", "document recall", Unit::Share, "Share of the gold documents of which a chunk was retrieved."),
    (
        "judge",
        "judge",
        Unit::Ten,
        "Score out of 10 that a judge gives the answer when it sees the question and the gold answer.",
    ),
    (
        "token_f1",
        "token F1",
        Unit::Share,
        "Overlap of the answer's words with the gold answer's, as F1 (SQuAD's rule).",
    ),
    (
        "exact_match",
        "exact match",
        Unit::Share,
        "Share of answers equal to the gold answer after SQuAD's normalisation.",
    ),
    (
        "rouge_l",
        "ROUGE-L",
        Unit::Share,
        "F1 of the longest common subsequence of words of the answer and the gold answer.",
    ),
    (
        "answer_iou",
        "answer IoU",
        Unit::Share,
        "Overlap of the answer's place in the document with the gold's: shared over covered by either.",
    ),
    ("cosine", "answer cosine", Unit::Share, "Cosine of the embeddings of the answer and the gold answer."),
    (
        "faithfulness",
        "faithfulness",
        Unit::Share,
        "Share of the answer's claims that a judge finds in what was retrieved, whatever the gold answer says.",
    ),
    (
        "context_relevance",
        "context relevance",
        Unit::Share,
        "Share of the retrieved chunks that a judge finds to help with the question.",
    ),
];

/// The names of all metrics that a question can have, in the order of the tables' columns; for each, more is better.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    KNOWN.iter().map(|(name, ..)| *name)
}

/// Metrics of the answer, the one to speak of first.
const OF_ANSWERS: [&str; 6] = ["judge", "token_f1", "answer_iou", "rouge_l", "cosine", "exact_match"];

impl Metric {
    /// The metric of that name; an unknown name is its own label, and its values stay plain numbers.
    pub fn of(key: &str) -> Self {
        match KNOWN.iter().find(|(known, ..)| *known == key) {
            Some(&(_, label, unit, meaning)) => Self { key: key.to_owned(), label: label.to_owned(), unit, meaning },
            None => Self { key: key.to_owned(), label: key.replace('_', " "), unit: Unit::Plain, meaning: "" },
        }
    }

    /// Where the metric stands among the columns: unknown ones last.
    pub fn order(&self) -> usize {
        KNOWN.iter().position(|(known, ..)| *known == self.key).unwrap_or(KNOWN.len())
    }

    /// Lower is spoken of first, when one metric of answers must stand for all.
    pub fn answer_rank(&self) -> Option<usize> {
        OF_ANSWERS.iter().position(|&known| known == self.key)
    }

    /// `span recall, %`: for the head of a column or an axis.
    pub fn heading(&self) -> String {
        match self.unit.mark() {
            "" => self.label.clone(),
            mark => format!("{}, {mark}", self.label),
        }
    }

    /// The label with a capital where a sentence or a title begins with it.
    pub fn title(&self) -> String {
        format::capitalised(&self.label)
    }

    /// The sentence's core: who reaches what, `verb` included; `x` is already formatted.
    pub fn says(&self, who: &str, x: &str) -> String {
        match self.key.as_str() {
            "span_recall" => format!("{who} finds {x} of the gold text"),
            "judge" => format!("answers from the chunks of {who} are judged {x} of 10"),
            "hit" => format!("{who} finds some gold text for {x} of the questions"),
            _ => format!("{who} reaches {x} {}", self.label),
        }
    }
}

/// `At k = 3` or `At an equal budget of 1,024 tokens`.
pub(crate) fn at(setting: &Setting) -> String {
    match (setting.k, setting.token_budget) {
        (Some(k), _) => format!("At k = {k}"),
        (None, Some(budget)) => format!("At an equal budget of {} tokens", format::count(budget)),
        (None, None) => "Over everything retrieved".to_owned(),
    }
}

#[cfg(test)]
mod tests {
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
        let unknown = Metric::of("my_metric");
        assert_eq!((unknown.label.as_str(), unknown.unit), ("my metric", Unit::Plain));
        assert!(unknown.order() > Metric::of("cosine").order());
        assert_eq!((Metric::of("judge").answer_rank(), Metric::of("iou").answer_rank()), (Some(0), None));
    }
}
