//! The laws of chunks for every segmenter, every input and every limit, as a check that any test can run.

use pericope_api::{Chunk, Document, SegmentError, Span, TokenCounter};

use crate::chunker::Chunker;
use crate::policy::Overlap;
use crate::resources::Limits;

/// A law that a chunk breaks.
#[derive(Debug, thiserror::Error)]
#[error("chunk {ordinal}: {what}")]
pub struct LawViolation {
    /// The place of the chunk in the list, from 0.
    pub ordinal: usize,
    /// The fault.
    pub what: String,
}

/// Checks chunks of a document:
///
/// 1. spans lie on character boundaries, are in order, have no blank ends, and id, ordinal, hash and heading path are
///    those of the text under the span;
/// 2. without overlap, the chunks cover every non-blank byte exactly once; with overlap, at least once;
/// 3. every chunk's token count is the counter's, and at most `max_tokens`.
///
/// (4, the same output on every run and for every number of threads, is [`check_chunker`].)
///
/// # Errors
/// The first law that is broken.
pub fn check(
    document: &Document,
    chunks: &[Chunk],
    counter: &dyn TokenCounter,
    limits: &Limits,
) -> Result<(), LawViolation> {
    check_overlapped(document, chunks, counter, limits, false)
}

/// [`check`], where `next` says that chunks repeat the first sentence of the one after: then a last chunk of one sentence
/// ends where the one before does, and a chunk's heading path is that of its first sentence.
fn check_overlapped(
    document: &Document,
    chunks: &[Chunk],
    counter: &dyn TokenCounter,
    limits: &Limits,
    next: bool,
) -> Result<(), LawViolation> {
    let overlap = limits.overlap.is_some_and(|n| n > 0);
    let mut before = Span::new(0, 0);
    for (ordinal, chunk) in chunks.iter().enumerate() {
        let broken = |what: String| Err(LawViolation { ordinal, what });
        let Some(text) = document.source.get(chunk.span.start..chunk.span.end) else {
            return broken(format!("{:?} is no character range of the source", chunk.span));
        };
        if text.is_empty() || text.trim() != text {
            return broken(format!("{text:?} is empty or has blank ends"));
        }
        if chunk.ordinal != ordinal || chunk.document != document.id {
            return broken(format!("it says it is chunk {} of {:?}", chunk.ordinal, chunk.document));
        }
        if chunk.hash != Chunk::content_hash(text) {
            return broken("its hash is not its text's".into());
        }
        let Some(between) = document.source.get(before.end..chunk.span.start.max(before.end)) else {
            return broken("it does not follow the chunk before".into());
        };
        if !between.trim().is_empty() {
            return broken(format!("no chunk covers {between:?} before it"));
        }
        let first_new = if overlap { chunk.span.start.max(before.end) } else { chunk.span.start };
        let ends_later = if next { chunk.span.end >= before.end } else { chunk.span.end > before.end };
        let starts_later =
            if next && ordinal > 0 { chunk.span.start > before.start } else { chunk.span.start >= before.start };
        if first_new < before.end || !starts_later || !ends_later {
            return broken(format!("{:?} does not go on from {before:?}", chunk.span));
        }
        let own = if next { chunk.span } else { Span::new(first_new, chunk.span.end).trimmed(&document.source) };
        if chunk.heading_path != document.heading_path(document.sentence_at(own.start)) {
            return broken(format!("its heading path {:?} is not its first new sentence's", chunk.heading_path));
        }
        let tokens = counter.count(text) + counter.special_tokens();
        if tokens != chunk.tokens {
            return broken(format!("it says {} tokens, {} counts {tokens}", chunk.tokens, counter.name()));
        }
        if let Some(max) = limits.max_tokens.filter(|&max| max > 0 && tokens > max) {
            return broken(format!("{tokens} tokens are more than {max}"));
        }
        before = chunk.span;
    }
    match document.source.get(before.end..) {
        Some(rest) if rest.trim().is_empty() => Ok(()),
        _ => Err(LawViolation { ordinal: chunks.len(), what: format!("the text after byte {} is lost", before.end) }),
    }
}

/// The reason for which a chunker does not pass.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LawFailure {
    /// The chunker failed.
    #[error(transparent)]
    Segment(#[from] SegmentError),
    /// The chunks break a law.
    #[error(transparent)]
    Law(#[from] LawViolation),
    /// Law 4: two runs, or two numbers of threads, gave different chunks.
    #[error("chunks differ from run to run")]
    Unsteady,
    /// No pool of threads could be made for the check of law 4.
    #[error("no threads: {0}")]
    Threads(String),
}

/// Runs a chunker on a document, alone and in pools of one and three threads, and checks all four laws.
///
/// # Errors
/// [`LawFailure`] with the first law that is broken.
pub fn check_chunker(chunker: &Chunker, document: &Document) -> Result<Vec<Chunk>, LawFailure> {
    let chunks = chunker.chunks(document)?;
    let next = matches!(chunker.policy().overlap, Overlap::Next { .. });
    check_overlapped(document, &chunks, chunker.counter().as_ref(), &chunker.limits(), next)?;
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| LawFailure::Threads(error.to_string()))?;
        if pool.install(|| chunker.chunks(document))? != chunks {
            return Err(LawFailure::Unsteady);
        }
    }
    Ok(chunks)
}
