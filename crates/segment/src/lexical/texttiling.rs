use pericope_api::{Document, SegmentError, Segmentation, Segmenter};
use pericope_language::{Language, WordReader};

use super::words::Stems;
use crate::Resources;
use crate::chunker::nearest_boundary;
use crate::depth;
use crate::language;
use crate::registry::args::SpecArgs;
use crate::registry::entry::{BuiltSegmenter, Needs, SegmenterEntry, SettingKey};
use crate::spec::SpecError;

pub(crate) const TEXTTILING: SegmenterEntry = SegmenterEntry {
    name: "texttiling",
    summary: "Hearst's TextTiling: where the vocabulary of neighbouring blocks changes",
    keys: &[
        SettingKey { name: "w", default: "20", doc: "words a token sequence" },
        SettingKey { name: "k", default: "10", doc: "token sequences a block" },
    ],
    example: "texttiling:w=20,k=10",
    needs: Needs::None,
    needs_of: None,
    has_scores: true,
    build,
};

fn build(args: &SpecArgs<'_>, _: &dyn Resources) -> Result<BuiltSegmenter, SpecError> {
    Ok(BuiltSegmenter::new(TextTiling { w: args.count("w", 20, 1)?, k: args.count("k", 10, 1)? }))
}

/// TextTiling by block comparison (Hearst 1997, "TextTiling: Segmenting Text into Multi-paragraph Subtopic Passages",
/// sections 5.1 to 5.3).
///
/// The words of the text, in runs of `w`, are token sequences; function words and numbers aside, their stems are counted. At each gap
/// between sequences the `k` before and the `k` after are compared by the cosine of their counts; the similarities are
/// smoothed (mean of three), and the depth of each valley is measured from the peaks on both sides. Gaps deeper than
/// the mean less half a standard deviation are boundaries, deepest first and at least four sequences apart, each moved
/// to the nearest sentence end. Code and markup are not read.
///
/// The score of a chosen gap grows from 0.5 at the cut-off to 1 at the depth of 2; all other gaps score at most 0.5, by the
/// depth of the gap nearest to them.
#[derive(Debug, Clone, Copy)]
pub struct TextTiling {
    /// Words a token sequence, at least 1.
    pub w: usize,
    /// Token sequences a block, at least 1.
    pub k: usize,
}

impl Default for TextTiling {
    fn default() -> Self {
        Self { w: 20, k: 10 }
    }
}

/// Least distance of two boundaries, in token sequences ("at least three intervening").
const APART: usize = 4;

impl Segmenter for TextTiling {
    fn fingerprint(&self) -> String {
        language::WORDS.to_owned()
    }

    fn segment(&self, document: &Document) -> Result<Segmentation, SegmentError> {
        let mut scores = vec![0.0; document.len().saturating_sub(1)];
        let sequences = Sequences::read(document, self.w.max(1), language::of(document));
        let similarities = depth::smoothed(&sequences.similarities(self.k.max(1)));
        let depths = depth::depths(&similarities);
        if depths.is_empty() || scores.is_empty() {
            return Ok(Segmentation::Scores { scores, threshold: 0.5 });
        }
        let (mean, deviation) = depth::mean_and_deviation(&depths);
        let cutoff = (mean - deviation / 2.0).max(0.0);
        let places: Vec<usize> = sequences.ends.iter().map(|&end| nearest_boundary(document, end)).collect();
        for (i, score) in scores.iter_mut().enumerate() {
            // Gap i lies after sentence i + 1; the sequence gap nearest to it lends it its depth.
            let after = places.partition_point(|&place| place < i + 1).min(depths.len() - 1);
            let before = after.saturating_sub(1);
            let near = if places[after].abs_diff(i + 1) < places[before].abs_diff(i + 1) { after } else { before };
            *score = score_of(depths[near], cutoff).min(0.5);
        }
        for gap in chosen(&depths, cutoff) {
            if let Some(score) = places[gap].checked_sub(1).and_then(|i| scores.get_mut(i)) {
                *score = score.max(score_of(depths[gap], cutoff)).max(0.5_f64.next_up());
            }
        }
        Ok(Segmentation::Scores { scores, threshold: 0.5 })
    }
}

/// 0.5 at the cut-off, linear from 0 at depth 0, and from there to 1 at depth 2 (the greatest of cosines of counts).
fn score_of(depth: f64, cutoff: f64) -> f64 {
    if depth > cutoff {
        0.5 + (depth - cutoff) / (2.0 - cutoff).max(1.0) / 2.0
    } else if depth > 0.0 {
        depth / cutoff / 2.0
    } else {
        0.0
    }
    .min(1.0)
}

/// Gaps deeper than the cut-off, the deepest first, each at least [`APART`] from those before it.
fn chosen(depths: &[f64], cutoff: f64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..depths.len()).filter(|&i| depths[i] > cutoff).collect();
    order.sort_by(|&a, &b| depths[b].total_cmp(&depths[a]).then(a.cmp(&b)));
    let mut taken = vec![false; depths.len()];
    let mut found = Vec::new();
    for gap in order {
        let near = gap.saturating_sub(APART - 1)..(gap + APART).min(depths.len());
        if !taken[near].contains(&true) {
            taken[gap] = true;
            found.push(gap);
        }
    }
    found
}

/// Token sequences: the stems of each, as numbers, and where it ends in the source.
struct Sequences {
    stems: Vec<Vec<u32>>,
    ends: Vec<usize>,
    vocabulary: usize,
}

impl Sequences {
    fn read(document: &Document, w: usize, language: Language) -> Self {
        let reader = WordReader::of(language);
        let mut numbers = Stems::new(&reader);
        let (mut stems, mut ends) = (Vec::new(), Vec::new());
        let mut current = Vec::new();
        let mut words = 0;
        for sentence in document.sentences.iter().filter(|s| s.kind.is_language()) {
            let text = document.text(sentence.span);
            reader.each(text, |at, word| {
                current.extend(numbers.number(word));
                words += 1;
                if words == w {
                    stems.push(std::mem::take(&mut current));
                    ends.push(sentence.span.start + at + word.len());
                    words = 0;
                }
            });
        }
        // A short rest belongs to the last sequence.
        match stems.last_mut() {
            Some(last) => last.append(&mut current),
            None => stems.push(current),
        }
        Self { stems, ends, vocabulary: numbers.vocabulary() }
    }

    /// Cosine of the stem counts of the `k` sequences before and after each gap (fewer near the ends of the text).
    /// Counts move from sequence to sequence, so the time is linear in the text whatever `k` is.
    fn similarities(&self, k: usize) -> Vec<f64> {
        let n = self.stems.len();
        let mut left = Counts::new(self.vocabulary);
        let mut right = Counts::new(self.vocabulary);
        let mut product = 0i64;
        for stems in self.stems.iter().take(k) {
            right.add(stems, 1, &left, &mut product);
        }
        let mut found = Vec::with_capacity(n.saturating_sub(1));
        for gap in 1..n {
            right.add(&self.stems[gap - 1], -1, &left, &mut product);
            left.add(&self.stems[gap - 1], 1, &right, &mut product);
            if let Some(enters) = self.stems.get(gap - 1 + k) {
                right.add(enters, 1, &left, &mut product);
            }
            if let Some(leaves) = gap.checked_sub(k + 1) {
                left.add(&self.stems[leaves], -1, &right, &mut product);
            }
            let norms = (left.squares as f64).sqrt() * (right.squares as f64).sqrt();
            found.push(if norms > 0.0 { product as f64 / norms } else { 0.0 });
        }
        found
    }
}

/// How often each stem occurs in a block, and the sum of squares of that.
struct Counts {
    of: Vec<i64>,
    squares: i64,
}

impl Counts {
    fn new(vocabulary: usize) -> Self {
        Self { of: vec![0; vocabulary], squares: 0 }
    }

    /// Adds (or takes away) stems; `product` follows the dot product with `other`.
    fn add(&mut self, stems: &[u32], times: i64, other: &Counts, product: &mut i64) {
        for &stem in stems {
            let count = &mut self.of[stem as usize];
            self.squares += times * (2 * *count + times);
            *count += times;
            *product += times * other.of[stem as usize];
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use pericope_api::{Boundaries, Document, Segmentation, Segmenter};

    use super::{Language, Sequences, TextTiling};

    fn two_topics() -> Document {
        let mut sentences = Vec::new();
        for i in 0..30 {
            sentences.push(format!("Sailing ships carry canvas sails and hempen ropes on voyage number {i}."));
        }
        for i in 0..30 {
            sentences.push(format!("Baking bread needs flour, yeast, salted water and an oven for loaf number {i}."));
        }
        Document::from_sentences("d", &sentences)
    }

    #[test]
    fn finds_where_the_words_change() {
        let Segmentation::Scores { scores, threshold } = TextTiling { w: 10, k: 6 }.segment(&two_topics()).unwrap()
        else {
            unreachable!()
        };
        assert_eq!(scores.len(), 59);
        assert!(scores.iter().all(|s| (0.0..=1.0).contains(s)));
        assert_eq!(Boundaries::top(&scores, 1).after(), [30]);
        assert!(scores[29] > threshold);
    }

    #[test]
    fn similarities_are_cosines_of_counts() {
        let document = two_topics();
        let sequences = Sequences::read(&document, 7, Language::English);
        let n = sequences.stems.len();
        for k in [1, 3, 100] {
            let found = sequences.similarities(k);
            assert_eq!(found.len(), n - 1);
            for gap in 1..n {
                let count = |range: std::ops::Range<usize>| {
                    let mut counts = vec![0.0; sequences.vocabulary];
                    sequences.stems[range].iter().flatten().for_each(|&s| counts[s as usize] += 1.0);
                    counts
                };
                let (a, b) = (count(gap.saturating_sub(k)..gap), count(gap..(gap + k).min(n)));
                let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
                let expected = dot(&a, &b) / (dot(&a, &a).sqrt() * dot(&b, &b).sqrt()).max(1e-12);
                assert!((found[gap - 1] - expected).abs() < 1e-12, "k={k} gap={gap}");
            }
        }
    }

    #[test]
    fn short_and_wordless_documents_have_no_boundary() {
        for sentences in [&["One."][..], &["One.", "Two."], &["...", "!!!", "???"]] {
            let cuts = TextTiling::default().segment(&Document::from_sentences("d", sentences)).unwrap();
            assert_eq!(cuts, Segmentation::Scores { scores: vec![0.0; sentences.len() - 1], threshold: 0.5 });
        }
    }
}
