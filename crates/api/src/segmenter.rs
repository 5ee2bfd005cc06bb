use crate::{Boundaries, BoundaryError, Document, EncodeError, ModelUse, SegmentTrees, Span};

/// The reason for which a document could not be segmented.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SegmentError {
    /// The encoder that the segmenter asks failed.
    #[error(transparent)]
    Encoder(#[from] EncodeError),
    /// The segmenter's own answer is not a segmentation.
    #[error(transparent)]
    Boundaries(#[from] BoundaryError),
    /// The language model that the segmenter asks did not answer.
    #[error("the language model: {problem}")]
    Model {
        /// What went wrong, in one line.
        problem: String,
        /// True where every further question would fail the same way: a key that is refused, a budget that is spent.
        stops: bool,
    },
    /// The segmenter cannot do what is asked of it.
    #[error("{0}")]
    Unsupported(String),
}

impl SegmentError {
    /// Returns true where every other document would fail the same way, so that a run should stop.
    #[must_use]
    pub fn stops_run(&self) -> bool {
        matches!(self, Self::Model { stops: true, .. })
    }
}

/// The answer of a segmenter for one document: scores of gaps, decisions, or pieces.
#[derive(Debug, Clone, PartialEq)]
pub enum Segmentation {
    /// For n sentences n - 1 numbers in [0, 1]: how likely it is that a segment ends after sentence i. With no size
    /// limit, the boundaries are the gaps whose score lies above `threshold`.
    Scores {
        /// One score a gap, each in [0, 1].
        scores: Vec<f64>,
        /// The threshold that the segmenter proposes for this document, in [0, 1].
        threshold: f64,
    },
    /// Decisions at sentence ends.
    Boundaries(Boundaries),
    /// Pieces that need not end at sentence ends: in order, without overlap, covering every non-blank byte.
    Spans(Vec<Span>),
    /// Finished chunks, which somebody else made and which are kept byte for byte: they may overlap and leave text out.
    /// Each is a character range of the source with something in it that is not blank; they are ordered by their starts.
    Chunks(Vec<Span>),
}

/// Decides where one topic ends and the next begins.
///
/// Only [`segment`](Segmenter::segment) must be written; the other methods have defaults.
///
/// Implementations must be deterministic: the same document gives the same segmentation on every run and for every
/// number of threads.
pub trait Segmenter: Send + Sync {
    /// Segments a document. A document of fewer than two sentences has no gap and gets no boundary.
    ///
    /// # Errors
    /// [`SegmentError`] where an encoder fails or the document asks for something that the segmenter cannot do.
    fn segment(&self, document: &Document) -> Result<Segmentation, SegmentError>;

    /// Looks at all documents of a run before the first is segmented, where the caller has them: the place to say what none of
    /// them alone shows. By default nothing is looked at.
    ///
    /// # Errors
    /// [`SegmentError`] where these documents cannot be segmented as was asked.
    fn check_documents(&self, _documents: &[&Document]) -> Result<(), SegmentError> {
        Ok(())
    }

    /// Names the weights that the segmenter reads with, and the version of how it reads where that has changed; empty where its
    /// spec says all. It changes whenever the segmentations could though the spec is the same. An index or a resumed run keeps it beside the spec.
    fn fingerprint(&self) -> String {
        String::new()
    }

    /// The greatest number of documents, at least 1, that suit one call of [`segment_batch`](Segmenter::segment_batch).
    /// More documents are segmented in several calls, which may come from several threads.
    fn batch_size(&self) -> usize {
        1
    }

    /// Segments several documents. Returns an answer for each, in their order, the same as
    /// [`segment`](Segmenter::segment) gives for it alone. Segmenters override it whose model reads parts of several
    /// documents at once.
    fn segment_batch(&self, documents: &[&Document]) -> Vec<Result<Segmentation, SegmentError>> {
        documents.iter().map(|document| self.segment(document)).collect()
    }

    /// Returns the part of this segmenter that can be told the number of segments; `None` for segmenters without one.
    /// [`segment_into`] then takes the highest scores, if there are scores.
    fn known_count(&self) -> Option<&dyn KnownCount> {
        None
    }

    /// Returns the part of this segmenter that finds segments within segments; `None` for segmenters whose segments are flat.
    fn trees(&self) -> Option<&dyn SegmentTrees> {
        None
    }

    /// The number of tokens that went through this segmenter's own model since it was loaded; `None` for segmenters
    /// without a model, or whose model does not count. Segmenters that share a model share the count.
    ///
    /// It is a method of the segmenter because trained segmenters read with models of their own: a meter around the
    /// [`SentenceEncoder`](crate::SentenceEncoder) would not see their tokens.
    fn tokens_read(&self) -> Option<u64> {
        None
    }

    /// What this segmenter asked of a language model since it was made, and what came of it; `None` for segmenters that ask
    /// none.
    fn model_use(&self) -> Option<ModelUse> {
        None
    }
}

/// A segmenter with an answer of its own for a number of segments that is known beforehand.
///
/// Comparisons in the literature often tell every system the true number. A segmenter hands itself out as this through
/// [`Segmenter::known_count`].
pub trait KnownCount: Segmenter {
    /// Segments a document into `segments` segments: at least 1, and at most one a sentence.
    ///
    /// # Errors
    /// As [`Segmenter::segment`].
    fn segment_into(&self, document: &Document, segments: usize) -> Result<Boundaries, SegmentError>;
}

/// Segments a document into a number of segments that is known beforehand: by the segmenter's own [`KnownCount`], else
/// at the gaps with the highest scores.
///
/// ```
/// use pericope_api::{Document, SegmentError, Segmentation, Segmenter, segment_into};
///
/// /// Longer sentences end segments.
/// struct ByLength;
///
/// impl Segmenter for ByLength {
///     fn segment(&self, document: &Document) -> Result<Segmentation, SegmentError> {
///         let scores = (1..document.len()).map(|i| 1.0 - 1.0 / document.sentence(i - 1).len() as f64);
///         Ok(Segmentation::Scores { scores: scores.collect(), threshold: 0.5 })
///     }
/// }
///
/// let document = Document::from_sentences("d", &["One.", "A second sentence.", "Three.", "Four."]);
/// assert_eq!(segment_into(&ByLength, &document, 2)?.after(), [2]);
/// # Ok::<(), SegmentError>(())
/// ```
///
/// # Errors
/// [`SegmentError::Unsupported`] for segmenters with neither, else as [`Segmenter::segment`].
pub fn segment_into(
    segmenter: &dyn Segmenter,
    document: &Document,
    segments: usize,
) -> Result<Boundaries, SegmentError> {
    if let Some(known) = segmenter.known_count() {
        return known.segment_into(document, segments);
    }
    match segmenter.segment(document)? {
        Segmentation::Scores { scores, .. } if !document.is_empty() => {
            Ok(Boundaries::top(&scores, segments.saturating_sub(1)))
        }
        Segmentation::Scores { .. } => Ok(Boundaries::none(0)),
        _ => Err(SegmentError::Unsupported(
            "this segmenter gives no scores, so it cannot be told the number of segments".into(),
        )),
    }
}
