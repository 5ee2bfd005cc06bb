//! The verdict of a comparison: `summary.verdict`, and what of it stands at each comparison.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::cell::{Cutoff, Setting};
use crate::metric::Metric;

/// Under so many documents no interval can be trusted (Cameron, Gelbach and Miller 2008: the bootstrap by cluster needs many
/// clusters), and none shows that two chunkers are equal.
pub const FEW_DOCUMENTS: usize = 10;

/// What a comparison is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// A chunker against the baseline at the primary cell: corrected with the others of its kind (Holm), and decided.
    Primary,
    /// Everything else: an unadjusted interval and p-value, and no verdict.
    Exploratory,
}

/// What a primary comparison shows of its first chunker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It is better than the baseline: p after correction below 0.05, and the interval above 0.
    Better,
    /// It is worse.
    Worse,
    /// There is no difference that matters: the 90 % interval, of at least [`FEW_DOCUMENTS`] documents, lies inside the margin
    /// on either side of 0.
    Equivalent,
    /// None of these: the sample leaves it open.
    Open,
    /// No data could have decided: with so few documents no p-value is small enough.
    Unresolvable,
}

/// The verdict on the chunkers of a run: which to take, how sure that is, and what it costs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Verdict {
    /// What was decided by.
    pub primary: PrimaryRecord,
    /// The chunker with the highest mean; the earlier of equals.
    pub best: String,
    /// By chunker, the share of resamples of the documents in which it has the highest mean; empty for a single document.
    pub p_best: BTreeMap<String, f64>,
    /// The chunkers that may be the best: the model confidence set at 90 %, in the order of the configuration.
    pub possible: Vec<String>,
    /// Of these, those whose difference from the best is none that matters: the 90 % interval lies inside the margin.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub equivalent: Vec<String>,
    /// The cheapest of the possible ones, as far as costs are known.
    pub recommended: String,
    /// Documents in all, with as many questions each as here, that would tell the best from the next at the difference that
    /// was seen, with 80 % power at 5 %, were these two alone compared; absent where nothing can be said.
    #[serde(default)]
    pub documents_needed: Option<usize>,
    /// The same at the smallest difference that matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub documents_needed_for_margin: Option<usize>,
    /// The verdict in one sentence.
    pub sentence: String,
}

/// The cell, the baseline and the sample that a verdict rests on.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct PrimaryRecord {
    /// The chunker that the others are compared with.
    pub baseline: String,
    /// The metric.
    pub metric: Metric,
    /// Retrieval mode.
    pub mode: String,
    /// The cutoff, as `k` and `token_budget`.
    #[serde(flatten)]
    pub cutoff: Cutoff,
    /// The smallest difference that matters, in the metric's own unit.
    pub margin: f64,
    /// Comparisons in the family: the other chunkers.
    pub comparisons: usize,
    /// Questions that count.
    pub questions: usize,
    /// Documents that answer them: the units of all intervals and tests.
    pub documents: usize,
    /// Design effect of the best against the next: the variance by document over that by question. Absent where it cannot
    /// be had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub design_effect: Option<f64>,
}

impl PrimaryRecord {
    /// Returns mode and cutoff.
    #[must_use]
    pub fn setting(&self) -> Setting {
        Setting { mode: self.mode.clone(), cutoff: self.cutoff }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_layout_is_that_of_the_contract() {
        let verdict = Verdict {
            primary: PrimaryRecord { cutoff: Cutoff::Tokens(1024), mode: "bm25".into(), ..PrimaryRecord::default() },
            best: "a".into(),
            p_best: [("a".to_owned(), 0.75), ("b".to_owned(), 0.25)].into(),
            possible: vec!["a".into(), "b".into()],
            recommended: "b".into(),
            documents_needed: Some(120),
            sentence: "Take b.".into(),
            ..Verdict::default()
        };
        let json = serde_json::to_string(&verdict).unwrap();
        assert_eq!(
            json,
            concat!(
                r#"{"primary":{"baseline":"","metric":"span_recall","mode":"bm25","k":null,"token_budget":1024,"#,
                r#""margin":0.0,"comparisons":0,"questions":0,"documents":0},"best":"a","p_best":{"a":0.75,"b":0.25},"#,
                r#""possible":["a","b"],"recommended":"b","documents_needed":120,"sentence":"Take b."}"#
            )
        );
        assert_eq!(serde_json::from_str::<Verdict>(&json).unwrap(), verdict);
        assert_eq!(serde_json::to_string(&Outcome::Equivalent).unwrap(), "\"equivalent\"");
        assert_eq!(serde_json::to_string(&Family::Exploratory).unwrap(), "\"exploratory\"");
    }
}
