use std::sync::Arc;

use pericope_api::{Document, SegmentError, Segmentation, Segmenter, SentenceEncoder};

use super::pooling::{Pool, similarities};
use crate::Resources;
use crate::depth::depths;
use crate::language;
use crate::registry::args::SpecArgs;
use crate::registry::entry::{BuiltSegmenter, EMBEDDER, Needs, SegmenterEntry, SettingKey};
use crate::spec::SpecError;

const K: usize = 4;
/// A boundary is the deepest valley among so many gaps on each side.
const APART: usize = 2;

pub(crate) const WINDOW: SegmenterEntry = SegmenterEntry {
    name: "window",
    summary: "where the embeddings of the sentences before and after a gap differ more than around it",
    keys: &[
        SettingKey { name: "k", default: "4", doc: "sentences on each side of a gap" },
        SettingKey {
            name: "pool",
            default: "mean",
            doc: "mean, min or max of the cosines of all pairs across the gap",
        },
        SettingKey {
            name: "score",
            default: "valley",
            doc: "valley: how deep a valley of the cosines is; cosine: 1 - cosine, cut where it is above tau, as published",
        },
        SettingKey {
            name: "depth",
            default: "",
            doc: "with score=valley: depth of a valley that scores 0.5, 0 to 4; 0.72/k for mean, 0.3 for min, 0.35 for max (MiniLM)",
        },
        EMBEDDER,
    ],
    example: "window:k=5,pool=min",
    needs: Needs::Encoder,
    needs_of: None,
    has_scores: true,
    build,
};

fn build(args: &SpecArgs<'_>, resources: &dyn Resources) -> Result<BuiltSegmenter, SpecError> {
    let k = args.count("k", K, 1)?;
    let pool = [Pool::Mean, Pool::Min, Pool::Max][args.choice("pool", &["mean", "min", "max"])?];
    let depth = args.maybe_number("depth", 0.0..=4.0)?;
    let score = match args.choice("score", &["valley", "cosine"])? {
        0 => ShiftScore::Valley { depth: depth.unwrap_or_else(|| usual_depth(k, pool)) },
        _ if depth.is_some() => return Err(args.unavailable("`depth` is for score=valley alone".into())),
        _ => ShiftScore::Cosine,
    };
    let encoder = resources.encoder().map_err(|reason| args.unavailable(reason))?;
    let window = EmbeddingWindow { encoder, k, pool, score };
    if let ShiftScore::Valley { depth } = score {
        args.settle("depth", depth);
    }
    if args.get("tau").is_none() {
        args.settle("tau", window.threshold());
    }
    Ok(BuiltSegmenter::new(window))
}

/// How pooled cosines become scores of topic shift.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ShiftScore {
    /// By the depth of the valley around each gap.
    Valley {
        /// Depth that scores 0.5; depths are sums of two differences of cosines, 0 to 4.
        depth: f64,
    },
    /// 1 - cosine, at least 0 and at most 1, and nothing else: the published rule (Abbasi 2024, section 6.3).
    Cosine,
}

/// The embedding-window baseline (Abbasi 2024, section 6.3): the cosines of
/// all pairs of the `k` sentences before a gap and the `k` after it, pooled, and turned into a score of topic shift.
///
/// As published, the score is the cosine reversed ([`ShiftScore::Cosine`]), and k, the pooling and the threshold `tau` are
/// chosen on validation documents (`pericope tune` does it). The thesis does not print what it chose. With all-MiniLM-L6-v2,
/// `eval/tune-window.toml` chooses k = 1 and 0.75 on 189 documents (F1 25.5; with k = 2 and 0.67 it is 25.2); 0.75 is the
/// threshold unless `tau` says otherwise.
///
/// That proposes several times too many boundaries, and another number of them for every
/// style of text. So the score of [`ShiftScore::Valley`], the default, is taken from the depth d of the valley in the row of pooled cosines (as TextTiling
/// measures it on words): d / (d + `depth`), with a greater `depth` near the
/// ends of the text, where fewer sentences are compared. Gaps that are not the deepest among their two neighbours on each side
/// score at most 0.5. The threshold is 0.5 unless `tau` says otherwise.
///
/// The default depths were chosen on 58 documents (30 of software documentation, 16 of Wikipedia, 6 of a medical
/// textbook, 6 of Choi's) with all-MiniLM-L6-v2, so that the number of boundaries is near that of sections: the mean over
/// `k = 4` proposed 0.6 times as many on documentation, 1.0 on Choi, 1.2 and 2.1 on the two Wikipedia sets, 3.1 on the textbook.
///
/// Headings, prose and list items are read; a code block or table belongs to the sentence before it.
pub struct EmbeddingWindow {
    /// Embeds the sentences.
    pub encoder: Arc<dyn SentenceEncoder>,
    /// Sentences on each side, at least 1.
    pub k: usize,
    /// The number that the cosines become.
    pub pool: Pool,
    /// The score that this number becomes.
    pub score: ShiftScore,
}

/// Means over more pairs vary less, so their valleys are flatter.
fn usual_depth(k: usize, pool: Pool) -> f64 {
    match pool {
        Pool::Mean => 0.72 / k.max(1) as f64,
        Pool::Min => 0.3,
        Pool::Max => 0.35,
    }
}

impl EmbeddingWindow {
    /// Makes the segmenter with the default settings.
    #[must_use]
    pub fn new(encoder: Arc<dyn SentenceEncoder>) -> Self {
        Self { encoder, k: K, pool: Pool::Mean, score: ShiftScore::Valley { depth: usual_depth(K, Pool::Mean) } }
    }

    fn shifts(&self, similarities: &[f64]) -> Vec<f64> {
        match self.score {
            ShiftScore::Valley { depth } => self.valleys(similarities, depth),
            ShiftScore::Cosine => similarities.iter().map(|cosine| (1.0 - cosine).clamp(0.0, 1.0)).collect(),
        }
    }

    fn valleys(&self, similarities: &[f64], half: f64) -> Vec<f64> {
        let depths = depths(similarities);
        let n = depths.len();
        let k = self.k.clamp(1, n + 1);
        let score = |(i, &depth): (usize, &f64)| {
            if depth <= 0.0 {
                return 0.0;
            }
            // Near the ends of the text fewer pairs are pooled, which makes valleys deeper by chance.
            let (left, right) = ((i + 1).min(k), (n - i).min(k));
            let fewer = k as f64 / ((left * right) as f64).sqrt();
            let shift = depth / (depth + half.max(0.0) * fewer);
            let around = &depths[i.saturating_sub(APART)..(i + APART + 1).min(n)];
            if around.iter().all(|&other| other <= depth) { shift } else { shift.min(0.5) }
        };
        depths.iter().enumerate().map(score).collect()
    }

    /// The threshold where `tau` gives none.
    fn threshold(&self) -> f64 {
        match self.score {
            ShiftScore::Valley { .. } => 0.5,
            ShiftScore::Cosine => 0.75,
        }
    }
}

impl Segmenter for EmbeddingWindow {
    fn fingerprint(&self) -> String {
        self.encoder.fingerprint()
    }

    fn segment(&self, document: &Document) -> Result<Segmentation, SegmentError> {
        let read = language::sentences(document);
        let mut shifts = Vec::new();
        if read.len() > 1 {
            shifts = self.shifts(&similarities(document, &read, self.encoder.as_ref(), self.k, self.pool)?);
        }
        let scores = language::spread(&shifts, &read, document.len());
        Ok(Segmentation::Scores { scores, threshold: self.threshold() })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use pericope_api::{Boundaries, Document, Segmentation, Segmenter};

    use super::{EmbeddingWindow, Pool, ShiftScore};
    use crate::counters::WordCounter;
    use crate::embedding::{Cluster, DistanceThreshold, Kamradt, Variance};
    use crate::fusion::Fusion;
    use crate::graph::similarity::{BertScore, Cosine, Similarity};
    use crate::testing::Circle;

    #[test]
    fn nothing_is_cut_by_vectors_that_are_no_numbers() {
        // An angle that is none has no place on the circle.
        let document = Document::from_sentences("d", &["0", "1", "NaN", "4"]);
        let (encoder, counter) = (Arc::new(Circle), Arc::new(WordCounter));
        let window = EmbeddingWindow { encoder: encoder.clone(), k: 1, pool: Pool::Mean, score: ShiftScore::Cosine };
        let segmenters: [Box<dyn Segmenter>; 5] = [
            Box::new(window),
            Box::new(Kamradt { encoder: encoder.clone(), threshold: DistanceThreshold::default(), buffer: 0 }),
            Box::new(Variance::new(encoder.clone())),
            Box::new(Fusion::new(encoder.clone())),
            Box::new(Cluster { encoder: encoder.clone(), counter, piece: 1, size: 4 }),
        ];
        let says = "the embedder circle gives vectors that are not finite";
        for (i, segmenter) in segmenters.iter().enumerate() {
            let text = segmenter.segment(&document).unwrap_err().to_string();
            assert!(text.contains(says), "{i}: {text}");
        }
        let cosine = Cosine { encoder: encoder.clone() }.prepare(&["NaN"]).err().unwrap();
        let tokens = BertScore::new(encoder).prepare(&["1 NaN"]).err().unwrap();
        assert!(cosine.to_string().contains(says) && tokens.to_string().contains(says), "{cosine} {tokens}");
    }

    #[test]
    fn the_published_score_is_the_pooled_cosine_reversed() {
        // Sentences at angles 0, 0, 1, 1, 4.
        let document = Document::from_sentences("d", &["0", "0", "1", "1", "4"]);
        let scores = |k, pool| {
            let window = EmbeddingWindow { encoder: Arc::new(Circle), k, pool, score: ShiftScore::Cosine };
            let Segmentation::Scores { scores, threshold } = window.segment(&document).unwrap() else { unreachable!() };
            assert_eq!(threshold, 0.75);
            scores
        };
        let close = |found: &[f64], expected: &[f64]| {
            assert_eq!(found.len(), expected.len());
            found.iter().zip(expected).for_each(|(a, b)| assert!((a - b).abs() < 1e-6, "{found:?}"));
        };
        let shift = |angle: f64| (1.0 - angle.cos()).clamp(0.0, 1.0);
        close(&scores(1, Pool::Mean), &[0.0, shift(1.0), 0.0, 1.0]);
        // The gap in the middle of four sentences: all pairs across it.
        close(&scores(2, Pool::Max)[1..2], &[shift(1.0)]);
        close(&scores(2, Pool::Min)[2..3], &[1.0]);
        close(&scores(2, Pool::Mean)[0..1], &[1.0 - (1.0 + 1_f64.cos()) / 2.0]);
        assert_eq!(Boundaries::above(&scores(1, Pool::Mean), 0.4).after(), [2, 4]);
    }
}
