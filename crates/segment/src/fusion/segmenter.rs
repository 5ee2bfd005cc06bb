use std::sync::Arc;

use pericope_api::{Boundaries, Document, KnownCount, SegmentError, Segmentation, Segmenter, SentenceEncoder};

use super::evidence::{Evidence, Model};
use crate::Resources;
use crate::embedding::Vectors;
use crate::language::WORDS;
use crate::registry::args::SpecArgs;
use crate::registry::entry::{BuiltSegmenter, EMBEDDER, Needs, SegmenterEntry, SettingKey};
use crate::segment_costs::{SegmentCosts, scores};
use crate::spec::SpecError;

/// Sentences of the longest segment, where the number of segments is not known.
const LONGEST: usize = 400;

/// Nats that a segment costs at least, with the default settings.
const PRICE: f64 = 60.0;
/// The share of what the strongest boundaries gain that is added to it.
const SHARE: f64 = 0.2;
/// Nats that are one unit of a score's logit.
const TEMPERATURE: f64 = 24.0;
/// What the costs are made of.
const MODEL: Model = Model { weight: 90.0, concentration: 200.0, median: 5.0, length: 60.0 };
/// [`Model::weight`] for static vectors. Those of a topic and those of another lie half as far apart as MiniLM's, so that a distance is
/// worth twice as much (docs/embedders.md, "static").
const STATIC_WEIGHT: f64 = 180.0;

/// Splits among which the strongest boundaries are looked for.
const FIRST: usize = 8;
/// Sentences among which they are looked for, so that the time stays linear in the document's length.
const LOOK: usize = 1000;

pub(crate) const FUSION: SegmenterEntry = SegmenterEntry {
    name: "fusion",
    summary: "words and embeddings together, one model of a segment: reads words and meaning, without trained weights",
    keys: &[
        SettingKey {
            name: "price",
            default: "60",
            doc: "least price of a segment in nats: higher for fewer boundaries",
        },
        SettingKey {
            name: "share",
            default: "0.2",
            doc: "what a boundary must gain on top, as a share of what the document's strongest ones gain, 0 to 1",
        },
        SettingKey {
            name: "weight",
            default: "90",
            doc: "nats for a squared distance of 1 between embeddings, 180 where they are static vectors; 0: words alone",
        },
        SettingKey {
            name: "concentration",
            default: "200",
            doc: "how many words of the whole document each segment begins with",
        },
        SettingKey {
            name: "median",
            default: "5",
            doc: "usual length of a segment in a document of 100 sentences; it grows with the 0.4th power of theirs",
        },
        SettingKey { name: "length", default: "60", doc: "weight of that prior; 0: any length is as likely" },
        SettingKey { name: "temperature", default: "24", doc: "nats that are one unit of a score's logit" },
        SettingKey {
            name: "longest",
            default: "400",
            doc: "sentences of the longest segment, where the number is not given",
        },
        EMBEDDER,
    ],
    example: "fusion:price=20,share=0.1",
    needs: Needs::Encoder,
    needs_of: None,
    has_scores: true,
    build,
};

fn build(args: &SpecArgs<'_>, resources: &dyn Resources) -> Result<BuiltSegmenter, SpecError> {
    let encoder = resources.encoder().map_err(|reason| args.unavailable(reason))?;
    let mut fusion = Fusion::new(encoder);
    for (key, range, value) in [
        ("price", -1e4..=1e4, &mut fusion.price),
        ("share", 0.0..=1.0, &mut fusion.share),
        ("weight", 0.0..=1e4, &mut fusion.model.weight),
        ("concentration", 1e-3..=1e6, &mut fusion.model.concentration),
        ("length", 0.0..=1e3, &mut fusion.model.length),
        ("median", 1.0..=1e4, &mut fusion.model.median),
        ("temperature", 0.01..=1e4, &mut fusion.temperature),
    ] {
        *value = args.number(key, *value, range)?;
    }
    fusion.longest = args.count("longest", LONGEST, 1)?;
    Ok(BuiltSegmenter::new(fusion))
}

/// Lexical cohesion and embeddings in one probabilistic model of a segment (ours): its words come from a multinomial
/// of its own (Eisenstein and Barzilay 2008), its sentences' embeddings scatter around a mean of its own, and its length follows a log-normal
/// prior. The unknown multinomial and the unknown mean are summed out, so that a segment pays for having them. The cheapest segmentation is found exactly, by dynamic
/// programming; the number of segments may also be given.
///
/// How many segments there are is the harder half: sections of one text are the paragraphs of another, and nothing in the words says
/// which is meant. Three things decide: a prior on a segment's length, whose median grows with the document; the price of a segment, `price`
/// nats; and on top `share` of what the strongest boundaries of the same document gain: what is weak beside them is no boundary of their
/// kind. The constants were chosen on the collections of the crate's README, where tuning on two and reporting on a third is shown too. They err on the side
/// of few boundaries: a lower price, or a lower weight of the length, cuts finer.
///
/// A score is the probability of a boundary, the model's odds being tempered by `temperature` (sentences are not independent, so that
/// the model alone is far too sure), and moved to the side of 0.5 on which the cheapest segmentation has it.
///
/// A code block or table belongs to the sentence before it.
///
/// Time: embedding every sentence once; then O(sentences x longest segment x dimension) products, a few seconds for a
/// document of 10,000 sentences.
pub struct Fusion {
    /// Embeds the sentences.
    pub encoder: Arc<dyn SentenceEncoder>,
    /// Least price of a segment, in nats.
    pub price: f64,
    /// The share, 0 to 1, of what the document's strongest boundaries gain, which is added to that price.
    pub share: f64,
    /// Nats that are one unit of a score's logit.
    pub temperature: f64,
    /// Sentences of the longest segment, where the number of segments is not given.
    pub longest: usize,
    model: Model,
}

impl Fusion {
    /// Makes the segmenter with the default settings, which depend on whether the encoder's vectors are static.
    #[must_use]
    pub fn new(encoder: Arc<dyn SentenceEncoder>) -> Self {
        let model = if encoder.is_static() { Model { weight: STATIC_WEIGHT, ..MODEL } } else { MODEL };
        Self { encoder, price: PRICE, share: SHARE, temperature: TEMPERATURE, longest: LONGEST, model }
    }
}

/// The probability of a boundary at each gap between neighbours of `sentences`, some or all of those of a document that are language,
/// by [`Fusion`] with its default settings for vectors that are not static: `sentences.len() - 1` numbers in 0..=1. `vectors` are those of the sentences, row by row,
/// each of `dimension` numbers; nothing where there are not as many.
///
/// For segmenters that have embedded the sentences themselves.
#[must_use]
pub fn boundary_probabilities(
    document: &Document,
    sentences: Vec<usize>,
    vectors: Vec<f32>,
    dimension: usize,
) -> Option<Vec<f64>> {
    let vectors = Vectors::given(sentences, vectors, dimension)?;
    if vectors.len() < 2 {
        return Some(Vec::new());
    }
    let evidence = Evidence::new(document, vectors, &MODEL);
    let band = evidence.band(LONGEST);
    let price = PRICE + SHARE * strongest(&band, evidence.vectors().len());
    Some(band.marginals(price, TEMPERATURE))
}

/// What the strongest boundaries gain: the mean of the three greatest gains of one more segment, among the first few, at the
/// beginning of the document.
fn strongest(band: &SegmentCosts, n: usize) -> f64 {
    let n = n.min(LOOK);
    // As many segments as the longest allowed makes necessary, and some more.
    let costs = band.costs_by_count(n, n.div_ceil(band.longest()) + FIRST);
    let costs: Vec<f64> = costs.into_iter().filter(|cost| cost.is_finite()).collect();
    let mut gains: Vec<f64> = costs.windows(2).map(|pair| pair[0] - pair[1]).collect();
    gains.sort_by(|a, b| b.total_cmp(a));
    gains.truncate(3);
    let count = gains.len().max(1) as f64;
    (gains.into_iter().sum::<f64>() / count).max(0.0)
}

impl Fusion {
    /// Scores of the gaps between the sentences that count, of which there are at least two.
    fn scores(&self, evidence: &Evidence<'_>) -> Result<Vec<f64>, SegmentError> {
        let band = evidence.band(self.longest);
        let price = self.price + self.share * strongest(&band, evidence.vectors().len());
        let chosen = band.cheapest(price)?;
        Ok(scores(band.marginals(price, self.temperature), &chosen, 0.5))
    }
}

impl Segmenter for Fusion {
    fn fingerprint(&self) -> String {
        format!("{WORDS}:{}", self.encoder.fingerprint())
    }

    fn segment(&self, document: &Document) -> Result<Segmentation, SegmentError> {
        let evidence = Evidence::of(document, self.encoder.as_ref(), &self.model)?;
        let vectors = evidence.vectors();
        let found = if vectors.len() < 2 { Vec::new() } else { self.scores(&evidence)? };
        Ok(Segmentation::Scores { scores: vectors.spread(&found, document.len()), threshold: 0.5 })
    }

    fn known_count(&self) -> Option<&dyn KnownCount> {
        Some(self)
    }
}

impl KnownCount for Fusion {
    fn segment_into(&self, document: &Document, segments: usize) -> Result<Boundaries, SegmentError> {
        let n = document.len();
        let evidence = Evidence::of(document, self.encoder.as_ref(), &self.model)?;
        let vectors = evidence.vectors();
        if vectors.len() < 2 {
            return Ok(vectors.spread_boundaries(&Boundaries::none(vectors.len()), n, segments));
        }
        let wanted = self.longest.max(4 * vectors.len() / segments.max(1));
        if SegmentCosts::counts(vectors.len(), SegmentCosts::reach(vectors.len(), wanted), segments)
            && let Some(found) = evidence.band(wanted).counted(segments)?
        {
            return Ok(vectors.spread_boundaries(&found, n, segments));
        }
        Ok(Boundaries::top(&vectors.spread(&self.scores(&evidence)?, n), segments.saturating_sub(1)))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use super::{FUSION, Fusion};
    use crate::testing::Circle;

    #[test]
    fn the_defaults_that_are_shown_are_the_real_ones() {
        let real = Fusion::new(Arc::new(Circle));
        for (key, value) in [
            ("price", real.price),
            ("share", real.share),
            ("weight", real.model.weight),
            ("concentration", real.model.concentration),
            ("median", real.model.median),
            ("length", real.model.length),
            ("temperature", real.temperature),
            ("longest", real.longest as f64),
        ] {
            let shown = FUSION.keys.iter().find(|known| known.name == key).unwrap().default;
            assert_eq!(shown.parse::<f64>().unwrap(), value, "{key}");
        }
        // And `embedder`, which has none.
        assert_eq!(FUSION.keys.len(), 9);
    }
}
