use serde::{Deserialize, Serialize};

use crate::cogltx::{BLOCK, QUERY};
use crate::training::options::Options;

/// [`JudgeOptions::elsewhere`] by default.
pub const ELSEWHERE: usize = 2;

/// The options of a training of the judge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgeOptions {
    /// What it shares with other trainings; `tokens` is L.
    #[serde(flatten)]
    pub common: Options,
    /// B: tokens of a block at most.
    pub block: usize,
    /// Tokens of a query that are read.
    pub query: usize,
    /// Irrelevant blocks of other texts that are read by themselves beside a question's own, at most; 0 for a judge that searches one
    /// text at a time. Trainings from before there were any read none.
    #[serde(default)]
    pub elsewhere: usize,
    /// Weight of a loss by the order of a question's blocks (the cross-entropy of each relevant one among the irrelevant ones, by the means
    /// of their tokens' logits), beside the judge's. 0 is as published, and as in trainings from before there was one.
    #[serde(default)]
    pub order_weight: f64,
    /// Weight of the reasoner's loss, a mean over the ends of answers, beside the judge's, a mean over tokens.
    pub span_weight: f64,
    /// Without relevance labels; none: with those of the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unsupervised: Option<Unsupervised>,
}

/// [`JudgeOptions::order_weight`] by default.
pub const ORDER_WEIGHT: f64 = 1.0;

/// How blocks are labelled where the data's labels are not used. After each epoch every block that the reasoner reads is left out
/// once.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Unsupervised {
    /// Blocks of a question that are relevant to begin with, at most: those with most of its words (BM25).
    pub start: usize,
    /// A block without which the reasoner loses more than so many nats becomes relevant.
    pub up: f64,
    /// One without which it loses less, negative where it gains, becomes irrelevant.
    pub down: f64,
}

impl Default for Unsupervised {
    /// The thresholds as published.
    fn default() -> Self {
        Self { start: 3, up: 0.2, down: -0.05 }
    }
}

impl Default for JudgeOptions {
    fn default() -> Self {
        Self {
            common: Options::judge(),
            block: BLOCK,
            query: QUERY,
            elsewhere: ELSEWHERE,
            order_weight: ORDER_WEIGHT,
            span_weight: 0.25,
            unsupervised: None,
        }
    }
}
