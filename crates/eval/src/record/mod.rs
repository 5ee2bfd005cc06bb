//! What a run leaves behind, as types: `summary.json` ([`Summary`]), `items.jsonl` (one [`Item`] a line) and `run.json`
//! ([`RunRecord`]).
//!
//! Shares are 0..1, judge scores 0..10, texts and spans in bytes of the document. A metric that was not measured is
//! absent, never NaN: numbers that are not finite are left out of metric maps on the way out, and a `null` is read as
//! "not measured".

mod chunker;
mod finite;
mod histogram;
mod item;
mod items;
mod judges;
mod pairwise;
mod run;
mod same_size;
mod verdict;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::cell::{CellKey, Cutoff, Setting};
use crate::config::BudgetRule;
use crate::metric::Metric;
use crate::stats::LeaveOneOut;

use self::finite::{finite_metrics, null_as_nan};
pub use chunker::{AnswerTime, ChunkerRow, QueryTimes, RetrieverRow};
pub use finite::Metrics;
pub use histogram::Histogram;
pub use item::{Answer, Gold, Item, Judgement, Retrieved, Status};
pub use items::{ITEMS, ItemError, ItemReader, ItemSeeker};
pub(crate) use judges::JUDGE;
pub use judges::JudgeIdentity;
pub use pairwise::{PairwiseItem, PairwiseRow, Preference};
pub use run::{Checksums, Machine, RunRecord};
pub use same_size::SameSize;
pub use verdict::{FEW_DOCUMENTS, Family, Outcome, PrimaryRecord, Verdict};

/// `summary.json`: one run in figures.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Summary {
    /// Name of the experiment.
    pub name: String,
    /// Questions asked.
    pub questions: usize,
    /// Documents in the corpus.
    pub documents: usize,
    /// Items (question x chunker x mode x setting) for which there is no answer or no score.
    pub failed: usize,
    /// Questions, documents and lines of the data that could not be used, but for questions without an answer, which may be meant;
    /// absent where there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: usize,
    /// The chunkers in the order of the configuration.
    pub chunkers: Vec<ChunkerRow>,
    /// Mean scores by chunker, mode and setting.
    pub cells: Vec<Cell>,
    /// Paired comparisons of two chunkers; the primary ones come first.
    pub comparisons: Vec<Comparison>,
    /// Which chunker to take, and how sure that is; null where nothing was compared, and absent there in runs of older
    /// versions.
    #[serde(default)]
    pub verdict: Option<Verdict>,
    /// How a budget of tokens ends, where there is one; absent in runs of versions that knew `whole` alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_rule: Option<BudgetRule>,
    /// Who made the scores of answers, by metric.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub judges: BTreeMap<Metric, JudgeIdentity>,
    /// Chunkers' answers against those of the baseline's, pair by pair, where a model compared them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairwise: Vec<PairwiseRow>,
    /// The model's scores against the lexical judge's, where both judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judges_agree: Option<Agreement>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde passes a reference
fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// Mean scores of one chunker in one mode at one setting: either `k` chunks or `token_budget` tokens.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Cell {
    /// Name of the chunker.
    pub chunker: String,
    /// `dense`, `bm25` or `hybrid`.
    pub mode: String,
    /// The cutoff: a number of chunks or a budget of tokens, as `k` and `token_budget`.
    #[serde(flatten)]
    pub cutoff: Cutoff,
    /// Mean tokens given to the reader.
    #[serde(deserialize_with = "null_as_nan")]
    pub context_tokens: f64,
    /// Items of this cell without a result.
    pub failed: usize,
    /// Means over all questions: a failed item scores the worst value by every metric that it has no value of. (Runs of
    /// older versions left failed items out.)
    #[serde(with = "finite_metrics")]
    pub metrics: Metrics,
    /// Means over the items that did not fail; absent where none did.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", with = "finite_metrics")]
    pub metrics_without_failed: Metrics,
    /// 95 % bootstrap intervals of the means that chunkers are compared by, by document: low and high.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub intervals: BTreeMap<Metric, [f64; 2]>,
    /// Median time of a query in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_p50_ms: Option<f64>,
    /// 95th percentile of the time of a query in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_p95_ms: Option<f64>,
    /// Seconds an answer ([`AnswerTime`]), where answers were made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_seconds: Option<f64>,
    /// What models were paid for its items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// The judge's own spread: the root of the mean variance of an item's votes; absent with one vote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge_spread: Option<f64>,
}

impl Cell {
    /// Returns the cell's coordinates.
    #[must_use]
    pub fn key(&self) -> CellKey {
        CellKey { chunker: self.chunker.clone(), mode: self.mode.clone(), cutoff: self.cutoff }
    }

    /// Returns mode and cutoff.
    #[must_use]
    pub fn setting(&self) -> Setting {
        Setting { mode: self.mode.clone(), cutoff: self.cutoff }
    }
}

/// Two chunkers on the same questions: `difference` is the mean of a's score minus b's.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Comparison {
    /// The chunker whose scores count positively.
    pub a: String,
    /// The chunker whose scores are subtracted.
    pub b: String,
    /// Retrieval mode.
    pub mode: String,
    /// The cutoff: a number of chunks or a budget of tokens, as `k` and `token_budget`.
    #[serde(flatten)]
    pub cutoff: Cutoff,
    /// The metric.
    pub metric: Metric,
    /// Questions that both have a score for.
    pub n: usize,
    /// Mean of a minus mean of b, over those questions.
    #[serde(deserialize_with = "null_as_nan")]
    pub difference: f64,
    /// Lower end of the 95 % interval.
    #[serde(deserialize_with = "null_as_nan")]
    pub low: f64,
    /// Upper end of the 95 % interval.
    #[serde(deserialize_with = "null_as_nan")]
    pub high: f64,
    /// Two-sided p-value of the paired permutation test.
    #[serde(deserialize_with = "null_as_nan")]
    pub p: f64,
    /// The same after Holm's correction over the primary family; null for exploratory comparisons, and absent there in runs
    /// of older versions. (Still older ones corrected over all comparisons by the same metric.)
    #[serde(default)]
    pub p_holm: Option<f64>,
    /// Questions on which a scores higher.
    pub wins: usize,
    /// Questions on which both score the same.
    pub ties: usize,
    /// Questions on which b scores higher.
    pub losses: usize,
    /// The smallest true difference that this sample finds with 80 % power, at the level that decides: 0.05, divided by the
    /// number of comparisons in the primary family.
    #[serde(deserialize_with = "null_as_nan")]
    pub detectable: f64,
    /// Whether it decides, or is one of the others; absent in runs of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<Family>,
    /// What it shows, for primary comparisons.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// Documents that answer the questions: the units of interval and test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub documents: Option<usize>,
    /// The variance by document over the variance by question; absent where it cannot be had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub design_effect: Option<f64>,
    /// The difference without the questions of any one document; absent where there is one document only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leave_one_out: Option<LeaveOneOut>,
}

impl Comparison {
    /// True where all of the interval lies within the smallest difference that matters: whatever it shows does not matter.
    #[must_use]
    pub fn is_slight(&self, margin: f64) -> bool {
        self.low > -margin && self.high < margin
    }

    /// Returns mode and cutoff.
    #[must_use]
    pub fn setting(&self) -> Setting {
        Setting { mode: self.mode.clone(), cutoff: self.cutoff }
    }
}

/// What was asked of models, and what it cost.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Cost {
    /// Requests that were answered by a model.
    pub calls: u64,
    /// Requests that were answered from the cache.
    pub cached: u64,
    /// Tokens of the prompts, those answered from the cache included.
    pub prompt_tokens: u64,
    /// Tokens of the answers, likewise.
    pub completion_tokens: u64,
    /// Price of all answers, in the currency of the configuration, whether paid for now or by an earlier run.
    #[serde(default)]
    pub price: f64,
    /// What was paid for now: answers from the cache are free.
    #[serde(default)]
    pub paid: f64,
}

impl std::ops::AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        // A server, or a file of an earlier session, may name any number.
        self.calls = self.calls.saturating_add(other.calls);
        self.cached = self.cached.saturating_add(other.cached);
        self.prompt_tokens = self.prompt_tokens.saturating_add(other.prompt_tokens);
        self.completion_tokens = self.completion_tokens.saturating_add(other.completion_tokens);
        self.price += other.price;
        self.paid += other.paid;
    }
}

/// How far two judges agree on the items that both judged.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Agreement {
    /// Items.
    pub n: usize,
    /// Pearson's correlation of the scores.
    #[serde(deserialize_with = "null_as_nan")]
    pub pearson: f64,
    /// Spearman's correlation of their ranks.
    #[serde(deserialize_with = "null_as_nan")]
    pub spearman: f64,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::{Cell, Comparison, Cutoff, Item, Metric, Status, Summary};

    #[test]
    fn what_there_is_none_of_is_null_or_absent() {
        let comparison = Comparison { cutoff: Cutoff::K(1), metric: Metric::named(""), ..Comparison::default() };
        let summary = Summary { comparisons: vec![comparison], ..Summary::default() };
        let mut json = serde_json::to_value(&summary).unwrap();
        assert!(json.get("verdict").unwrap().is_null() && json["comparisons"][0].get("p_holm").unwrap().is_null());
        assert_eq!(serde_json::from_value::<Summary>(json.clone()).unwrap(), summary);
        json.as_object_mut().unwrap().remove("verdict");
        json["comparisons"][0].as_object_mut().unwrap().remove("p_holm");
        assert_eq!(serde_json::from_value::<Summary>(json).unwrap(), summary);
    }

    #[test]
    fn field_names_are_those_of_the_format() {
        let summary = Summary {
            chunkers: vec![Default::default()],
            cells: vec![Cell { cutoff: Cutoff::K(3), ..Cell::default() }],
            comparisons: vec![Comparison {
                cutoff: Cutoff::Tokens(512),
                metric: Metric::named(""),
                p_holm: Some(0.0),
                ..Comparison::default()
            }],
            ..Summary::default()
        };
        let json = serde_json::to_string(&summary).unwrap();
        assert_eq!(
            json,
            concat!(
                r#"{"name":"","questions":0,"documents":0,"failed":0,"#,
                r#""chunkers":[{"name":"","spec":"","chunks":0,"mean_words":0.0,"mean_tokens":0.0,"max_tokens":0,"#,
                r#""segment_seconds":0.0,"index_seconds":0.0}],"#,
                r#""cells":[{"chunker":"","mode":"","k":3,"token_budget":null,"context_tokens":0.0,"failed":0,"#,
                r#""metrics":{}}],"#,
                r#""comparisons":[{"a":"","b":"","mode":"","k":null,"token_budget":512,"metric":"","n":0,"#,
                r#""difference":0.0,"low":0.0,"high":0.0,"p":0.0,"p_holm":0.0,"wins":0,"ties":0,"losses":0,"#,
                r#""detectable":0.0}],"verdict":null}"#
            )
        );
        assert_eq!(serde_json::from_str::<Summary>(&json).unwrap(), summary);
    }

    #[test]
    fn a_metric_that_is_not_a_number_is_absent() {
        let mut cell = Cell { context_tokens: f64::NAN, ..Cell::default() };
        cell.metrics.insert("judge".into(), f64::NAN);
        cell.metrics.insert("hit".into(), 0.5);
        let json = serde_json::to_string(&cell).unwrap();
        assert!(json.contains(r#""metrics":{"hit":0.5}"#), "{json}");
        let back: Cell = serde_json::from_str(&json.replace("0.5", "null")).unwrap();
        assert!(back.metrics.is_empty());
        assert!(back.context_tokens.is_nan());
    }

    #[test]
    fn items_read_with_their_optional_parts_left_out() {
        let line = r#"{"question_id":"q","chunker":"c","mode":"dense","k":1,"token_budget":null,"question":"Why?",
            "gold":{"document":"d","spans":[{"start":1,"end":4}],"text":"abc"},"status":"failed","error":"timed out"}"#;
        let item: Item = serde_json::from_str(line).unwrap();
        assert_eq!(item.status, Status::Failed);
        assert_eq!(item.gold.spans[0].len(), 3);
        assert!(item.retrieved.is_empty() && item.answer.is_none());
    }
}
