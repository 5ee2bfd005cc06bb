use crate::{Boundaries, BoundaryError, Document, EncodeError, Span};

/// Why a document could not be segmented.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SegmentError {
    /// The encoder that the segmenter asks failed.
    #[error(transparent)]
    Encoder(#[from] EncodeError),
    /// The segmenter's own answer is not a segmentation.
    #[error(transparent)]
    Boundaries(#[from] BoundaryError),
    /// The segmenter cannot do what is asked of it.
    #[error("{0}")]
    Unsupported(String),
}

/// Where a segmenter would cut a document.
#[derive(Debug, Clone, PartialEq)]
pub enum Cuts {
    /// For n sentences n - 1 numbers in [0, 1]: how likely it is that a segment ends after sentence i. With no size
    /// limit, the boundaries are the gaps whose score lies above `tau`.
    Scores {
        /// One score a gap.
        scores: Vec<f64>,
        /// The threshold that the segmenter proposes for this document.
        tau: f64,
    },
    /// Decisions at sentence ends.
    Boundaries(Boundaries),
    /// Pieces that need not end at sentence ends: in order, without overlap, covering every non-blank byte.
    Spans(Vec<Span>),
}

/// Decides where one topic ends and the next begins.
///
/// Implementations must be deterministic: the same document gives the same cuts on every run and for every thread count.
pub trait Segmenter: Send + Sync {
    /// Cuts a document. A document of fewer than two sentences has no gap and gets no boundary.
    ///
    /// # Errors
    /// [`SegmentError`] where an encoder fails or the document asks for something that the segmenter cannot do.
    fn cut(&self, document: &Document) -> Result<Cuts, SegmentError>;

    /// Changes whenever the cuts could, though the spec is the same: says which weights the segmenter reads with. Empty where
    /// its spec says all. What is kept of a segmentation (an index, a run that is gone on with) keeps this with it.
    fn fingerprint(&self) -> String {
        String::new()
    }

    /// How many documents suit one call of [`cut_all`](Segmenter::cut_all); more of them are cut in several calls, which may
    /// be made from several threads. At least 1.
    fn together(&self) -> usize {
        1
    }

    /// Cuts several documents: an answer for each, in their order, the same as [`cut`](Segmenter::cut) gives it alone. For
    /// segmenters whose model reads parts of several documents at once.
    fn cut_all(&self, documents: &[&Document]) -> Vec<Result<Cuts, SegmentError>> {
        documents.iter().map(|document| self.cut(document)).collect()
    }

    /// Tokens that went through this segmenter's own model since it was loaded; `None` where it has none, or does not
    /// count. Segmenters that share a model share the count.
    fn tokens_read(&self) -> Option<u64> {
        None
    }

    /// Cuts a document into `segments` segments, the number known beforehand (as the literature's comparisons do).
    ///
    /// The default takes the highest scores; segmenters without scores do not know how.
    ///
    /// # Errors
    /// [`SegmentError::Unsupported`] for segmenters without scores, else as [`Segmenter::cut`].
    fn cut_known(&self, document: &Document, segments: usize) -> Result<Boundaries, SegmentError> {
        match self.cut(document)? {
            Cuts::Scores { scores, .. } if !document.is_empty() => {
                Ok(Boundaries::top(&scores, segments.saturating_sub(1)))
            }
            Cuts::Scores { .. } => Ok(Boundaries::none(0)),
            _ => Err(SegmentError::Unsupported(
                "this segmenter gives no scores, so it cannot be told the number of segments".into(),
            )),
        }
    }
}
