use std::sync::Arc;

use pericope_api::{FoundSpan, SpanReader, SpanReaderError};
use pericope_encode::ModelError;

use super::answer::{Best, best_span, runs};
use super::judge::Judge;
use super::open::loaded;
use super::recall::{MemRecall, Recalled};
use super::sequence::{query_room, sequence};
use super::texts::Texts;

/// Answers by key blocks: MemRecall finds them, the sequence is filled up with the next best blocks, and the reasoner finds the
/// answer's ends in it (Ding et al. 2020, section 3.3). An answer is contiguous: it lies in blocks that follow each other in one text.
#[derive(Debug, Clone)]
pub struct Reader {
    judge: Arc<Judge>,
    recall: MemRecall,
}

impl Reader {
    /// With a judge that has been loaded.
    #[must_use]
    pub fn new(judge: Arc<Judge>, recall: MemRecall) -> Self {
        Self { judge, recall }
    }

    /// With the model that `name` names: `shipped`, or a file or folder of `pericope train judge`.
    ///
    /// # Errors
    /// [`ModelError`], naming the file, or the command that makes it.
    pub fn open(name: &str, recall: MemRecall) -> Result<Self, ModelError> {
        Ok(Self::new(loaded(name)?, recall))
    }

    /// The judge.
    #[must_use]
    pub fn judge(&self) -> &Judge {
        &self.judge
    }

    fn recalled<'a>(&self, question: &str, texts: &'a [&'a str]) -> candle_core::Result<Found<'a>> {
        let query = self.judge.query(question);
        let texts = Texts::new(texts, self.judge.words(), self.judge.settings().block);
        let recalled = self.recall.recall(&self.judge, &query, &texts)?;
        Ok(Found { query, texts, recalled })
    }

    fn read(&self, question: &str, texts: &[&str]) -> candle_core::Result<Option<FoundSpan>> {
        let Found { query, texts, recalled } = self.recalled(question, texts)?;
        let blocks = filled(&recalled, query_room(&query), self.judge.settings().tokens);
        if blocks.is_empty() {
            return Ok(None);
        }
        let ids: Vec<Vec<u32>> = blocks.iter().map(|&i| texts.ids(i)).collect();
        let made = sequence(&query, ids.iter().map(Vec::as_slice), self.judge.special());
        let places = made.blocks.clone();
        let logits = self.judge.spans(&[made])?.pop().unwrap_or_default();
        let text_of = |i: usize| texts.place(i).map(|(text, _)| text);
        let follows = |at: usize| match (blocks.get(at), blocks.get(at + 1)) {
            (Some(&a), Some(&b)) => a + 1 == b && text_of(a) == text_of(b),
            _ => false,
        };
        let Some(Best { first, last, score }) = best_span(&logits, &places, &runs(blocks.len(), follows)) else {
            return Ok(None);
        };
        let bytes = |(block, token): (usize, usize)| {
            let block = *blocks.get(block)?;
            Some((text_of(block)?, *texts.tokens(block).get(token)?))
        };
        let (Some((text, from)), Some((_, to))) = (bytes(first), bytes(last)) else { return Ok(None) };
        Ok(Some(FoundSpan { text, span: from.hull(&to), score }))
    }
}

/// What a question found.
struct Found<'a> {
    query: Vec<u32>,
    texts: Texts<'a>,
    recalled: Recalled,
}

/// The key blocks and those with the next best scores, as many as fit, in the order of the text.
fn filled(recalled: &Recalled, room: usize, tokens: usize) -> Vec<usize> {
    let mut all = by_score(recalled);
    let mut length = room;
    let fitting = all.iter().take_while(|&&i| {
        length += recalled.tokens.get(i).copied().unwrap_or(0) + 1;
        length <= tokens
    });
    let count = fitting.count();
    all.truncate(count);
    all.sort_unstable();
    all
}

/// All blocks, the key blocks first, each kind by score.
fn by_score(recalled: &Recalled) -> Vec<usize> {
    let score = |i: usize| recalled.scores.get(i).copied().unwrap_or(0.0);
    let mut all: Vec<usize> = (0..recalled.scores.len()).collect();
    let is_other = |i: &usize| !recalled.kept.contains(i);
    all.sort_by(|a, b| is_other(a).cmp(&is_other(b)).then(score(*b).total_cmp(&score(*a))).then(a.cmp(b)));
    all
}

fn failed(error: candle_core::Error) -> SpanReaderError {
    SpanReaderError::Run(Box::new(error))
}

impl SpanReader for Reader {
    fn name(&self) -> &str {
        "cogltx"
    }

    fn fingerprint(&self) -> String {
        format!("{}:{}", self.judge.fingerprint(), self.recall.name())
    }

    fn answer(&self, question: &str, texts: &[&str]) -> Result<Option<FoundSpan>, SpanReaderError> {
        let found = self.read(question, texts).map_err(failed)?;
        // A token of nothing but marks that the model does not read has no bytes.
        Ok(found.and_then(|found| {
            let span = found.span.trimmed(texts.get(found.text)?);
            (!span.is_empty()).then_some(FoundSpan { span, ..found })
        }))
    }

    fn recall(&self, question: &str, texts: &[&str], most: usize) -> Result<Vec<FoundSpan>, SpanReaderError> {
        let Found { texts, recalled, .. } = self.recalled(question, texts).map_err(failed)?;
        let found = by_score(&recalled).into_iter().take(most).filter_map(|i| {
            let (text, span) = texts.place(i)?;
            Some(FoundSpan { text, span, score: recalled.scores.get(i).copied().unwrap_or(0.0) })
        });
        Ok(found.collect())
    }
}
