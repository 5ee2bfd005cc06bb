//! A chunker as `summary.json` has it: what it is, the chunks that it made, and how long that took.

use std::collections::BTreeMap;

use pericope_api::ModelUse;
use pericope_store::Expand;
use serde::{Deserialize, Serialize};

use super::finite::null_as_nan;
use super::{Histogram, SameSize};
use crate::cell::Cutoff;
use crate::config::GeneratorKind;

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
