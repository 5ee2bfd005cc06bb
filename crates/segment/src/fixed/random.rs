use pericope_api::{Boundaries, Cuts, Document, SegmentError, Segmenter};

use crate::Resources;
use crate::random::Random as Generator;
use crate::registry::{Args, Built, Entry, Key};
use crate::spec::SpecError;

pub(crate) const RANDOM: Entry = Entry {
    name: "random",
    summary: "boundaries at random: the floor that every segmenter must lie above",
    keys: &[
        Key { name: "seed", default: "7", doc: "another seed, other boundaries" },
        Key { name: "mean", default: "10", doc: "mean sentences a segment, where the number is not given" },
        Key { name: "segments", default: "false", doc: "true: only with the true number (segment-eval --known-count)" },
    ],
    example: "random:seed=3",
    needs_encoder: false,
    has_scores: true,
    build,
};

fn build(args: &Args<'_>, _: &dyn Resources) -> Result<Built, SpecError> {
    let seed = args.count("seed", 7, 0)? as u64;
    let known_only = args.choice("segments", &["false", "true"])? == 1;
    Ok(Built::new(Random { seed, mean: args.count("mean", 10, 1)?, known_only }))
}

/// A random score a gap: every segmentation with the same number of segments is as likely as any other.
///
/// The numbers depend on the seed and on the document's text, so that a document gets the same boundaries in any company.
#[derive(Debug, Clone, Copy)]
pub struct Random {
    /// Another seed, other boundaries.
    pub seed: u64,
    /// Mean sentences a segment where the number of segments is not given, at least 1.
    pub mean: usize,
    /// Whether it refuses to choose a number of segments itself.
    pub known_only: bool,
}

impl Random {
    fn scores(self, document: &Document) -> Vec<f64> {
        let mut random = Generator::new(content_seed(&document.source, self.seed));
        (1..document.len()).map(|_| (random.next() >> 11) as f64 / (1u64 << 53) as f64).collect()
    }
}

/// A number that another text or another seed changes (FNV-1a).
fn content_seed(text: &str, seed: u64) -> u64 {
    let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(seed ^ 0xcbf2_9ce4_8422_2325, hash)
}

impl Segmenter for Random {
    fn cut(&self, document: &Document) -> Result<Cuts, SegmentError> {
        if self.known_only {
            return Err(SegmentError::Unsupported(
                "random:segments=true needs the true number of segments (segment-eval --known-count)".into(),
            ));
        }
        Ok(Cuts::Scores { scores: self.scores(document), tau: 1.0 - 1.0 / self.mean.max(1) as f64 })
    }

    fn cut_known(&self, document: &Document, segments: usize) -> Result<Boundaries, SegmentError> {
        if document.is_empty() {
            return Ok(Boundaries::none(0));
        }
        Ok(Boundaries::top(&self.scores(document), segments.saturating_sub(1)))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use pericope_api::{Boundaries, Cuts, Document, Segmenter};

    use super::Random;

    #[test]
    fn as_many_as_asked_for_and_other_ones_for_other_seeds() {
        let sentences: Vec<String> = (0..2000).map(|i| format!("Sentence {i}.")).collect();
        let document = Document::from_sentences("d", &sentences);
        let random = |seed| Random { seed, mean: 10, known_only: false };
        assert_eq!(random(1).cut_known(&document, 21).unwrap().segments(), 21);
        assert_ne!(random(1).cut_known(&document, 21).unwrap(), random(2).cut_known(&document, 21).unwrap());
        let Cuts::Scores { scores, tau } = random(1).cut(&document).unwrap() else { unreachable!() };
        let segments = Boundaries::above(&scores, tau).segments();
        assert!((150..250).contains(&segments), "{segments}");
        assert!(Random { known_only: true, ..random(1) }.cut(&document).is_err());
    }
}
