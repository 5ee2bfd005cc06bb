use std::fmt;
use std::sync::Arc;

use pericope_api::{
    Boundaries, Chunk, Document, SegmentError, SegmentTrees, Segmentation, Segmenter, Span, TokenCounter, segment_into,
};
use rayon::prelude::*;

use crate::policy::{Overlap, SizePolicy};
use crate::resources::Limits;
use crate::spec::Spec;
use crate::token_meter::TokenMeter;

/// A segmenter, a size policy, and the counter that its limits are measured with: documents in, chunks out.
///
/// ```
/// use std::sync::Arc;
///
/// use pericope_api::Document;
/// use pericope_segment::counters::WordCounter;
/// use pericope_segment::policy::SizePolicy;
/// use pericope_segment::structure::Paragraphs;
/// use pericope_segment::Chunker;
///
/// let policy = SizePolicy { max_tokens: Some(6), ..SizePolicy::default() };
/// let chunker = Chunker::new(Box::new(Paragraphs), policy, Arc::new(WordCounter));
/// let document = Document::from_sentences("d", &["One two three.", "Four five six seven eight nine ten."]);
/// let chunks = chunker.chunks(&document)?;
/// let texts: Vec<&str> = chunks.iter().map(|c| document.text(c.span)).collect();
/// assert_eq!(texts, ["One two three.", "Four five six seven", "eight nine ten."]);
/// # Ok::<(), pericope_api::SegmentError>(())
/// ```
pub struct Chunker {
    segmenter: Box<dyn Segmenter>,
    policy: SizePolicy,
    counter: Arc<dyn TokenCounter>,
    spec: Spec,
}

impl fmt::Debug for Chunker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chunker").field("spec", &self.spec).field("counter", &self.counter.name()).finish()
    }
}

impl Chunker {
    /// Makes a chunker of the three, whose spec says `custom`. Chunkers that are built from specs know theirs.
    #[must_use]
    pub fn new(segmenter: Box<dyn Segmenter>, policy: SizePolicy, counter: Arc<dyn TokenCounter>) -> Self {
        let spec = Spec { name: "custom".into(), args: std::collections::BTreeMap::new() };
        Self { segmenter, policy, counter, spec }
    }

    /// Adds the spec that gives the same chunker.
    #[must_use]
    pub(crate) fn with_spec(mut self, spec: Spec) -> Self {
        self.spec = spec;
        self
    }

    /// The resolved spec: what `same-size` came down to, and the limits in force (`max_tokens=0`: none).
    #[must_use]
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The segmenter alone.
    #[must_use]
    pub fn segmenter(&self) -> &dyn Segmenter {
        self.segmenter.as_ref()
    }

    /// The segmenter, where it finds segments within segments.
    ///
    /// # Errors
    /// [`SegmentError::Unsupported`] where it finds none.
    pub fn trees(&self) -> Result<&dyn SegmentTrees, SegmentError> {
        let name = &self.spec().name;
        let none = || SegmentError::Unsupported(format!("`{name}` finds no segments within segments; hiercrf does"));
        self.segmenter.trees().ok_or_else(none)
    }

    /// The size policy.
    #[must_use]
    pub fn policy(&self) -> &SizePolicy {
        &self.policy
    }

    /// Names the weights and the version of reading of the [segmenter](Segmenter::fingerprint); empty where the
    /// [spec](Chunker::spec) says all. Chunks of a document are the same for the same spec, fingerprint and name of the counter.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        self.segmenter.fingerprint()
    }

    /// Looks at all documents of a run before the first is cut.
    ///
    /// # Errors
    /// As [`Segmenter::check_documents`].
    pub fn check_documents(&self, documents: &[&Document]) -> Result<(), SegmentError> {
        self.segmenter.check_documents(documents)
    }

    /// The counter of the limits in tokens.
    #[must_use]
    pub fn counter(&self) -> &Arc<dyn TokenCounter> {
        &self.counter
    }

    /// The limits in force; `None`: none.
    #[must_use]
    pub fn limits(&self) -> Limits {
        let overlap = match self.policy.overlap {
            Overlap::Sentences(n) => n,
            Overlap::Tokens { tokens, .. } => tokens,
            Overlap::Next { .. } => 1,
        };
        Limits {
            max_tokens: self.policy.max_tokens,
            min_tokens: self.policy.min_tokens,
            target_tokens: self.policy.target_tokens,
            overlap: Some(overlap).filter(|&n| n > 0),
        }
    }

    /// The chunks of a document, in order. A chunk's heading path is that of the first sentence it does not repeat from
    /// the chunk before (a sentence that the chunk before took from it is still its own).
    ///
    /// # Errors
    /// As the segmenter and [`SizePolicy::spans`].
    pub fn chunks(&self, document: &Document) -> Result<Vec<Chunk>, SegmentError> {
        self.chunks_of(document, self.segment(document)?)
    }

    /// The chunks of several documents, an answer for each in their order: the same as [`Chunker::chunks`], and quicker where
    /// the segmenter reads documents in [batches](Segmenter::batch_size). `done` is called once for each document, from any thread.
    pub fn chunks_all(
        &self,
        documents: &[&Document],
        done: &(dyn Fn() + Sync),
    ) -> Vec<Result<Vec<Chunk>, SegmentError>> {
        self.all(documents, done, |document, segmentation| self.chunks_of(document, segmentation))
    }

    /// The boundaries of several documents: as [`Chunker::chunks_all`], [`Chunker::boundaries`] for each.
    pub fn boundaries_all(
        &self,
        documents: &[&Document],
        done: &(dyn Fn() + Sync),
    ) -> Vec<Result<Boundaries, SegmentError>> {
        self.all(documents, done, |document, segmentation| self.boundaries_of(document, segmentation))
    }

    fn all<T: Send>(
        &self,
        documents: &[&Document],
        done: &(dyn Fn() + Sync),
        make: impl Fn(&Document, Option<Segmentation>) -> Result<T, SegmentError> + Sync,
    ) -> Vec<Result<T, SegmentError>> {
        let group = |group: &[&Document]| -> Vec<Result<T, SegmentError>> {
            let full: Vec<&Document> = group.iter().copied().filter(|document| !document.is_empty()).collect();
            let mut answers = self.segmenter.segment_batch(&full).into_iter();
            let missing = || Err(SegmentError::Unsupported("the segmenter gave no answer for a document".into()));
            let cut = group.iter().map(|document| {
                if document.is_empty() { Ok(None) } else { answers.next().unwrap_or_else(missing).map(Some) }
            });
            let cut: Vec<Result<Option<Segmentation>, SegmentError>> = cut.collect();
            let one = |(document, segmentation): (&&Document, Result<Option<Segmentation>, SegmentError>)| {
                let made = segmentation.and_then(|segmentation| make(document, segmentation));
                done();
                made
            };
            group.par_iter().zip(cut).with_max_len(1).map(one).collect()
        };
        documents.par_chunks(self.segmenter.batch_size().max(1)).with_max_len(1).flat_map_iter(group).collect()
    }

    /// The chunks of a document that its segmenter has answered for already: as [`Chunker::chunks`], without asking it again.
    ///
    /// # Errors
    /// As [`SizePolicy::spans`].
    pub fn chunks_from(&self, document: &Document, segmentation: Segmentation) -> Result<Vec<Chunk>, SegmentError> {
        self.chunks_of(document, Some(segmentation))
    }

    fn chunks_of(&self, document: &Document, segmentation: Option<Segmentation>) -> Result<Vec<Chunk>, SegmentError> {
        let meter = TokenMeter::new(&document.source, self.counter.as_ref());
        let own = self.own_spans(document, segmentation, &meter)?;
        let spans = self.policy.overlapped(document, &own, &meter);
        let chunk = |(ordinal, (span, own)): (usize, (Span, &Span))| Chunk {
            document: document.id.clone(),
            ordinal,
            span,
            heading_path: document.heading_path(document.sentence_at(own.start)).to_vec(),
            tokens: meter.exact(span) + meter.special(),
            hash: Chunk::content_hash(document.text(span)),
            context: None,
        };
        Ok(spans.into_iter().zip(&own).enumerate().map(chunk).collect())
    }

    /// The document's segmentation: where chunks end, without overlap. A chunk that ends inside a sentence counts as
    /// ending at the nearer end of that sentence.
    ///
    /// # Errors
    /// As [`Chunker::chunks`].
    pub fn boundaries(&self, document: &Document) -> Result<Boundaries, SegmentError> {
        self.boundaries_of(document, self.segment(document)?)
    }

    fn boundaries_of(
        &self,
        document: &Document,
        segmentation: Option<Segmentation>,
    ) -> Result<Boundaries, SegmentError> {
        let own = self.own_spans(document, segmentation, &TokenMeter::new(&document.source, self.counter.as_ref()))?;
        let n = document.len();
        let mut after = Vec::new();
        for span in own.iter().take(own.len().saturating_sub(1)) {
            let boundary = nearest_boundary(document, span.end);
            if boundary > after.last().copied().unwrap_or(0) && boundary < n {
                after.push(boundary);
            }
        }
        Ok(Boundaries::new(n, after)?)
    }

    /// The segmentation into a number of segments known beforehand; the size policy has no part in it.
    ///
    /// # Errors
    /// As [`segment_into`].
    pub fn boundaries_known(&self, document: &Document, segments: usize) -> Result<Boundaries, SegmentError> {
        segment_into(self.segmenter.as_ref(), document, segments)
    }

    /// The segmenter's answer; `None` for an empty document.
    fn segment(&self, document: &Document) -> Result<Option<Segmentation>, SegmentError> {
        if document.is_empty() { Ok(None) } else { self.segmenter.segment(document).map(Some) }
    }

    fn own_spans(
        &self,
        document: &Document,
        segmentation: Option<Segmentation>,
        meter: &TokenMeter<'_>,
    ) -> Result<Vec<Span>, SegmentError> {
        segmentation
            .map_or_else(|| Ok(Vec::new()), |segmentation| self.policy.own_spans(document, &segmentation, meter))
    }
}

/// The number of sentences up to the sentence end nearest to byte `end`; the earlier one of two equally near.
pub(crate) fn nearest_boundary(document: &Document, end: usize) -> usize {
    let next = document.sentences.partition_point(|s| s.span.end < end);
    let distance = |i: usize| document.sentences.get(i).map(|s| s.span.end.abs_diff(end));
    match (next.checked_sub(1).and_then(distance), distance(next)) {
        (Some(before), Some(after)) if before <= after => next,
        (_, Some(_)) => next + 1,
        (_, None) => next,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use pericope_api::{Boundaries, Document, SegmentError, Segmentation, Segmenter};

    use super::Chunker;
    use crate::counters::WordCounter;
    use crate::policy::SizePolicy;

    /// Cuts after the first sentence, three documents at a time; fails where that says so.
    struct Threes(Arc<AtomicUsize>);

    impl Segmenter for Threes {
        fn segment(&self, document: &Document) -> Result<Segmentation, SegmentError> {
            if document.sentence(0) == "fail" {
                return Err(SegmentError::Unsupported("told to".into()));
            }
            let n = document.len();
            Ok(Segmentation::Boundaries(Boundaries::new(n, (1..n).take(1).collect())?))
        }

        fn batch_size(&self) -> usize {
            3
        }

        fn fingerprint(&self) -> String {
            "threes".into()
        }

        fn segment_batch(&self, documents: &[&Document]) -> Vec<Result<Segmentation, SegmentError>> {
            assert!(documents.len() <= 3 && documents.iter().all(|document| !document.is_empty()));
            self.0.fetch_add(1, Ordering::Relaxed);
            documents.iter().map(|document| self.segment(document)).collect()
        }
    }

    #[test]
    fn batches_give_the_same_as_documents_alone() {
        let calls = Arc::new(AtomicUsize::new(0));
        let chunker = Chunker::new(Box::new(Threes(Arc::clone(&calls))), SizePolicy::default(), Arc::new(WordCounter));
        assert_eq!(chunker.fingerprint(), "threes");
        let texts: [&[&str]; 8] =
            [&["a", "b", "c"], &[], &["fail", "x"], &["d"], &["e", "f"], &[], &["g", "h"], &["i", "j"]];
        let documents: Vec<Document> = texts.iter().map(|texts| Document::from_sentences("d", texts)).collect();
        let all: Vec<&Document> = documents.iter().collect();
        let ticks = AtomicUsize::new(0);
        let tick = || {
            ticks.fetch_add(1, Ordering::Relaxed);
        };
        let (chunks, boundaries) = (chunker.chunks_all(&all, &tick), chunker.boundaries_all(&all, &tick));
        assert_eq!((ticks.into_inner(), calls.load(Ordering::Relaxed)), (16, 6));
        for ((document, chunks), boundaries) in documents.iter().zip(chunks).zip(boundaries) {
            let text = |e: SegmentError| e.to_string();
            assert_eq!(chunks.map_err(text), chunker.chunks(document).map_err(text));
            assert_eq!(boundaries.map_err(text), chunker.boundaries(document).map_err(text));
        }
        assert!(chunker.chunks_all(&[], &|| ()).is_empty());
    }
}
