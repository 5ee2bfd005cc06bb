use std::fmt;
use std::sync::Arc;

use pericope_api::{Boundaries, Chunk, Cuts, Document, SegmentError, Segmenter, Span, TokenCounter};

use crate::policy::{Overlap, SizePolicy};
use crate::resources::Limits;
use crate::ruler::Ruler;
use crate::spec::Spec;

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
    /// Puts the three together. Chunkers that are built from specs know theirs; this one's spec says `custom`.
    #[must_use]
    pub fn new(segmenter: Box<dyn Segmenter>, policy: SizePolicy, counter: Arc<dyn TokenCounter>) -> Self {
        let spec = Spec { name: "custom".into(), args: std::collections::BTreeMap::new() };
        Self { segmenter, policy, counter, spec }
    }

    /// With the spec that gives the same chunker.
    #[must_use]
    pub fn with_spec(mut self, spec: Spec) -> Self {
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

    /// The size policy.
    #[must_use]
    pub fn policy(&self) -> &SizePolicy {
        &self.policy
    }

    /// What tokens are counted with.
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
        let ruler = Ruler::new(&document.source, self.counter.as_ref());
        let own = self.own_spans(document, &ruler)?;
        let spans = self.policy.overlapped(document, &own, &ruler);
        let chunk = |(ordinal, (span, own)): (usize, (Span, &Span))| Chunk {
            document: document.id.clone(),
            ordinal,
            span,
            heading_path: document.heading_path(document.sentence_at(own.start)).to_vec(),
            tokens: ruler.exact(span) + ruler.special(),
            hash: Chunk::content_hash(document.text(span)),
        };
        Ok(spans.into_iter().zip(&own).enumerate().map(chunk).collect())
    }

    /// The document's segmentation: where chunks end, without overlap. A chunk that ends inside a sentence counts as
    /// ending at the nearer end of that sentence.
    ///
    /// # Errors
    /// As [`Chunker::chunks`].
    pub fn boundaries(&self, document: &Document) -> Result<Boundaries, SegmentError> {
        let own = self.own_spans(document, &Ruler::new(&document.source, self.counter.as_ref()))?;
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
    /// As [`Segmenter::cut_known`].
    pub fn boundaries_known(&self, document: &Document, segments: usize) -> Result<Boundaries, SegmentError> {
        self.segmenter.cut_known(document, segments)
    }

    fn own_spans(&self, document: &Document, ruler: &Ruler<'_>) -> Result<Vec<Span>, SegmentError> {
        if document.is_empty() {
            return Ok(Vec::new());
        }
        let cuts: Cuts = self.segmenter.cut(document)?;
        self.policy.own_spans(document, &cuts, ruler)
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
