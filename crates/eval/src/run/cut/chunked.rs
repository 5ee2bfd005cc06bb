//! What cutting gives.

use std::collections::BTreeMap;
use std::sync::Arc;

use pericope_api::{Chunk, Document, ModelUse};
use pericope_store::{Expand, Expansion};

use super::super::found::{Built, Hit};
use crate::config::{GeneratorKind, shown_reranker};
use crate::record::{ChunkerRow, Histogram, SameSize};

/// A corpus cut by one chunker.
#[derive(Clone)]
pub(in crate::run) struct Cut {
    pub(in crate::run) name: String,
    /// Spec with the limit in force.
    pub(in crate::run) spec: String,
    /// What it came down to, where that is another segmenter.
    pub(super) resolved: Option<String>,
    /// Chunks by document.
    pub(in crate::run) chunks: Arc<Vec<Vec<Chunk>>>,
    pub(in crate::run) mean_words: f64,
    pub(super) seconds: f64,
    pub(super) limit: Option<usize>,
    /// Documents that the chunker failed on, by index, with its reason: they are missing in its index.
    pub(super) failed: BTreeMap<usize, String>,
    /// Says which weights it was cut with; empty where the spec says all.
    pub(in crate::run) fingerprint: String,
    /// For a retriever of others, of which only what it found is known: the texts that stand in no document. Its chunks come
    /// after those of the corpus.
    pub(in crate::run) lost: Option<Document>,
    /// What a `same-size` was sized by.
    pub(in crate::run) same_size: Option<SameSize>,
    /// What orders its hits anew, and how many of them.
    pub(in crate::run) reranking: Option<(String, usize)>,
    /// What is given back in place of its chunks.
    pub(in crate::run) expansion: Expansion,
    /// Whether its chunks are embedded behind their headings.
    pub(in crate::run) prefix_headings: bool,
    /// Whether its chunks are embedded within their documents.
    pub(in crate::run) late_chunking: bool,
    /// What its segmenter asked of a language model.
    pub(super) asked: Option<ModelUse>,
    /// What answers from its chunks, where that is not what answers from all.
    pub(in crate::run) generator: Option<GeneratorKind>,
    /// Who wrote the contexts of its chunks, and what was asked for them.
    pub(in crate::run) contexts: Option<(String, ModelUse)>,
}

impl Cut {
    /// A cut that is nothing but its chunks.
    #[cfg(test)]
    pub(in crate::run) fn of_chunks(name: &str, chunks: Arc<Vec<Vec<Chunk>>>) -> Self {
        Self { lost: None, ..Self::of_passages(name, name, chunks, Document::from_sentences("", &[""; 0]), 0.0) }
    }

    /// What a retriever of others found, as if it had been cut.
    pub(in crate::run) fn of_passages(
        name: &str,
        spec: &str,
        chunks: Arc<Vec<Vec<Chunk>>>,
        lost: Document,
        mean_words: f64,
    ) -> Self {
        Self {
            name: name.to_owned(),
            spec: spec.to_owned(),
            resolved: None,
            chunks,
            mean_words,
            seconds: 0.0,
            limit: None,
            failed: BTreeMap::new(),
            fingerprint: String::new(),
            same_size: None,
            lost: Some(lost),
            reranking: None,
            expansion: Expansion::default(),
            prefix_headings: false,
            late_chunking: false,
            asked: None,
            generator: None,
            contexts: None,
        }
    }

    /// The document of a hit: one of the corpus, or the texts that stand in none.
    pub(in crate::run) fn document<'c>(&'c self, documents: &'c [Document], hit: &Hit) -> Option<&'c Document> {
        documents.get(hit.document).or(self.lost.as_ref())
    }

    /// Why the chunker has no chunks of a document that a question's answer stands in.
    pub(in crate::run) fn failure(&self, documents: impl Iterator<Item = usize>) -> Option<&str> {
        documents.into_iter().find_map(|document| self.failed(document))
    }

    /// Why the chunker has no chunks of a document (its index).
    pub(in crate::run) fn failed(&self, document: usize) -> Option<&str> {
        self.failed.get(&document).map(String::as_str)
    }

    pub(in crate::run) fn chunk(&self, hit: &Hit) -> &Chunk {
        &self.chunks[hit.document][hit.ordinal]
    }

    pub(in crate::run) fn row(&self, built: &Built) -> ChunkerRow {
        let tokens: Vec<usize> = self.chunks.iter().flatten().map(|c| c.tokens).collect();
        let total: usize = tokens.iter().sum();
        ChunkerRow {
            name: self.name.clone(),
            spec: self.spec.clone(),
            resolved: self.resolved.clone(),
            retriever: None,
            chunks: tokens.len(),
            mean_words: self.mean_words,
            mean_tokens: if tokens.is_empty() { 0.0 } else { total as f64 / tokens.len() as f64 },
            max_tokens: tokens.iter().copied().max().unwrap_or(0),
            segment_seconds: self.seconds,
            index_seconds: built.seconds,
            truncated: built.truncated,
            limit: self.limit,
            fingerprint: self.fingerprint.clone(),
            same_size: self.same_size.clone(),
            rerank: self.reranking.as_ref().map(|(spec, _)| shown_reranker(spec)),
            rerank_depth: self.reranking.as_ref().map(|(_, depth)| *depth),
            expand: (self.expansion.expand != Expand::None).then_some(self.expansion.expand),
            expand_tokens: (self.expansion.expand != Expand::None).then_some(self.expansion.tokens),
            prefix_headings: self.prefix_headings,
            late_chunking: self.late_chunking,
            generator: self.generator,
            context: self.contexts.as_ref().map(|(writer, _)| writer.clone()),
            contexts: self.contexts.as_ref().map(|(_, used)| *used),
            asked: self.asked,
            index_bytes: built.bytes,
            token_histogram: Some(Histogram::of(tokens)),
            query_times: BTreeMap::new(),
            answer_times: Vec::new(),
        }
    }
}
