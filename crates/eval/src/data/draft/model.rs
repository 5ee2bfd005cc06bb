//! Questions that a language model writes about passages.

use std::sync::atomic::{AtomicUsize, Ordering};

use pericope_api::{Document, Kind, Span};
use pericope_llm::{LlmAsker, LlmConfig, LlmError, Shared, Spent, WrittenQuestion, map_concurrent};
use pericope_segment::random::{SplitMix64, fnv1a};
use serde::Serialize;

use super::candidate::Candidate;
use super::corpus::{Corpus, count_words};
use super::deal::deal;
use super::leaks::Lines;
use super::options::Dropped;
use super::write::{drop_as, shuffled, without_copies, write};
use super::{DraftOptions, Drafted, QuestionKind};

/// Words of a passage.
const PASSAGE: std::ops::RangeInclusive<usize> = 40..=250;
/// Passages that are asked about at most, for each question that is wanted.
const TRIES: usize = 2;
/// Requests for a passage at most: where the quotation does not stand in it, it is asked about once more.
const ASKED: usize = 2;
/// Characters a token, for texts that nothing has counted.
const LETTERS: usize = 4;
/// Tokens of the instructions.
const AROUND: usize = 420;
/// Words with which a question points at the passage that its asker has not seen.
const POINTERS: [&str; 7] =
    ["the passage", "this passage", "the text", "this text", "this section", "this document", "the document"];

/// What drafting with a model comes to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DraftEstimate {
    /// Passages that are asked about at most: as many again as questions are wanted, for those that are dropped.
    pub passages: usize,
    /// Requests at most: each passage may be asked about twice.
    pub calls: usize,
    /// Tokens of these prompts, about; the second about a passage holds the answer to the first.
    pub prompt_tokens: usize,
    /// Tokens of the answers, at most.
    pub completion_tokens: usize,
    /// The price at most, in the currency of `price`; absent where the configuration has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<f64>,
}

/// What a model drafted.
#[derive(Debug, Clone, Default)]
pub struct ModelDraft {
    /// The questions.
    pub drafted: Drafted,
    /// Passages that were asked about.
    pub passages: usize,
    /// Why passages gave no question, each in a line.
    pub failed: Vec<String>,
    /// The tokens and the money that it took.
    pub spent: Spent,
}

/// What [`ask_model`] will come to, without asking.
#[must_use]
pub fn estimate(documents: &[Document], options: &DraftOptions, config: &LlmConfig) -> DraftEstimate {
    let passages = passages(documents, options);
    let letters = passages.iter().map(|passage| passage.span.len()).sum::<usize>();
    let (most, answer) = (passages.len(), config.max_tokens as usize);
    let calls = ASKED * most;
    let prompt_tokens = ASKED * (most * AROUND + letters / LETTERS) + (calls - most) * answer;
    let completion_tokens = calls * answer;
    let price = config.price.map(|price| price.of(prompt_tokens as u64, completion_tokens as u64));
    DraftEstimate { passages: most, calls, prompt_tokens, completion_tokens, price }
}

/// Has a model write questions about passages, and quote the answers. Documents take turns. A quotation that is not in the
/// passage, a question that a heading answers, that points at "the text", or that was asked before is no question; other
/// passages are asked about in its place, up to twice as many as questions are wanted. `done` is called after each.
///
/// # Errors
/// [`LlmError`] that concerns every passage: a key, a model or a budget. What was answered is in the cache.
pub fn ask_model(
    documents: &[Document],
    options: &DraftOptions,
    config: &LlmConfig,
    shared: &Shared,
    done: &(dyn Fn() + Sync),
) -> Result<ModelDraft, LlmError> {
    let asker = LlmAsker::from_config(config, shared)?;
    let corpus = Corpus::new(documents);
    let order = shuffled(documents, options.seed);
    let only_model = DraftOptions { kinds: vec![QuestionKind::Model], ..options.clone() };
    let passages = passages(documents, options);
    let mut left = passages.get(..passages.len().min(options.questions * TRIES)).unwrap_or_default();
    let mut out = ModelDraft::default();
    let mut candidates = Vec::new();
    let mut taken = Vec::new();
    while taken.len() < options.questions && !left.is_empty() {
        let (now, later) = left.split_at(left.len().min(options.questions - taken.len()));
        left = later;
        let asked = AtomicUsize::new(0);
        let found = map_concurrent(config.concurrency, now, |_, passage| {
            let written = asker.ask(passage.text(documents));
            asked.fetch_add(1, Ordering::Relaxed);
            done();
            written
        });
        if let Some(stopped) = found.stopped {
            return Err(stopped);
        }
        out.passages += asked.into_inner();
        for (passage, result) in now.iter().zip(found.results.into_iter().flatten()) {
            let id = documents.get(passage.document).map_or("", |document| document.id.as_str());
            match result {
                Ok(written) => {
                    out.spent += written.spent;
                    candidates.extend(candidate(&corpus, passage, &written, &mut out.drafted));
                }
                Err(problem) => {
                    out.failed.push(format!("{id}, bytes {} to {}: {problem}", passage.span.start, passage.span.end))
                }
            }
        }
        let mut attempt = Drafted::default();
        let alone = without_copies(documents, candidates.clone(), &mut attempt);
        taken = deal(&corpus, alone, &order, &only_model, &mut attempt);
        if left.is_empty() || taken.len() >= options.questions {
            attempt.dropped.into_iter().for_each(|(why, n)| *out.drafted.dropped.entry(why).or_default() += n);
        }
    }
    write(documents, taken, &mut out.drafted);
    Ok(out)
}

/// A part of a document between two headings.
struct Passage {
    document: usize,
    span: Span,
}

impl Passage {
    fn text<'a>(&self, documents: &'a [Document]) -> &'a str {
        documents.get(self.document).map_or("", |document| document.text(self.span))
    }
}

/// Passages in the order in which they are asked about: one of each document, then another one of each.
fn passages(documents: &[Document], options: &DraftOptions) -> Vec<Passage> {
    let mut rounds: Vec<Vec<Passage>> = Vec::new();
    let most = options.questions * TRIES;
    for document in shuffled(documents, options.seed).into_iter().take(most) {
        let Some(read) = documents.get(document) else { continue };
        let mut spans = spans(read);
        SplitMix64::new(fnv1a(options.seed, read.id.bytes())).shuffle(&mut spans);
        for (round, span) in spans.into_iter().take(most).enumerate() {
            match rounds.get_mut(round) {
                Some(passages) => passages.push(Passage { document, span }),
                None => rounds.push(vec![Passage { document, span }]),
            }
        }
    }
    rounds.into_iter().flatten().take(most).collect()
}

/// Runs of sentences of one section that have the length of a passage.
fn spans(document: &Document) -> Vec<Span> {
    let mut found = Vec::new();
    let mut run: Option<(Span, u32, usize)> = None;
    for sentence in &document.sentences {
        let words = count_words(document, sentence.span);
        let is_text = !matches!(sentence.kind, Kind::Heading(_) | Kind::Markup);
        run = match run {
            Some((span, section, before))
                if is_text && section == sentence.section && before + words <= *PASSAGE.end() =>
            {
                Some((span.hull(&sentence.span), section, before + words))
            }
            ended => {
                found.extend(ended);
                is_text.then_some((sentence.span, sentence.section, words))
            }
        };
    }
    found.extend(run);
    found.into_iter().filter(|(_, _, words)| PASSAGE.contains(words)).map(|(span, _, _)| span).collect()
}

/// The candidate of an answer, where it is a question.
fn candidate(
    corpus: &Corpus<'_>,
    passage: &Passage,
    written: &WrittenQuestion,
    out: &mut Drafted,
) -> Option<Candidate> {
    let document = corpus.documents.get(passage.document)?;
    let answer = Span::new(passage.span.start + written.quote.start, passage.span.start + written.quote.end);
    let answer = answer.trimmed(&document.source);
    let low = written.question.to_lowercase();
    let candidate = Candidate {
        document: passage.document,
        kind: QuestionKind::Model,
        query: written.question.clone(),
        answer,
        masks: Vec::new(),
    };
    if candidate.query.is_empty() || answer.is_empty() {
        return None;
    }
    let points = POINTERS.iter().any(|words| low.contains(words));
    if points || Lines::new(corpus, document).heading_says(corpus, &candidate) {
        drop_as(out, if points { Dropped::Ambiguous } else { Dropped::Leaks });
        return None;
    }
    Some(candidate)
}
