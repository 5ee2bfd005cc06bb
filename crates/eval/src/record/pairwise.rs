use serde::{Deserialize, Serialize};

use super::{Cost, Status, null_as_nan};
use crate::cell::Cutoff;

/// Which of two answers a judge prefers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preference {
    /// The chunker's.
    Win,
    /// Neither, or another one each time that it is asked.
    #[default]
    Tie,
    /// The baseline's.
    Loss,
}

impl Preference {
    /// What it counts: 1, a half, 0.
    #[must_use]
    pub fn value(self) -> f64 {
        match self {
            Preference::Win => 1.0,
            Preference::Tie => 0.5,
            Preference::Loss => 0.0,
        }
    }
}

/// One line of `pairwise.jsonl`: a chunker's answer to a question beside the baseline's, judged in both orders.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct PairwiseItem {
    /// Id of the question.
    pub question_id: String,
    /// Id of the document that holds its answer.
    pub document: String,
    /// The chunker.
    pub chunker: String,
    /// The chunker that it is compared with.
    pub baseline: String,
    /// Retrieval mode.
    pub mode: String,
    /// The cutoff, as `k` and `token_budget`.
    #[serde(flatten)]
    pub cutoff: Cutoff,
    /// What came out of both orders: a verdict that changes with the order is a tie.
    pub verdict: Preference,
    /// What was said with the chunker's answer first; absent where the answers are the same and nobody was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<Preference>,
    /// What was said with the baseline's answer first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second: Option<Preference>,
    /// The reason given with the chunker's answer first.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// What it cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// Whether there is a verdict.
    #[serde(default)]
    pub status: Status,
    /// Why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl PairwiseItem {
    /// The verdict that two orders come to.
    #[must_use]
    pub fn of_orders(first: Preference, second: Preference) -> Preference {
        if first == second { first } else { Preference::Tie }
    }

    /// True where the verdict changed with the order of the answers.
    #[must_use]
    pub fn depends_on_order(&self) -> bool {
        self.first != self.second
    }
}

/// A chunker's answers against the baseline's in one mode at one setting.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct PairwiseRow {
    /// The chunker.
    pub chunker: String,
    /// The chunker that it is compared with.
    pub baseline: String,
    /// Retrieval mode.
    pub mode: String,
    /// The cutoff, as `k` and `token_budget`.
    #[serde(flatten)]
    pub cutoff: Cutoff,
    /// Questions with a verdict.
    pub n: usize,
    /// Questions on which the chunker's answer is preferred.
    pub wins: usize,
    /// Questions on which neither is, or where the verdict changed with the order.
    pub ties: usize,
    /// Questions on which the baseline's is.
    pub losses: usize,
    /// Wins and half of the ties over the questions, 0..1; a half where the chunkers are as good.
    #[serde(deserialize_with = "null_as_nan")]
    pub win_rate: f64,
    /// Lower end of its 95 % interval (bootstrap by document).
    #[serde(deserialize_with = "null_as_nan")]
    pub low: f64,
    /// Upper end.
    #[serde(deserialize_with = "null_as_nan")]
    pub high: f64,
    /// Questions whose verdict changed with the order of the answers.
    pub order_changes: usize,
    /// The questions of these on which the judge thought better of an answer when it read it first.
    pub towards_first: usize,
    /// Questions on which both answers have the same words: ties for which nobody was asked.
    pub same: usize,
    /// Questions without a verdict.
    pub failed: usize,
}

impl PairwiseRow {
    /// Share of the questions that were judged whose verdict changed with the order, 0..1; none where nobody was asked.
    #[must_use]
    pub fn position_bias(&self) -> Option<f64> {
        let asked = self.n.saturating_sub(self.same);
        (asked > 0).then(|| self.order_changes as f64 / asked as f64)
    }
}
