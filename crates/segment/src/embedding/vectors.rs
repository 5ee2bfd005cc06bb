use pericope_api::{Boundaries, Document, SegmentError, SentenceEncoder};

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
            values.extend_from_slice(encoder.encode(&texts)?.values());
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

    /// Boundaries between the sentences that were read, as boundaries of the whole document of `n` sentences.
    pub fn spread_boundaries(&self, found: &Boundaries, n: usize) -> Result<Boundaries, SegmentError> {
        let after = found.after().iter().filter_map(|&gap| self.sentences.get(gap).copied()).collect();
        Ok(Boundaries::new(n, after)?)
    }

    /// For the segments that begin at vector `first` and are 1, 2, ... vectors long: the weighted sum of the squared
    /// distances of their vectors from their weighted mean, into `found`. A weight that is not given is 1.
    pub fn scatter(&self, first: usize, weights: &[f32], found: &mut [f64]) {
        let mut sum = vec![0f32; self.dimension];
        // |s + w x|^2 = |s|^2 + 2 w s.x + w^2 |x|^2: one product a step.
        let (mut square, mut squares, mut mass) = (0.0, 0.0, 0.0);
        for (i, found) in found.iter_mut().enumerate() {
            let row = self.row(first + i);
            let weight = weights.get(first + i).copied().unwrap_or(1.0);
            let own = f64::from(dot(row, row));
            let w = f64::from(weight);
            square += w * (2.0 * f64::from(dot(&sum, row)) + w * own);
            squares += w * own;
            mass += w;
            sum.iter_mut().zip(row).for_each(|(s, x)| *s += weight * x);
            let explained = if mass > 0.0 { square / mass } else { 0.0 };
            *found = (squares - explained).max(0.0);
        }
    }
}

/// The dot product of two vectors of the same length. Summed in eight lanes, always the same ones: the compiler
/// vectorises it, and the result does not depend on the machine.
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    const LANES: usize = 8;
    let mut sums = [0f32; LANES];
    let (whole_a, whole_b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f32 = whole_a.remainder().iter().zip(whole_b.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in whole_a.zip(whole_b) {
        for lane in 0..LANES {
            sums[lane] += x[lane] * y[lane];
        }
    }
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use super::dot;

    #[test]
    fn dot_products_of_any_length() {
        for n in [0, 1, 7, 8, 9, 384, 387] {
            let a: Vec<f32> = (0..n).map(|i| (i % 7) as f32 - 3.0).collect();
            let b: Vec<f32> = (0..n).map(|i| (i % 5) as f32).collect();
            let expected: f32 = a.iter().zip(&b).map(|(x, y)| x * y).sum();
            assert_eq!(dot(&a, &b), expected);
        }
    }
}
