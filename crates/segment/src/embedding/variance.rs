use std::sync::Arc;

use pericope_api::{Boundaries, Document, KnownCount, SegmentError, Segmentation, Segmenter, SentenceEncoder};
use pericope_util::dot;

use super::vectors::Vectors;
use crate::Resources;
use crate::registry::args::SpecArgs;
use crate::registry::entry::{BuiltSegmenter, EMBEDDER, Needs, SegmenterEntry, SettingKey};
use crate::segment_costs::{SegmentCosts, scores};
use crate::spec::SpecError;

/// Sentences of the longest segment, where their number is not known.
const LONGEST: usize = 400;

pub(crate) const VARIANCE: SegmenterEntry = SegmenterEntry {
    name: "variance",
    summary: "segments whose sentences' embeddings lie closest together, by dynamic programming",
    keys: &[
        SettingKey { name: "penalty", default: "2", doc: "price of a segment, in mean squared errors of a sentence" },
        SettingKey {
            name: "longest",
            default: "400",
            doc: "sentences of the longest segment, where the number is not given",
        },
        EMBEDDER,
    ],
    example: "variance:penalty=3",
    needs: Needs::Encoder,
    needs_of: None,
    has_scores: true,
    build,
};

fn build(args: &SpecArgs<'_>, resources: &dyn Resources) -> Result<BuiltSegmenter, SpecError> {
    let encoder = resources.encoder().map_err(|reason| args.unavailable(reason))?;
    let mut variance = Variance::new(encoder);
    variance.penalty = args.number("penalty", variance.penalty, 0.0..=1000.0)?;
    variance.longest = args.count("longest", LONGEST, 1)?;
    Ok(BuiltSegmenter::new(variance))
}

/// The segmentation with the least squared distance of sentence embeddings from the mean of their segment: exact, by
/// dynamic programming.
///
/// With the number of segments given it is the exact minimum. Without, every segment has a price: `penalty` times the mean
/// squared error a sentence that the document's embeddings have under the finest segmentation worth the name (pairs
/// of neighbours), so that the price follows the style of the text.
///
/// A score is the probability of a boundary where a segmentation's probability falls exponentially with its cost, moved
/// to the side of 0.5 on which the cheapest segmentation has it.
pub struct Variance {
    /// Embeds the sentences.
    pub encoder: Arc<dyn SentenceEncoder>,
    /// Price of a segment, in mean squared errors of a sentence; 0 or more.
    pub penalty: f64,
    /// Sentences of the longest segment, where the number of segments is not given.
    pub longest: usize,
}

impl Variance {
    /// Makes the segmenter with the default settings.
    #[must_use]
    pub fn new(encoder: Arc<dyn SentenceEncoder>) -> Self {
        Self { encoder, penalty: 2.0, longest: LONGEST }
    }
}

/// The table of squared errors, for segments of up to `wanted` sentences.
fn band(vectors: &Vectors, wanted: usize) -> SegmentCosts {
    let n = vectors.len();
    let longest = SegmentCosts::reach(n, wanted);
    SegmentCosts::of(n, longest, vectors.scatters(&[], longest, |_, _| ()))
}

impl Variance {
    /// Scores of the gaps between the vectors, of which there are at least two.
    fn scores(&self, vectors: &Vectors) -> Result<Vec<f64>, SegmentError> {
        let band = band(vectors, self.longest);
        // A pair's error is half the squared distance of its two; a sentence alone has none.
        let pairs = vectors.len() - 1;
        let error = |i: usize| (1.0 - f64::from(dot(vectors.row(i), vectors.row(i + 1)))).max(0.0);
        let unit = (0..pairs).map(error).sum::<f64>() / pairs as f64;
        let price = self.penalty * unit.max(1e-6);
        let chosen = band.cheapest(price)?;
        Ok(scores(band.marginals(price, unit.max(1e-6) / 4.0), &chosen, 0.5))
    }
}

impl Segmenter for Variance {
    fn fingerprint(&self) -> String {
        self.encoder.fingerprint()
    }

    fn segment(&self, document: &Document) -> Result<Segmentation, SegmentError> {
        let vectors = Vectors::of(document, self.encoder.as_ref())?;
        let found = if vectors.len() < 2 { Vec::new() } else { self.scores(&vectors)? };
        Ok(Segmentation::Scores { scores: vectors.spread(&found, document.len()), threshold: 0.5 })
    }

    fn known_count(&self) -> Option<&dyn KnownCount> {
        Some(self)
    }
}

impl KnownCount for Variance {
    fn segment_into(&self, document: &Document, segments: usize) -> Result<Boundaries, SegmentError> {
        let n = document.len();
        let vectors = Vectors::of(document, self.encoder.as_ref())?;
        if vectors.len() < 2 {
            return Ok(vectors.spread_boundaries(&Boundaries::none(vectors.len()), n, segments));
        }
        let wanted = LONGEST.max(4 * vectors.len() / segments.max(1));
        if SegmentCosts::counts(vectors.len(), SegmentCosts::reach(vectors.len(), wanted), segments)
            && let Some(found) = band(&vectors, wanted).counted(segments)?
        {
            return Ok(vectors.spread_boundaries(&found, n, segments));
        }
        Ok(Boundaries::top(&vectors.spread(&self.scores(&vectors)?, n), segments.saturating_sub(1)))
    }
}
