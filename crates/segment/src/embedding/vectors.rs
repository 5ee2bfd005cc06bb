use pericope_api::{Boundaries, Document, SegmentError, SentenceEncoder};
use pericope_util::dot;
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::reading::{BATCH, readable};
use crate::language;

/// The embeddings of a document's sentences of prose, in order, and which sentences they are.
///
/// A code block or table has no embedding of its own: it belongs to the sentence before it.
pub(crate) struct Vectors {
    /// Indices of the sentences that were read.
    pub sentences: Vec<usize>,
    /// Length of a vector.
    pub dimension: usize,
    values: Vec<f32>,
}

impl Vectors {
    /// Embeds what is language in `document`, each sentence on its own.
    pub fn of(document: &Document, encoder: &dyn SentenceEncoder) -> Result<Self, SegmentError> {
        let sentences = language::sentences(document);
        let dimension = encoder.dimension().max(1);
        let mut values = Vec::with_capacity(sentences.len() * dimension);
        for part in sentences.chunks(BATCH) {
            let texts: Vec<_> = part.iter().map(|&i| readable(document, i, encoder)).collect();
            let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
            values.extend_from_slice(encoder.encode(&texts)?.finite(encoder.name())?.values());
        }
        let have = values.len() / dimension;
        if have < sentences.len() {
            let wanted = sentences.len();
            return Err(SegmentError::Unsupported(format!("the encoder gave {have} vectors for {wanted} texts")));
        }
        Ok(Self { sentences, dimension, values })
    }

    /// Vectors that are known already: those of `sentences`, row by row, each of `dimension` numbers. Nothing where there are not as
    /// many.
    pub fn given(sentences: Vec<usize>, values: Vec<f32>, dimension: usize) -> Option<Self> {
        let fits = dimension > 0 && values.len() == sentences.len() * dimension;
        fits.then_some(Self { sentences, dimension, values })
    }

    /// Number of vectors.
    pub fn len(&self) -> usize {
        self.sentences.len()
    }

    /// Vector `i`.
    pub fn row(&self, i: usize) -> &[f32] {
        &self.values[i * self.dimension..(i + 1) * self.dimension]
    }

    /// Scores between the sentences that were read, as scores between all sentences of a document of `n`.
    pub fn spread(&self, scores: &[f64], n: usize) -> Vec<f64> {
        language::spread(scores, &self.sentences, n)
    }

    /// Boundaries between the sentences that were read, as those of the whole document of `n` sentences into `segments` segments, at
    /// most one a sentence: where more are wanted than sentences were read, gaps around code are taken too, the first ones.
    pub fn spread_boundaries(&self, found: &Boundaries, n: usize, segments: usize) -> Boundaries {
        if n == 0 {
            return Boundaries::none(0);
        }
        let mut chosen = vec![0.0; n - 1];
        for next in found.after().iter().filter_map(|&gap| self.sentences.get(gap)) {
            if let Some(chosen) = chosen.get_mut(next - 1) {
                *chosen = 1.0;
            }
        }
        Boundaries::top(&chosen, segments.saturating_sub(1))
    }

    /// For every segment of up to `longest` vectors the weighted sum of the squared distances of its vectors from their weighted mean:
    /// `[len, longest]`, where row f has the segments that begin at vector f, by length, and infinity where one would pass
    /// the end. A weight that is not given is 1.
    ///
    /// Each pair of vectors is multiplied once: the square of a segment's sum is that of the segment without its first vector, and
    /// what the first one adds.
    ///
    /// `finish` gets the rows from the last to the first, each without the segments that would pass the end, and may change them.
    pub fn scatters(&self, weights: &[f32], longest: usize, mut finish: impl FnMut(usize, &mut [f64])) -> Vec<f64> {
        debug_assert!(longest > 0);
        let n = self.len();
        let mut table = vec![f64::INFINITY; n * longest];
        let arch = Arch::new();
        let fill = |(first, row): (usize, &mut [f64])| {
            let room = longest.min(n - first);
            let others = &self.values[first * self.dimension..(first + room) * self.dimension];
            arch.dispatch(Dots { a: self.row(first), others, found: &mut row[..room] });
        };
        match table.len() * self.dimension < ALONE {
            true => table.chunks_mut(longest.max(1)).enumerate().for_each(fill),
            false => table.par_chunks_mut(longest.max(1)).enumerate().for_each(fill),
        }
        // The squared length of each vector.
        let squared: Vec<f64> = table.iter().step_by(longest).copied().collect();
        let weight = |i: usize| weights.get(i).copied().map_or(1.0, f64::from);
        // The squares of the sums of the segments of the row after, by length.
        let mut squares: Vec<f64> = Vec::with_capacity(longest);
        for first in (0..n).rev() {
            let room = longest.min(n - first);
            let row = &mut table[first * longest..][..room];
            let w = weight(first);
            let own = w * w * row[0];
            // The longest one of the row after ends behind this one's.
            squares.truncate(room - 1);
            squares.insert(0, 0.0);
            let (mut mass, mut weighted, mut products) = (0.0, 0.0, 0.0);
            for (i, (cell, square)) in row.iter_mut().zip(&mut squares).enumerate() {
                let weight = weight(first + i);
                if i > 0 {
                    products += weight * *cell;
                }
                *square += own + 2.0 * w * products;
                mass += weight;
                weighted += weight * squared[first + i];
                let explained = if mass > 0.0 { *square / mass } else { 0.0 };
                *cell = (weighted - explained).max(0.0);
            }
            finish(first, row);
        }
        table
    }
}

/// Multiplications that are not worth a second thread.
const ALONE: usize = 4 << 20;

/// Lanes in which products are summed: those of [`dot`].
const LANES: usize = 8;

#[inline(always)]
fn add_products(a: &[f32; LANES], b: &[f32; LANES], sums: &mut [f32; LANES]) {
    sums.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (a, b))| *sum += a * b);
}

#[inline(always)]
fn total(sums: &[f32; LANES], rest_a: &[f32], rest_b: &[f32]) -> f32 {
    sums.iter().sum::<f32>() + rest_a.iter().zip(rest_b).map(|(a, b)| a * b).sum::<f32>()
}

/// The dot products of a vector with the vectors that lie one after the other in `others`, into `found`: those of [`dot`], to the
/// bit.
struct Dots<'a> {
    a: &'a [f32],
    others: &'a [f32],
    found: &'a mut [f64],
}

impl WithSimd for Dots<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        /// Vectors at a time, so that `a` is read once for all of them.
        const ROWS: usize = 4;
        let Self { a, others, found } = self;
        let length = a.len().max(1);
        let (whole, rest) = a.as_chunks();
        for (rows, found) in others.chunks(ROWS * length).zip(found.chunks_mut(ROWS)) {
            let part = |i: usize| rows.get(i * length..(i + 1) * length).map(<[f32]>::as_chunks);
            if let [Some((b0, r0)), Some((b1, r1)), Some((b2, r2)), Some((b3, r3))] =
                [part(0), part(1), part(2), part(3)]
            {
                let (mut s0, mut s1, mut s2, mut s3) = ([0.0; LANES], [0.0; LANES], [0.0; LANES], [0.0; LANES]);
                for (a, (((b0, b1), b2), b3)) in whole.iter().zip(b0.iter().zip(b1).zip(b2).zip(b3)) {
                    add_products(a, b0, &mut s0);
                    add_products(a, b1, &mut s1);
                    add_products(a, b2, &mut s2);
                    add_products(a, b3, &mut s3);
                }
                let totals = [(s0, r0), (s1, r1), (s2, r2), (s3, r3)].map(|(sums, rest_b)| total(&sums, rest, rest_b));
                found.iter_mut().zip(totals).for_each(|(found, total)| *found = f64::from(total));
            } else {
                rows.chunks(length).zip(found).for_each(|(b, found)| *found = f64::from(dot(a, b)));
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use pericope_util::dot;
    use pulp::Arch;

    use super::{Dots, Vectors};

    #[test]
    fn several_at_once_are_the_same() {
        for n in [1, 8, 20, 384] {
            let number = |i: usize| (i as f32 * 0.7).sin();
            let a: Vec<f32> = (0..n).map(number).collect();
            for rows in 0..10 {
                let others: Vec<f32> = (0..n * rows).map(|i| number(i + 5)).collect();
                let mut found = vec![0.0; rows];
                Arch::new().dispatch(Dots { a: &a, others: &others, found: &mut found });
                let expected: Vec<f64> = others.chunks(n).map(|b| f64::from(dot(&a, b))).collect();
                assert_eq!(found, expected, "{rows} rows of {n}");
            }
        }
    }

    #[test]
    fn scatters_are_the_distances_from_the_mean() {
        let (n, dimension) = (13, 5);
        let values: Vec<f32> = (0..n * dimension).map(|i| (i as f32 * 1.3).cos()).collect();
        let vectors = Vectors::given((0..n).collect(), values.clone(), dimension).unwrap();
        let weights: Vec<f32> = (0..n).map(|i| (i % 3) as f32 / 2.0).collect();
        for (weights, longest) in [(&[][..], 4), (&weights, 4), (&weights, 13), (&weights[..6], 1)] {
            let weight = |i: usize| weights.get(i).copied().map_or(1.0, f64::from);
            let found = vectors.scatters(weights, longest, |_, _| ());
            for first in 0..n {
                for length in 1..=longest {
                    let cell = found[first * longest + length - 1];
                    let members = first..first + length;
                    if members.end > n {
                        assert_eq!(cell, f64::INFINITY);
                        continue;
                    }
                    let mass: f64 = members.clone().map(weight).sum();
                    let mut expected = 0.0;
                    for column in 0..dimension {
                        let x = |i: usize| f64::from(values[i * dimension + column]);
                        let mean = members.clone().map(|i| weight(i) * x(i)).sum::<f64>() / mass.max(1e-12);
                        expected += members.clone().map(|i| weight(i) * (x(i) - mean).powi(2)).sum::<f64>();
                    }
                    assert!((cell - expected).abs() < 1e-5, "{first}+{length}: {cell} is not {expected}");
                }
            }
        }
    }
}
