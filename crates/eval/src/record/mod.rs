//! What a run leaves behind, as types: `summary.json` ([`Summary`]), `items.jsonl` (one [`Item`] a line) and `run.json`
//! ([`RunRecord`]).
//!
//! Shares are 0..1, judge scores 0..10, texts and spans in bytes of the document. A metric that was not measured is
//! absent, never NaN: numbers that are not finite are left out of metric maps on the way out, and a `null` is read as
//! "not measured".

mod judges;
mod pairwise;
mod same_size;
mod verdict;

use std::collections::BTreeMap;

use pericope_api::{ModelUse, Span};
use pericope_store::Expand;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::cell::{CellKey, Cutoff, Setting};
use crate::config::{BudgetRule, GeneratorKind};
use crate::metric::Metric;
use crate::stats::LeaveOneOut;

pub(crate) use judges::JUDGE;
pub use judges::JudgeIdentity;
pub use pairwise::{PairwiseItem, PairwiseRow, Preference};
pub use same_size::SameSize;
pub use verdict::{FEW_DOCUMENTS, Family, Outcome, PrimaryRecord, Verdict};

/// Metric name to value; names as in `summary.json`: `span_recall`, `judge`, `token_f1`.
pub type Metrics = BTreeMap<Metric, f64>;

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
    /// The chunkers in the order of the configuration.
    pub chunkers: Vec<ChunkerRow>,
    /// Mean scores by chunker, mode and setting.
    pub cells: Vec<Cell>,
    /// Paired comparisons of two chunkers; the primary ones come first.
    pub comparisons: Vec<Comparison>,
    /// Which chunker to take, and how sure that is; absent where nothing was compared, and in runs of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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

/// A chunker and what its cutting amounts to.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ChunkerRow {
    /// Its name in this run, unique.
    pub name: String,
    /// The segmenter's spec, with the limit in force.
    pub spec: String,
    /// What the spec came down to on this corpus, where it depends on it: `fixed:words=133` for a `same-size`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved: Option<String>,
    /// The size that a `same-size` was to have, and by how much it misses it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_size: Option<SameSize>,
    /// The spec of what ordered its hits anew, where anything did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rerank: Option<String>,
    /// Hits that were scored for that, at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rerank_depth: Option<usize>,
    /// What is given back in place of its chunks, where that is something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expand: Option<Expand>,
    /// Tokens of an expanded hit at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expand_tokens: Option<usize>,
    /// Whether its chunks are embedded behind their headings.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub prefix_headings: bool,
    /// Whether its chunks are embedded within their documents.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub late_chunking: bool,
    /// What answers from its chunks, where that is not what answers from all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator: Option<GeneratorKind>,
    /// Who wrote the contexts of its chunks; absent where nobody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// What was asked of a language model to write the contexts, and for how many chunks in vain: those have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contexts: Option<ModelUse>,
    /// What its segmenter asked of a language model, and for how many groups of passages in vain: those are segments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<ModelUse>,
    /// Says which weights the segmenter read with; empty where the spec says all.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub fingerprint: String,
    /// For a retriever of others: what it handed out. Its chunks are the passages that it found, each counted once, and
    /// its seconds of cutting and indexing are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retriever: Option<RetrieverRow>,
    /// Chunks in the index.
    pub chunks: usize,
    /// Mean words a chunk.
    #[serde(deserialize_with = "null_as_nan")]
    pub mean_words: f64,
    /// Mean tokens a chunk.
    #[serde(deserialize_with = "null_as_nan")]
    pub mean_tokens: f64,
    /// Tokens of the longest chunk.
    pub max_tokens: usize,
    /// Seconds spent on segmenting.
    #[serde(deserialize_with = "null_as_nan")]
    pub segment_seconds: f64,
    /// Seconds spent on embedding and indexing.
    #[serde(deserialize_with = "null_as_nan")]
    pub index_seconds: f64,
    /// The limit in force, in tokens; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// Chunks whose end the retrieval encoder does not read.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub truncated: u64,
    /// Bytes of the index on disk, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index_bytes: Option<u64>,
    /// Chunks by size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_histogram: Option<Histogram>,
    /// How long a query takes, by mode.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub query_times: BTreeMap<String, QueryTimes>,
    /// How long an answer takes, by mode and setting, where answers were made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answer_times: Vec<AnswerTime>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde passes a reference
fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl ChunkerRow {
    /// Seconds to cut and to index; `None` where others cut and nobody saw how long it took: a retriever of others, and
    /// chunks that came out of a file.
    #[must_use]
    pub fn seconds(&self) -> Option<f64> {
        let from_file = self.spec.split([':', ',']).next() == Some("chunks");
        (self.retriever.is_none() && !from_file).then_some(self.segment_seconds + self.index_seconds)
    }

    /// The spec as tables show it: with what it came down to on this corpus, and what becomes of its chunks.
    #[must_use]
    pub fn shown_spec(&self) -> String {
        let mut shown = self.spec.clone();
        if let Some(resolved) = &self.resolved {
            shown.push_str(&format!(" = {resolved}"));
        }
        if let Some(same) = &self.same_size {
            shown.push_str(&format!(" ({same})"));
        }
        if self.prefix_headings {
            shown.push_str(" + headings");
        }
        if self.late_chunking {
            shown.push_str(" + late");
        }
        if let Some(rerank) = &self.rerank {
            shown.push_str(&format!(" + rerank {rerank}"));
            shown.push_str(&self.rerank_depth.map(|depth| format!(" (best {depth})")).unwrap_or_default());
        }
        if self.context.is_some() {
            shown.push_str(" + context");
        }
        if let Some(expand) = self.expand {
            shown.push_str(&format!(" + {expand}"));
            shown.push_str(&self.expand_tokens.map(|most| format!(" (to {most} tokens)")).unwrap_or_default());
        }
        if let Some(generator) = self.generator {
            shown.push_str(&format!(" + answers by {}", generator.name()));
        }
        shown
    }
}

/// What a retriever of others handed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RetrieverRow {
    /// Passages in all, over all questions.
    pub passages: u64,
    /// Those that stand in no document of the data: they count as retrieved and hold no answer.
    pub unplaced: u64,
}

/// Percentiles of the time of a query; its embedding is not in it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct QueryTimes {
    /// Median, in milliseconds.
    pub p50_ms: Option<f64>,
    /// 95th percentile, in milliseconds.
    pub p95_ms: Option<f64>,
}

/// How long a generator takes for an answer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct AnswerTime {
    /// Retrieval mode.
    pub mode: String,
    /// The cutoff: a number of chunks or a budget of tokens, as `k` and `token_budget`.
    #[serde(flatten)]
    pub cutoff: Cutoff,
    /// Seconds until all questions were answered, over their number: where several are answered side by side one takes longer.
    #[serde(deserialize_with = "null_as_nan")]
    pub seconds: f64,
}

/// Chunks counted by their tokens: bin `i` holds sizes in `i * width .. (i + 1) * width`. One that is read has at most
/// 65,536 bins of at most 65,536 tokens, and at most 2^53 chunks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "AnyHistogram")]
pub struct Histogram {
    /// Width of a bin in tokens, at least 1.
    pub width: usize,
    /// Chunks in each bin; trailing empty bins are left out.
    pub counts: Vec<usize>,
    /// Chunks larger than the last possible bin.
    pub beyond: usize,
}

/// A histogram as a file says it.
#[derive(Deserialize)]
struct AnyHistogram {
    width: usize,
    counts: Vec<usize>,
    #[serde(default)]
    beyond: usize,
}

impl TryFrom<AnyHistogram> for Histogram {
    type Error = &'static str;

    fn try_from(found: AnyHistogram) -> Result<Self, Self::Error> {
        let AnyHistogram { width, counts, beyond } = found;
        let total = counts.iter().try_fold(beyond, |sum, count| sum.checked_add(*count));
        if !(1..=1 << 16).contains(&width) || counts.len() > 1 << 16 || total.is_none_or(|total| total as u64 > 1 << 53)
        {
            return Err("a histogram of chunk sizes has a width, bins or counts that no run has");
        }
        Ok(Self { width, counts, beyond })
    }
}

impl Histogram {
    /// Width of the bins that [`Histogram::of`] fills: fine enough to be drawn together with others on one axis.
    pub const WIDTH: usize = 8;
    /// Bins at most; with [`Histogram::WIDTH`] they reach to 4,096 tokens.
    pub const BINS: usize = 512;

    /// Counts chunk sizes given in tokens.
    #[must_use]
    pub fn of(tokens: impl IntoIterator<Item = usize>) -> Self {
        let (mut counts, mut beyond) = (Vec::new(), 0);
        for size in tokens {
            let bin = size / Self::WIDTH;
            if bin >= Self::BINS {
                beyond += 1;
                continue;
            }
            if counts.len() <= bin {
                counts.resize(bin + 1, 0);
            }
            if let Some(count) = counts.get_mut(bin) {
                *count += 1;
            }
        }
        Self { width: Self::WIDTH, counts, beyond }
    }

    /// All chunks counted.
    #[must_use]
    pub fn total(&self) -> usize {
        self.counts.iter().sum::<usize>() + self.beyond
    }
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
    /// The same after Holm's correction over the primary family; absent for exploratory comparisons. (Runs of older
    /// versions corrected over all comparisons by the same metric.)
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    /// Returns mode and cutoff.
    #[must_use]
    pub fn setting(&self) -> Setting {
        Setting { mode: self.mode.clone(), cutoff: self.cutoff }
    }
}

/// One line of `items.jsonl`: a question put to one chunker's index in one mode at one setting.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Item {
    /// Id of the question, unique in the data set.
    pub question_id: String,
    /// Name of the chunker.
    pub chunker: String,
    /// Retrieval mode.
    pub mode: String,
    /// The cutoff: a number of chunks or a budget of tokens, as `k` and `token_budget`.
    #[serde(flatten)]
    pub cutoff: Cutoff,
    /// Ids of the documents that hold the gold answer.
    #[serde(default)]
    pub documents: Vec<String>,
    /// The question.
    pub question: String,
    /// The gold answer.
    pub gold: Gold,
    /// What was retrieved, best first.
    #[serde(default)]
    pub retrieved: Vec<Retrieved>,
    /// The answer that a generator gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
    /// The item's scores.
    #[serde(default, with = "finite_metrics")]
    pub metrics: Metrics,
    /// What a model that judged the answer said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judgement: Option<Judgement>,
    /// What models were paid for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// Chunks, the worst ranked, that were not given to the reader since they did not fit its context.
    #[serde(default, skip_serializing_if = "none_dropped")]
    pub dropped: usize,
    /// Tokens given to the reader.
    #[serde(default)]
    pub context_tokens: usize,
    /// Whether there is a result.
    #[serde(default)]
    pub status: Status,
    /// Why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Item {
    /// Returns the coordinates of the cell that the item belongs to.
    #[must_use]
    pub fn key(&self) -> CellKey {
        CellKey { chunker: self.chunker.clone(), mode: self.mode.clone(), cutoff: self.cutoff }
    }

    /// Returns mode and cutoff.
    #[must_use]
    pub fn setting(&self) -> Setting {
        Setting { mode: self.mode.clone(), cutoff: self.cutoff }
    }

    /// Returns the item without its texts, which are most of it: with its names, scores, status and cost.
    pub(crate) fn without_texts(self) -> Self {
        let gold = Gold { document: self.gold.document, ..Gold::default() };
        let judgement = self.judgement.map(|judgement| Judgement { reason: String::new(), ..judgement });
        Self {
            documents: Vec::new(),
            question: String::new(),
            gold,
            retrieved: Vec::new(),
            answer: None,
            judgement,
            error: None,
            ..self
        }
    }

    /// Returns true where the item was retrieved in this mode and at this cutoff.
    #[must_use]
    pub fn is_at(&self, setting: &Setting) -> bool {
        setting.is(&self.mode, self.cutoff)
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde passes a reference
fn none_dropped(n: &usize) -> bool {
    *n == 0
}

/// A model's judgement of an answer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Judgement {
    /// Mean of the votes, 0..=10.
    pub score: f64,
    /// The reason given with the first vote.
    #[serde(default)]
    pub reason: String,
    /// Every vote.
    #[serde(default)]
    pub votes: Vec<f64>,
    /// Votes that could not be had; no part of the mean.
    #[serde(default, skip_serializing_if = "none_dropped")]
    pub failed_votes: usize,
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

/// Whether an item has a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It has.
    #[default]
    Ok,
    /// It has not; the item's `error` says why.
    Failed,
}

/// The passage that answers a question.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Gold {
    /// Id of the document that holds it.
    pub document: String,
    /// Where it lies, in bytes of that document.
    #[serde(default)]
    pub spans: Vec<Span>,
    /// Its text; several spans are joined by line ends.
    #[serde(default)]
    pub text: String,
}

/// A chunk that was retrieved.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Retrieved {
    /// Place in the result, from 1.
    pub rank: usize,
    /// Id of its document.
    pub document: String,
    /// First byte in the document.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// The retriever's score.
    #[serde(deserialize_with = "null_as_nan")]
    pub score: f64,
    /// Tokens of the text.
    pub tokens: usize,
    /// Tokens of the whole chunk, where a budget of tokens ended inside it and only its beginning was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole_tokens: Option<usize>,
    /// Chunks of an expanded hit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunks: Option<usize>,
    /// Headings above it, outermost first.
    #[serde(default)]
    pub heading_path: Vec<String>,
    /// Share of the gold text that lies inside, 0..1.
    #[serde(default, deserialize_with = "null_as_nan")]
    pub gold_share: f64,
    /// The text.
    #[serde(default)]
    pub text: String,
}

/// A generator's answer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Answer {
    /// The answer.
    pub text: String,
    /// Document that it was taken from, for extractive generators.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    /// First byte in that document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<usize>,
    /// One past the last byte.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<usize>,
}

/// `run.json`: what was run, in enough detail to run it again.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RunRecord {
    /// Name of the experiment.
    pub name: String,
    /// The configuration with all defaults and overrides in place.
    #[serde(default)]
    pub config: serde_json::Value,
    /// Version of the program.
    pub version: String,
    /// SHA-256 of what went in.
    #[serde(default)]
    pub checksums: Checksums,
    /// What tokens were counted with.
    #[serde(default)]
    pub tokenizer: String,
    /// Seeds by what they are for.
    #[serde(default)]
    pub seeds: BTreeMap<String, u64>,
    /// When the run began (RFC 3339).
    #[serde(default)]
    pub started: String,
    /// When it ended (RFC 3339); empty while it runs.
    #[serde(default)]
    pub finished: String,
    /// Seconds that it took, all sessions of a resumed run together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// What all calls of models cost in all sessions, failed items and checks of the judge included; absent where nothing
    /// was paid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paid: Option<f64>,
    /// The part of it that no server confirmed: calls that broke off, at the most that they may have cost, and servers that
    /// do not say what they used; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paid_estimated: Option<f64>,
    /// The prompt templates as used, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub prompts: BTreeMap<String, String>,
    /// Where it ran.
    #[serde(default)]
    pub machine: Machine,
}

/// SHA-256 (hexadecimal) by name or path.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Checksums {
    /// Data files.
    #[serde(default)]
    pub data: BTreeMap<String, String>,
    /// Model files.
    #[serde(default)]
    pub models: BTreeMap<String, String>,
    /// What the chunkers' segmenters say about their weights, by the chunker's name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub chunkers: BTreeMap<String, String>,
    /// Prompt templates.
    #[serde(default)]
    pub prompts: BTreeMap<String, String>,
}

/// The machine that a run ran on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Machine {
    /// Processor cores that the program could use.
    #[serde(default)]
    pub cores: usize,
    /// Operating system and architecture.
    #[serde(default)]
    pub os: String,
}

/// JSON has no NaN: what could not be worked out is written as `null` and read back as NaN.
fn null_as_nan<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(from)?.unwrap_or(f64::NAN))
}

/// Metric maps hold finite numbers only, on both ways.
mod finite_metrics {
    use super::{BTreeMap, Deserialize, Deserializer, Metric, Metrics, Serializer};

    pub fn serialize<S: Serializer>(metrics: &Metrics, into: S) -> Result<S::Ok, S::Error> {
        into.collect_map(metrics.iter().filter(|(_, value)| value.is_finite()))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Metrics, D::Error> {
        let read = BTreeMap::<Metric, Option<f64>>::deserialize(from)?;
        Ok(read.into_iter().filter_map(|(name, value)| Some((name, value.filter(|v| v.is_finite())?))).collect())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::{Cell, Comparison, Cutoff, Histogram, Item, Metric, Status, Summary};

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
                r#""detectable":0.0}]}"#
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

    #[test]
    fn histogram_counts_every_chunk_once() {
        let histogram = Histogram::of([0, 7, 8, 4095, 4096, 1_000_000]);
        assert_eq!(&histogram.counts[..2], [2, 1]);
        assert_eq!((histogram.counts.len(), histogram.beyond, histogram.total()), (512, 2, 6));
        assert_eq!(Histogram::of([]).total(), 0);
    }

    #[test]
    fn a_histogram_from_a_file_can_be_added_up() {
        let read = |text: &str| serde_json::from_str::<Histogram>(text);
        let written = serde_json::to_string(&Histogram::of([3, 9, 5000])).unwrap();
        assert_eq!(read(&written).unwrap(), Histogram::of([3, 9, 5000]));
        for wrong in [
            r#"{"width":0,"counts":[1]}"#,
            r#"{"width":18446744073709551615,"counts":[1]}"#,
            r#"{"width":8,"counts":[18446744073709551615,1]}"#,
            r#"{"width":8,"counts":[1],"beyond":18446744073709551615}"#,
        ] {
            assert!(read(wrong).unwrap_err().to_string().contains("a histogram"), "{wrong}");
        }
    }
}
