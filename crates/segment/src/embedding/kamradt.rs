use std::sync::Arc;

use pericope_api::{Document, SegmentError, Segmentation, Segmenter, SentenceEncoder};
use pericope_util::cosine;

use super::reading::{BATCH, bytes_read, readable};
use crate::Resources;
use crate::depth::{gradient, mean_and_deviation, percentile};
use crate::registry::args::SpecArgs;
use crate::registry::entry::{BuiltSegmenter, EMBEDDER, Needs, SegmenterEntry, SettingKey};
use crate::spec::SpecError;

pub(crate) const KAMRADT: SegmenterEntry = SegmenterEntry {
    name: "kamradt",
    summary: "where neighbouring sentences' embeddings differ most, as in LangChain's SemanticChunker",
    keys: &[
        SettingKey {
            name: "percentile",
            default: "95",
            doc: "boundary where the distance is above this percentile, 0 to 100",
        },
        SettingKey {
            name: "stddev",
            default: "",
            doc: "instead: above the mean plus so many standard deviations (LangChain: 3)",
        },
        SettingKey {
            name: "iqr",
            default: "",
            doc: "instead: above the mean plus so many interquartile ranges (LangChain: 1.5)",
        },
        SettingKey {
            name: "gradient",
            default: "",
            doc: "instead: where the distances' gradient is above this percentile (LangChain: 95)",
        },
        SettingKey { name: "buffer", default: "1", doc: "sentences on each side that are embedded with each sentence" },
        EMBEDDER,
    ],
    example: "kamradt:percentile=95",
    needs: Needs::Encoder,
    needs_of: None,
    has_scores: true,
    build,
};

fn build(args: &SpecArgs<'_>, resources: &dyn Resources) -> Result<BuiltSegmenter, SpecError> {
    let rules = ["percentile", "stddev", "iqr", "gradient"];
    for (i, rule) in rules.iter().enumerate() {
        for other in &rules[i + 1..] {
            args.excludes(rule, other)?;
        }
    }
    let mut threshold = DistanceThreshold::default();
    if let Some(percent) = args.maybe_number("percentile", 0.0..=100.0)? {
        threshold = DistanceThreshold::Percentile(percent);
    }
    if let Some(times) = args.maybe_number("stddev", 0.0..=1000.0)? {
        threshold = DistanceThreshold::Deviations(times);
    }
    if let Some(times) = args.maybe_number("iqr", 0.0..=1000.0)? {
        threshold = DistanceThreshold::Quartiles(times);
    }
    if let Some(percent) = args.maybe_number("gradient", 0.0..=100.0)? {
        threshold = DistanceThreshold::Gradient(percent);
    }
    if let DistanceThreshold::Percentile(percent) = threshold {
        args.settle("percentile", percent);
    }
    let buffer = args.count("buffer", 1, 0)?;
    let encoder = resources.encoder().map_err(|reason| args.unavailable(reason))?;
    Ok(BuiltSegmenter::new(Kamradt { encoder, threshold, buffer }))
}

/// The rule by which a distance is large enough for a boundary.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DistanceThreshold {
    /// Above this percentile of the distances.
    Percentile(f64),
    /// Above their mean plus so many standard deviations.
    Deviations(f64),
    /// Above their mean plus so many interquartile ranges.
    Quartiles(f64),
    /// At a gradient of the distances above this percentile of the gradient.
    Gradient(f64),
}

impl Default for DistanceThreshold {
    fn default() -> Self {
        DistanceThreshold::Percentile(95.0)
    }
}

impl DistanceThreshold {
    /// The numbers that are compared, one a distance, and the bound that those of boundaries exceed. The bound is NaN,
    /// which nothing exceeds, where there are too few distances for it: none, or one under [`DistanceThreshold::Gradient`].
    #[must_use]
    pub fn apply(self, distances: &[f64]) -> (Vec<f64>, f64) {
        let own = distances.to_vec();
        if distances.is_empty() {
            return (own, f64::NAN);
        }
        let (mean, deviation) = mean_and_deviation(distances);
        match self {
            DistanceThreshold::Percentile(percent) => (own, percentile(distances, percent)),
            DistanceThreshold::Deviations(times) => (own, mean + times * deviation),
            DistanceThreshold::Quartiles(times) => {
                let range = percentile(distances, 75.0) - percentile(distances, 25.0);
                (own, mean + times * range)
            }
            DistanceThreshold::Gradient(percent) => {
                let slopes = gradient(distances);
                if slopes.is_empty() {
                    return (own, f64::NAN);
                }
                let bound = percentile(&slopes, percent);
                (slopes, bound)
            }
        }
    }
}

/// Kamradt's semantic chunking as LangChain's `SemanticChunker` does it: every sentence is embedded with its `buffer`
/// neighbours on each side, joined by spaces; the distance of two neighbours is 1 - cosine; a boundary lies where
/// the distance exceeds a [`DistanceThreshold`] taken over the document.
///
/// Scores are logistic in (distance - threshold) / standard deviation, so that exactly the boundaries lie above 0.5.
pub struct Kamradt {
    /// Embeds the sentences.
    pub encoder: Arc<dyn SentenceEncoder>,
    /// The rule by which a distance is large enough for a boundary.
    pub threshold: DistanceThreshold,
    /// Neighbours on each side; LangChain's `buffer_size`.
    pub buffer: usize,
}

impl Kamradt {
    fn distances(&self, document: &Document) -> Result<Vec<f64>, SegmentError> {
        let n = document.len();
        let read = bytes_read(self.encoder.as_ref());
        let mut distances = Vec::with_capacity(n.saturating_sub(1));
        let mut before: Vec<f32> = Vec::new();
        for start in (0..n).step_by(BATCH) {
            let here = start..(start + BATCH).min(n);
            let around = start.saturating_sub(self.buffer)..here.end.saturating_add(self.buffer).min(n);
            let texts: Vec<_> = around.clone().map(|j| readable(document, j, self.encoder.as_ref())).collect();
            let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
            // Bytes of the texts before each, and of all.
            let mut bytes = Vec::with_capacity(texts.len() + 1);
            bytes.push(0usize);
            bytes.extend(texts.iter().scan(0, |sum, text| {
                *sum += text.len() + 1;
                Some(*sum)
            }));
            let window = |i: usize| {
                let start = i.saturating_sub(self.buffer) - around.start;
                let end = i.saturating_add(self.buffer).saturating_add(1).min(n) - around.start;
                // Of a wide buffer no more than is read, lest every window hold all of the document.
                let until = bytes[start].saturating_add(read);
                start..end.min(bytes.partition_point(|&before| before < until).max(start + 1))
            };
            let windows: Vec<_> = here.map(window).collect();
            let found = self.encoder.encode_windows(&texts, &windows)?.finite(self.encoder.name())?;
            for row in found.rows() {
                if !before.is_empty() {
                    distances.push(1.0 - cosine(&before, row));
                }
                before.clear();
                before.extend_from_slice(row);
            }
        }
        Ok(distances)
    }
}

impl Segmenter for Kamradt {
    fn fingerprint(&self) -> String {
        self.encoder.fingerprint()
    }

    fn segment(&self, document: &Document) -> Result<Segmentation, SegmentError> {
        if document.len() < 2 {
            return Ok(Segmentation::Scores { scores: Vec::new(), threshold: 0.5 });
        }
        if document.len() == 2 && matches!(self.threshold, DistanceThreshold::Gradient(_)) {
            // One distance has no gradient; LangChain parts the two then.
            return Ok(Segmentation::Scores { scores: vec![1.0], threshold: 0.5 });
        }
        let (values, bound) = self.threshold.apply(&self.distances(document)?);
        let (_, deviation) = mean_and_deviation(&values);
        let score = |&value: &f64| {
            let logistic = 1.0 / (1.0 + (-(value - bound) / deviation.max(1e-12)).exp());
            if value > bound {
                logistic.max(0.5_f64.next_up())
            } else if bound.is_nan() {
                0.0
            } else {
                logistic.min(0.5)
            }
        };
        Ok(Segmentation::Scores { scores: values.iter().map(score).collect(), threshold: 0.5 })
    }
}
