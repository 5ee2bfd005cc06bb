use pericope_api::{Boundaries, Document, KnownCount, SegmentError, Segmentation, Segmenter};

use crate::Resources;
use crate::random::{SplitMix64, fnv1a};
use crate::registry::args::SpecArgs;
use crate::registry::entry::{BuiltSegmenter, Needs, SegmenterEntry, SettingKey};
use crate::spec::SpecError;

pub(crate) const RANDOM: SegmenterEntry = SegmenterEntry {
    name: "random",
    summary: "boundaries at random: the floor that every segmenter must lie above",
    keys: &[
        SettingKey { name: "seed", default: "7", doc: "another seed, other boundaries" },
        SettingKey { name: "mean", default: "10", doc: "mean sentences a segment, where the number is not given" },
        SettingKey {
            name: "segments",
            default: "false",
            doc: "true: only with the true number (segment-eval --known-count)",
        },
    ],
    example: "random:seed=3",
    needs: Needs::None,
    needs_of: None,
    has_scores: true,
    build,
};

fn build(args: &SpecArgs<'_>, _: &dyn Resources) -> Result<BuiltSegmenter, SpecError> {
    let seed = args.count("seed", 7, 0)? as u64;
    let known_only = args.choice("segments", &["false", "true"])? == 1;
    Ok(BuiltSegmenter::new(RandomBoundaries { seed, mean: args.count("mean", 10, 1)?, known_only }))
}

/// A random score a gap: every segmentation with the same number of segments is as likely as any other.
///
/// The numbers depend on the seed and on the document's text, so that a document gets the same boundaries in any company.
#[derive(Debug, Clone, Copy)]
pub struct RandomBoundaries {
    /// The seed; another one gives other boundaries.
    pub seed: u64,
    /// Mean sentences a segment where the number of segments is not given, at least 1.
    pub mean: usize,
    /// True for a segmenter that refuses to choose a number of segments itself.
    pub known_only: bool,
}

impl RandomBoundaries {
    fn scores(self, document: &Document) -> Vec<f64> {
        let mut random = SplitMix64::new(fnv1a(self.seed, document.source.bytes()));
        (1..document.len()).map(|_| (random.next() >> 11) as f64 / (1u64 << 53) as f64).collect()
    }
}

impl Segmenter for RandomBoundaries {
    fn segment(&self, document: &Document) -> Result<Segmentation, SegmentError> {
        if self.known_only {
            return Err(SegmentError::Unsupported(
                "random:segments=true needs the true number of segments (segment-eval --known-count)".into(),
            ));
        }
        Ok(Segmentation::Scores { scores: self.scores(document), threshold: 1.0 - 1.0 / self.mean.max(1) as f64 })
    }

    fn known_count(&self) -> Option<&dyn KnownCount> {
        Some(self)
    }
}

impl KnownCount for RandomBoundaries {
    fn segment_into(&self, document: &Document, segments: usize) -> Result<Boundaries, SegmentError> {
        if document.is_empty() {
            return Ok(Boundaries::none(0));
        }
        Ok(Boundaries::top(&self.scores(document), segments.saturating_sub(1)))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use pericope_api::{Boundaries, Document, KnownCount, Segmentation, Segmenter};

    use super::RandomBoundaries;

    #[test]
    fn as_many_as_asked_for_and_other_ones_for_other_seeds() {
        let sentences: Vec<String> = (0..2000).map(|i| format!("Sentence {i}.")).collect();
        let document = Document::from_sentences("d", &sentences);
        let random = |seed| RandomBoundaries { seed, mean: 10, known_only: false };
        assert_eq!(random(1).segment_into(&document, 21).unwrap().segments(), 21);
        assert_ne!(random(1).segment_into(&document, 21).unwrap(), random(2).segment_into(&document, 21).unwrap());
        let Segmentation::Scores { scores, threshold } = random(1).segment(&document).unwrap() else { unreachable!() };
        let segments = Boundaries::above(&scores, threshold).segments();
        assert!((150..250).contains(&segments), "{segments}");
        assert!(RandomBoundaries { known_only: true, ..random(1) }.segment(&document).is_err());
    }
}
