//! `[retrieval]`: how chunks are found.

use pericope_store::{EXPAND_TOKENS, Expand, Expansion, LanguageChoice, Mode, RERANK_DEPTH};
use serde::{Deserialize, Deserializer, Serialize};

use crate::cell::Cutoff;

/// `[retrieval]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Retrieval {
    /// As `--embedder` names it: `minilm` (default), `none`, a known model or a folder (docs/embedders.md).
    pub embedder: String,
    /// What counts tokens: `minilm`, `words`, a known model, a `tokenizer.json` or its folder, `cl100k`, `o200k`. Default: that of the model
    /// that embeds the chunks, else `minilm` where a segmenter reads with it, else `words`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokenizer: Option<String>,
    /// The language in which words are read for BM25, by its code (`de`, `ja`); default `auto`: that of each document is
    /// detected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<LanguageChoice>,
    /// The address of a collection on a server (`qdrant://HOST:PORT/NAME`): every chunker is measured in one of its own
    /// (`NAME-chunker`), which takes the place of an earlier run's and of no other collection. Default: a folder inside the
    /// run's, which is removed after the measurement.
    #[serde(rename = "in", skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// A retriever of others, which is measured beside the chunkers under the name `retriever`: a `spec` as in `[[retriever]]`.
    /// Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retriever: Option<String>,
    /// How chunks are found: `dense` (default), `bm25`, `hybrid`.
    #[serde(deserialize_with = "each_once")]
    pub modes: Vec<Mode>,
    /// Numbers of chunks; default 1, 3, 5.
    pub k: Vec<usize>,
    /// Budgets of context in tokens: the best chunks, as many as fill it (`budget_rule`); default none.
    pub token_budgets: Vec<usize>,
    /// How a budget ends: `fill` (default) cuts the last chunk where the budget ends, `whole` leaves it out.
    pub budget_rule: BudgetRule,
    /// What orders the best chunks anew after the search: `none` (default), or a reranker as `pericope rerankers` lists them
    /// (`cogltx`, `maxsim`, `cross-encoder:model=DIR`, `weswin`, `https://HOST/PATH,model=NAME`). Retrievers of others keep their order.
    pub rerank: String,
    /// Chunks that a reranker scores; those further down follow in the order of the search. Default 50.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rerank_depth: Option<usize>,
    /// What is given back in place of a chunk that is found: `none` (default), `parent` (the coarsest section around it that
    /// fits), `merge` (a section where most of its chunks are found), `neighbours:N` (N chunks before and after it),
    /// `segment` (the best run of chunks around it). Retrievers of others give what they give.
    pub expand: Expand,
    /// Tokens that an expanded hit has at most; default 512. Set it to the smallest of `token_budgets` where that is less: what is
    /// above a budget is cut off at its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expand_tokens: Option<usize>,
    /// Whether the embedder reads the headings above a chunk before its text, as far as both fit its window; default false.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub prefix_headings: bool,
    /// Whether the embedder reads every chunk within its document (late chunking): a chunk's vector is the mean of its tokens',
    /// which have read the document around them, in overlapping windows where it is longer than the embedder's. It goes neither
    /// with `prefix_headings` nor with `context`; default false.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub late_chunking: bool,
    /// What a chunk is given before it is embedded and its words are indexed: `none` (default), or a sentence or two by a
    /// language model that place it in its document (`llm`, asked by `[llm.context]`). What is given back is the chunk without it.
    #[serde(skip_serializing_if = "ContextKind::is_none")]
    pub context: ContextKind,
    /// Whether a chunk that repeats the text of a better one is passed over; default false.
    pub drop_repeats: bool,
}

impl Default for Retrieval {
    fn default() -> Self {
        Self {
            embedder: "minilm".into(),
            tokenizer: None,
            language: None,
            place: None,
            retriever: None,
            modes: vec![Mode::Dense],
            k: vec![1, 3, 5],
            token_budgets: Vec::new(),
            budget_rule: BudgetRule::Fill,
            rerank: NO_RERANKER.into(),
            rerank_depth: None,
            expand: Expand::None,
            expand_tokens: None,
            prefix_headings: false,
            late_chunking: false,
            context: ContextKind::None,
            drop_repeats: false,
        }
    }
}

/// Modes in their order, without those that stand there already.
fn each_once<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Mode>, D::Error> {
    let mut modes: Vec<Mode> = Vec::new();
    for mode in Vec::<Mode>::deserialize(from)? {
        if !modes.contains(&mode) {
            modes.push(mode);
        }
    }
    Ok(modes)
}

/// How a budget of tokens ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BudgetRule {
    /// The first chunk that does not fit is cut off, at the end of a token: every chunker gives the reader as much.
    #[default]
    Fill,
    /// The first chunk that does not fit is left out: what is given may be up to a chunk less than the budget.
    Whole,
}

/// The spec with which the order of the search stays.
const NO_RERANKER: &str = "none";

/// A reranker, and how many chunks it scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Reranking<'a> {
    /// The spec as the experiment has it.
    pub spec: &'a str,
    /// Chunks that are scored, at most.
    pub depth: usize,
}

/// What places chunks in their documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ContextKind {
    /// Nothing: a chunk speaks for itself.
    #[default]
    None,
    /// Sentences by a language model.
    Llm,
}

impl ContextKind {
    #[allow(clippy::trivially_copy_pass_by_ref)] // serde passes a reference
    fn is_none(&self) -> bool {
        *self == Self::None
    }
}

impl Retrieval {
    /// Returns every cutoff once, numbers of chunks first, each in rising order.
    #[must_use]
    pub fn cutoffs(&self) -> Vec<Cutoff> {
        let of_tokens = self.token_budgets.iter().copied().map(Cutoff::Tokens);
        let mut cutoffs: Vec<Cutoff> = self.k.iter().copied().map(Cutoff::K).chain(of_tokens).collect();
        cutoffs.sort_unstable();
        cutoffs.dedup();
        cutoffs
    }

    /// Returns the expansion of a chunker's hits, whose own `expand` comes first.
    #[must_use]
    pub fn expansion(&self, own: Option<Expand>) -> Expansion {
        Expansion { expand: own.unwrap_or(self.expand), tokens: self.expand_tokens.unwrap_or(EXPAND_TOKENS) }
    }

    /// Returns what orders a chunker's hits anew, whose own `rerank` comes first; `None` where their order stays.
    #[must_use]
    pub fn reranking<'a>(&'a self, own: Option<&'a str>) -> Option<Reranking<'a>> {
        let spec = own.unwrap_or(&self.rerank);
        let depth = self.rerank_depth.unwrap_or(RERANK_DEPTH);
        (spec != NO_RERANKER).then_some(Reranking { spec, depth })
    }

    /// Checks what the types do not say; `searches` says whether chunks are searched by these modes.
    pub(super) fn check(&self, searches: bool) -> Result<(), String> {
        let lacks = searches && self.embedder == "none";
        if let Some(mode) = self.modes.iter().find(|mode| **mode != Mode::Bm25).filter(|_| lacks) {
            return Err(format!(
                "retrieval.modes asks for {mode}, which needs an embedder, but retrieval.embedder = \"none\""
            ));
        }
        if self.modes.is_empty() {
            return Err("retrieval.modes is empty".into());
        }
        if self.k.is_empty() && self.token_budgets.is_empty() {
            return Err("retrieval.k and retrieval.token_budgets are both empty".into());
        }
        if self.k.contains(&0) || self.token_budgets.contains(&0) {
            return Err("retrieval.k and retrieval.token_budgets must be at least 1".into());
        }
        if self.expand_tokens == Some(0) {
            return Err("retrieval.expand_tokens must be at least 1".into());
        }
        if self.rerank_depth == Some(0) {
            return Err("retrieval.rerank_depth must be at least 1".into());
        }
        if let Some(place) = &self.place
            && let Some((scheme, _)) = place.split_once("://")
            && !["qdrant", "qdrants"].iter().any(|ours| scheme.eq_ignore_ascii_case(ours))
        {
            // The rest is not repeated: it may hold a key.
            return Err(format!("retrieval.in begins with {scheme}://: write qdrant://HOST:6334/NAME"));
        }
        if self.rerank.trim().is_empty() {
            return Err("retrieval.rerank is empty: name a reranker, or none".into());
        }
        if self.embedder.trim().is_empty() {
            return Err("retrieval.embedder is empty: name an embedder, or none".into());
        }
        Ok(())
    }
}
