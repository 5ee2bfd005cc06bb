use std::sync::Arc;

use pericope_api::{Document, Embeddings, SegmentError, Segmentation, Segmenter, SentenceEncoder, Span, TokenCounter};
use pericope_util::dot;

use super::reading::BATCH;
use crate::Resources;
use crate::registry::args::SpecArgs;
use crate::registry::entry::{BuiltSegmenter, EMBEDDER, Needs, SegmenterEntry, SettingKey};
use crate::spec::SpecError;
use crate::structure::Recursive;

/// Tokens of a piece where nothing else is said.
const PIECE: usize = 50;

pub(crate) const CLUSTER: SegmenterEntry = SegmenterEntry {
    name: "cluster",
    summary: "Chroma's cluster-semantic: pieces of some 50 tokens, put together so that they are alike",
    keys: &[
        SettingKey {
            name: "piece",
            default: "50",
            doc: "most tokens of a piece, special tokens not counted; half of a chunk at most",
        },
        SettingKey {
            name: "size",
            default: "",
            doc: "most tokens of a chunk; max_tokens where that is given, else 400",
        },
        EMBEDDER,
    ],
    example: "cluster:max_tokens=200",
    needs: Needs::Encoder,
    needs_of: None,
    has_scores: false,
    build,
};

fn build(args: &SpecArgs<'_>, resources: &dyn Resources) -> Result<BuiltSegmenter, SpecError> {
    let encoder = resources.encoder().map_err(|reason| args.unavailable(reason))?;
    let counter = resources.counter().map_err(|reason| args.unavailable(reason))?;
    let size = match args.maybe_count("size", 1)? {
        Some(size) => size,
        None => match args.max_tokens() {
            Some(max) => max.saturating_sub(counter.special_tokens()).max(1),
            None => args.count("size", 400, 1)?,
        },
    };
    let piece = match args.maybe_count("piece", 1)? {
        Some(piece) => piece,
        None => args.count("piece", PIECE.min(size / 2).max(1), 1)?,
    };
    if size < 2 * piece && size > 1 {
        let expected = format!("at most half of the {size} tokens of a chunk: nothing could be put together");
        return Err(args.bad("piece", piece.to_string(), &expected));
    }
    Ok(BuiltSegmenter::new(Cluster { encoder, counter, piece, size }))
}

/// Chroma's `ClusterSemanticChunker` (Smith and Troynikov 2024, "Evaluating Chunking Strategies for Retrieval"): the text
/// is cut into pieces of at most `piece` tokens; a chunk is a run of at most `size / piece` pieces; the chunks are chosen by
/// dynamic programming so that the cosines of all pairs of pieces within chunks, each less the mean cosine of all
/// pairs of the document, have the greatest sum.
///
/// [`clusters`] does that to vectors, and gives exactly what the original gives to the same ones. The pieces are cut by
/// [`Recursive`], at paragraphs, lines, sentences and words, with the tokens of the counter at hand (the original: cl100k, and
/// white space between pieces is lost; here it is not).
///
/// The time is linear in the text but for the mean, which is taken from the sum of all vectors.
pub struct Cluster {
    /// Embeds the pieces.
    pub encoder: Arc<dyn SentenceEncoder>,
    /// Counts the tokens of a piece.
    pub counter: Arc<dyn TokenCounter>,
    /// Most tokens of a piece, at least 1.
    pub piece: usize,
    /// Most tokens of a chunk, at least 1.
    pub size: usize,
}

impl Segmenter for Cluster {
    fn fingerprint(&self) -> String {
        self.encoder.fingerprint()
    }

    fn segment(&self, document: &Document) -> Result<Segmentation, SegmentError> {
        let Segmentation::Spans(pieces) = Recursive::tokens(self.piece, self.counter.clone()).segment(document)? else {
            return Err(SegmentError::Unsupported("the pieces are no spans".into()));
        };
        let mut vectors = Embeddings::default();
        for part in pieces.chunks(BATCH) {
            let texts: Vec<_> = part.iter().map(|&span| document.visible(span)).collect();
            let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
            vectors.append(&self.encoder.encode(&texts)?.finite(self.encoder.name())?);
        }
        let most = (self.size / self.piece.max(1)).max(1);
        let spans = clusters(&vectors, most).into_iter().filter_map(|range| {
            let (first, last) = (pieces.get(range.start)?, pieces.get(range.end.checked_sub(1)?)?);
            Some(Span::new(first.start, last.end))
        });
        Ok(Segmentation::Spans(spans.collect()))
    }
}

/// Runs of at most `most` vectors with the greatest sum of (cosine - mean cosine) over the pairs within runs.
///
/// As in the original, a run is taken only where it makes the sum greater than 0, and the shortest of equally good ones; at
/// the beginning of a text, as long as no sum is above 0, all that there is makes one run, however long.
///
/// Vectors have norm 1, so that their product is their cosine.
#[must_use]
pub fn clusters(vectors: &Embeddings, most: usize) -> Vec<std::ops::Range<usize>> {
    let n = vectors.len();
    let mean = mean_of_pairs(vectors);
    // best[i]: the greatest sum for the first i; from[i]: where its last run begins.
    let mut best = vec![0f64; n + 1];
    let mut from = vec![0usize; n + 1];
    // For each vector what it gains with those that follow it in the run: one more with every end.
    let mut within = vec![0f64; n];
    for end in 1..=n {
        let mut sum = 0.0;
        let last = vectors.row(end - 1);
        for first in (end.saturating_sub(most)..end).rev() {
            if first + 1 < end {
                within[first] += f64::from(dot(vectors.row(first), last)) - mean;
            }
            // The run grows to the left: the new one meets all that were in it.
            sum += within[first];
            // The original sums over the whole square of pairs.
            let total = best[first] + 2.0 * sum;
            if total > best[end] {
                best[end] = total;
                from[end] = first;
            }
        }
    }
    let mut found = Vec::new();
    let mut end = n;
    while end > 0 {
        found.push(from[end]..end);
        end = from[end];
    }
    found.reverse();
    found
}

/// Mean of the products of all pairs; 0 where there is no pair.
fn mean_of_pairs(vectors: &Embeddings) -> f64 {
    let n = vectors.len();
    if n < 2 {
        return 0.0;
    }
    let mut sum = vec![0f64; vectors.dimension()];
    let mut own = 0.0;
    for row in vectors.rows() {
        own += row.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>();
        sum.iter_mut().zip(row).for_each(|(s, &x)| *s += f64::from(x));
    }
    (sum.iter().map(|s| s * s).sum::<f64>() - own) / (n * (n - 1)) as f64
}

#[cfg(test)]
mod tests {
    use pericope_api::Embeddings;

    use super::clusters;

    fn on_circle(degrees: &[f32]) -> Embeddings {
        Embeddings::new(2, degrees.iter().map(|d| d.to_radians()).flat_map(|a| [a.cos(), a.sin()]).collect())
    }

    #[test]
    fn what_is_alike_stays_together_up_to_the_size() {
        let vectors = on_circle(&[0.0, 3.0, 5.0, 90.0, 95.0, 93.0, 180.0, 182.0]);
        assert_eq!(clusters(&vectors, 4), [0..3, 3..6, 6..8]);
        assert!(clusters(&vectors, 2).iter().all(|run| run.len() <= 2));
        assert!(clusters(&Embeddings::default(), 3).is_empty());
        assert_eq!(clusters(&on_circle(&[7.0]), 3), vec![0..1; 1]);
    }

    #[test]
    fn long_runs_are_no_trouble() {
        // Each pair is multiplied once: in the cube of their number these take minutes.
        let n = 3000;
        let vectors = on_circle(&(0..n).map(|i| if i < n / 3 { 0.0 } else { 90.0 }).collect::<Vec<f32>>());
        assert_eq!(clusters(&vectors, 3000), [0..1000, 1000..3000]);
    }
}
