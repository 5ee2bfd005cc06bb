use std::ops::Range;
use std::sync::Arc;

use pericope_api::Span;
use pericope_encode::Subwords;
use pericope_segment::blocks::blocks;

use crate::Sentences;
use crate::cogltx::Counter;

/// The place of an answer: its first and its last token, each by its block and its place in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerTokens {
    /// The first token.
    pub first: (usize, usize),
    /// The last token.
    pub last: (usize, usize),
}

/// A query about a text that is cut into blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgeQuestion {
    /// The ids of the text's blocks; questions about one text share them.
    pub blocks: Arc<Sentences>,
    /// Blocks that read otherwise for this query, in order: what the query was taken from is left out of them.
    pub replaced: Vec<(usize, Vec<u32>)>,
    /// The query's tokens.
    pub query: Vec<u32>,
    /// The blocks that are relevant, in order; at least one.
    pub relevant: Vec<usize>,
    /// Where the answer stands, where the query has one.
    pub answer: Option<AnswerTokens>,
}

impl JudgeQuestion {
    /// The ids of block `i`.
    #[must_use]
    pub fn ids(&self, i: usize) -> &[u32] {
        match self.replaced.iter().find(|(block, _)| *block == i) {
            Some((_, ids)) => ids,
            None => self.blocks.of(i),
        }
    }

    /// The ids of all blocks.
    pub(super) fn all(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.blocks.len()).map(|i| self.ids(i))
    }

    /// True where block `i` is relevant.
    pub(super) fn is_relevant(&self, i: usize) -> bool {
        self.relevant.binary_search(&i).is_ok()
    }

    /// The irrelevant blocks that have tokens.
    pub(super) fn others(&self) -> Vec<usize> {
        (0..self.blocks.len()).filter(|&i| !self.is_relevant(i) && !self.ids(i).is_empty()).collect()
    }
}

/// The data of a training of the judge.
#[derive(Debug, Clone, Copy, Default)]
pub struct JudgeData<'a> {
    /// Questions to learn from.
    pub train: &'a [JudgeQuestion],
    /// Questions to stop by; without any all steps are done, and the last weights stay.
    pub validation: &'a [JudgeQuestion],
}

/// A text that questions are asked about, cut into blocks.
#[derive(Debug)]
pub struct JudgeText<'a> {
    text: &'a str,
    words: &'a Arc<Subwords>,
    spans: Vec<Span>,
    ids: Arc<Sentences>,
    limit: usize,
}

impl<'a> JudgeText<'a> {
    /// Cuts a text into blocks of at most `limit` tokens, as the judge reads it.
    #[must_use]
    pub fn new(text: &'a str, words: &'a Arc<Subwords>, limit: usize) -> Self {
        let spans = blocks(text, &Counter(Arc::clone(words)), limit);
        let ids: Vec<Vec<u32>> = spans.iter().map(|span| words.ids(span.of(text), limit)).collect();
        let ids = Arc::new(Sentences::new(ids.iter().map(Vec::as_slice), limit));
        Self { text, words, spans, ids, limit }
    }

    /// A question whose answer stands under `gold`, in bytes: every block that holds part of it is relevant, and the answer is all from
    /// the first to the last of it. Queries are cut off at `query` tokens. `None` without a query or a block of the answer.
    #[must_use]
    pub fn question(&self, asked: &str, gold: &[Span], query: usize) -> Option<JudgeQuestion> {
        let query = self.words.ids(asked, query);
        let relevant = self.relevant(gold);
        let hull = gold.iter().copied().reduce(|a, b| a.hull(&b))?;
        let (first, last) = (*relevant.first()?, *relevant.last()?);
        let before = |block: usize, at: usize| self.count(block, at);
        let start = before(first, hull.start)?;
        // The last token that ends in the answer.
        let end = before(last, hull.end)?.checked_sub(1)?;
        let holds = |block: usize, token: usize| token < self.ids.of(block).len();
        let answer = AnswerTokens { first: (first, start), last: (last, end) };
        let answer = (holds(first, start) && holds(last, end) && answer.first <= answer.last).then_some(answer);
        let question = JudgeQuestion { blocks: Arc::clone(&self.ids), replaced: Vec::new(), query, relevant, answer };
        (!question.query.is_empty()).then_some(question)
    }

    /// A query that is part of the text, `taken`: it is left out, and what else stands under `gold` is relevant. `None` where nothing
    /// else does.
    #[must_use]
    pub fn passage(&self, taken: Span, gold: Span, query: usize) -> Option<JudgeQuestion> {
        let ids = |from: usize, to: usize| self.words.ids(self.text.get(from..to).unwrap_or(""), self.limit);
        let touched = self.touched(taken);
        let replaced: Vec<(usize, Vec<u32>)> = touched
            .filter_map(|i| {
                let span = self.spans.get(i)?;
                let mut left = ids(span.start, taken.start.max(span.start));
                left.extend(ids(taken.end.min(span.end), span.end));
                left.truncate(self.limit);
                Some((i, left))
            })
            .collect();
        let rest = [Span::new(gold.start, taken.start.max(gold.start)), Span::new(taken.end.min(gold.end), gold.end)];
        let rest: Vec<Span> = rest.into_iter().filter(|span| !span.of(self.text).trim().is_empty()).collect();
        let query = self.words.ids(taken.of(self.text), query);
        let blocks = Arc::clone(&self.ids);
        let mut question = JudgeQuestion { blocks, replaced, query, relevant: Vec::new(), answer: None };
        let relevant = self.relevant(&rest).into_iter().filter(|&i| !question.ids(i).is_empty());
        question.relevant = relevant.collect();
        (!question.relevant.is_empty() && !question.query.is_empty()).then_some(question)
    }

    /// The blocks that share a byte with one of `gold`, in order.
    fn relevant(&self, gold: &[Span]) -> Vec<usize> {
        let mut found: Vec<usize> = gold.iter().flat_map(|&span| self.touched(span)).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The blocks that share a byte with a span.
    fn touched(&self, span: Span) -> Range<usize> {
        let first = self.spans.partition_point(|block| block.end <= span.start);
        let last = self.spans.partition_point(|block| block.start < span.end);
        first..last.max(first)
    }

    /// The number of a block's tokens that lie before byte `at` of the text.
    fn count(&self, block: usize, at: usize) -> Option<usize> {
        let span = self.spans.get(block)?;
        let before = self.text.get(span.start..at.clamp(span.start, span.end))?;
        Some(self.words.ids(before, self.limit).len())
    }
}
