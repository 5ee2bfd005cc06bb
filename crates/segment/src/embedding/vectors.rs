use pericope_api::{Boundaries, Document, SegmentError, SentenceEncoder};

use super::reading::{BATCH, readable};

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
        let sentences: Vec<usize> = (0..document.len()).filter(|&i| document.sentences[i].kind.is_language()).collect();
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

    /// Number of vectors.
    pub fn len(&self) -> usize {
        self.sentences.len()
    }

    /// Vector `i`.
    pub fn row(&self, i: usize) -> &[f32] {
        &self.values[i * self.dimension..(i + 1) * self.dimension]
    }

    /// Scores between the sentences that were read, as scores between all sentences of a document of `n`: those of a gap
    /// belong just before the next sentence that was read, behind any code or table in between.
    pub fn spread(&self, scores: &[f64], n: usize) -> Vec<f64> {
        let mut spread = vec![0.0; n.saturating_sub(1)];
        for (&score, &next) in scores.iter().zip(self.sentences.iter().skip(1)) {
            spread[next - 1] = score;
        }
        spread
    }

    /// Boundaries between the sentences that were read, as boundaries of the whole document of `n` sentences.
    pub fn spread_boundaries(&self, found: &Boundaries, n: usize) -> Result<Boundaries, SegmentError> {
        let after = found.after().iter().filter_map(|&gap| self.sentences.get(gap).copied()).collect();
        Ok(Boundaries::new(n, after)?)
    }

    /// Sum of products of two vectors.
    pub fn dot(a: &[f32], b: &[f32]) -> f32 {
        // Eight sums side by side, so that the compiler may use vector instructions; always in the same order.
        let mut sums = [0f32; 8];
        let (parts, others) = (a.chunks_exact(8), b.chunks_exact(8));
        let rest: f32 = parts.remainder().iter().zip(others.remainder()).map(|(x, y)| x * y).sum();
        for (x, y) in parts.zip(others) {
            for lane in 0..8 {
                sums[lane] += x[lane] * y[lane];
            }
        }
        sums.iter().sum::<f32>() + rest
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
            let own = f64::from(Self::dot(row, row));
            let w = f64::from(weight);
            square += w * (2.0 * f64::from(Self::dot(&sum, row)) + w * own);
            squares += w * own;
            mass += w;
            sum.iter_mut().zip(row).for_each(|(s, x)| *s += weight * x);
            let explained = if mass > 0.0 { square / mass } else { 0.0 };
            *found = (squares - explained).max(0.0);
        }
    }
}
