use pericope_api::Embeddings;
use pulp::{Arch, Simd, WithSimd};

/// Tokens side by side in a panel: the numbers of the widest vector there is.
const COLUMNS: usize = 16;

/// The vectors of a sentence's tokens, packed so that the products of two sentences' tokens take little time.
///
/// Tokens lie in panels of 16: the first number of each token of the panel, then the second of each, and so on. The last
/// panel is filled up with the last token: a repeated token changes no maximum.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TokenVectors {
    tokens: usize,
    dimension: usize,
    panels: Vec<[f32; COLUMNS]>,
}

impl TokenVectors {
    /// Packs a matrix with a row a token.
    #[must_use]
    pub fn new(rows: &Embeddings) -> Self {
        let (tokens, dimension) = (rows.len(), rows.dimension());
        let mut panels = vec![[0.0; COLUMNS]; tokens.div_ceil(COLUMNS) * dimension];
        for (p, panel) in panels.chunks_exact_mut(dimension.max(1)).enumerate() {
            for column in 0..COLUMNS {
                let token = rows.row((p * COLUMNS + column).min(tokens - 1));
                panel.iter_mut().zip(token).for_each(|(numbers, &number)| numbers[column] = number);
            }
        }
        Self { tokens, dimension, panels }
    }

    /// Number of tokens.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tokens
    }

    /// True where there is no token.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tokens == 0
    }

    /// Bytes that the vectors take.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.panels.as_slice())
    }

    /// The mean over these tokens of the greatest product with a token of `other`, and the mean over those of `other` of the
    /// greatest with one of these; 0 where either has none.
    ///
    /// Each product of two tokens is taken once and serves both means. It is summed number by number, in order, so the
    /// means do not depend on the width of this machine's vectors.
    ///
    /// ```
    /// use pericope_api::Embeddings;
    /// use pericope_segment::graph::similarity::TokenVectors;
    ///
    /// let tokens = |rows: &[f32]| TokenVectors::new(&Embeddings::new(2, rows.to_vec()));
    /// let (one, both) = (tokens(&[1.0, 0.0]), tokens(&[0.0, 1.0, 1.0, 0.0]));
    /// assert_eq!(one.mean_best(&both), (1.0, 0.5));
    /// ```
    #[must_use]
    pub fn mean_best(&self, other: &Self) -> (f64, f64) {
        if self.is_empty() || other.is_empty() {
            return (0.0, 0.0);
        }
        let mut best = vec![f32::NEG_INFINITY; other.tokens.next_multiple_of(COLUMNS)];
        let of_these = Arch::new().dispatch(Best { left: self, right: other, best: &mut best });
        let of_others = best.iter().take(other.tokens).map(|&best| f64::from(best)).sum::<f64>();
        (of_these / self.tokens as f64, of_others / other.tokens as f64)
    }

    fn panels(&self) -> impl Iterator<Item = &[[f32; COLUMNS]]> {
        self.panels.chunks_exact(self.dimension.max(1))
    }
}

/// Sums the greatest products of the tokens of `left` with those of `right`; `best` gets the greatest product of each token
/// of `right`.
struct Best<'a> {
    left: &'a TokenVectors,
    right: &'a TokenVectors,
    best: &'a mut [f32],
}

impl WithSimd for Best<'_> {
    type Output = f64;

    /// Takes as many rows at a time as there are registers for their sums.
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        match S::F32_LANES {
            16 => self.run::<S, 8, 1>(simd),
            8 => self.run::<S, 4, 2>(simd),
            4 => self.run::<S, 4, 4>(simd),
            _ => self.run::<S, 2, COLUMNS>(simd),
        }
    }
}

impl Best<'_> {
    /// `ROWS` tokens of the left sentence at a time with `N` vectors, a panel of the right one.
    #[inline(always)]
    fn run<S: Simd, const ROWS: usize, const N: usize>(self, simd: S) -> f64 {
        let least = simd.splat_f32s(f32::NEG_INFINITY);
        let mut total = 0.0;
        let mut rest = self.left.tokens;
        for rows in self.left.panels() {
            for first in (0..COLUMNS).step_by(ROWS).take(rest.div_ceil(ROWS)) {
                let mut best = [[least; N]; ROWS];
                for (panel, columns) in self.right.panels().zip(self.best.chunks_exact_mut(COLUMNS)) {
                    let columns = S::as_mut_simd_f32s(columns).0;
                    let sums = products::<S, ROWS, N>(simd, rows, first, panel);
                    for (sums, best) in sums.iter().zip(&mut best) {
                        for v in 0..N {
                            best[v] = simd.max_f32s(best[v], sums[v]);
                            columns[v] = simd.max_f32s(columns[v], sums[v]);
                        }
                    }
                }
                for best in best.iter().take(rest) {
                    let greatest = best.iter().fold(least, |greatest, &vector| simd.max_f32s(greatest, vector));
                    total += f64::from(simd.reduce_max_f32s(greatest));
                }
                rest = rest.saturating_sub(ROWS);
            }
        }
        total
    }
}

/// The products of the tokens `first..first + ROWS` of one panel with all of another.
#[inline(always)]
fn products<S: Simd, const ROWS: usize, const N: usize>(
    simd: S,
    rows: &[[f32; COLUMNS]],
    first: usize,
    panel: &[[f32; COLUMNS]],
) -> [[S::f32s; N]; ROWS] {
    // With this the compiler can drop the bounds checks of the loop.
    assert!(first + ROWS <= COLUMNS && N * S::F32_LANES == COLUMNS);
    let mut sums = [[simd.splat_f32s(0.0); N]; ROWS];
    for (row, numbers) in rows.iter().zip(panel) {
        let numbers = S::as_simd_f32s(numbers).0;
        for r in 0..ROWS {
            let value = simd.splat_f32s(row[first + r]);
            for v in 0..N {
                sums[r][v] = simd.mul_add_e_f32s(value, numbers[v], sums[r][v]);
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use pericope_api::Embeddings;
    use proptest::prelude::*;
    use pulp::{Scalar, WithSimd};

    use super::{Best, COLUMNS, TokenVectors};
    use crate::random::SplitMix64;

    /// So many vectors of norm 1 in random directions.
    fn vectors(tokens: usize, dimension: usize, seed: u64) -> Embeddings {
        let mut random = SplitMix64::new(seed);
        let mut values = Vec::new();
        for _ in 0..tokens {
            let row: Vec<f32> = (0..dimension).map(|_| random.below(2001) as f32 / 1000.0 - 0.97).collect();
            let norm = row.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-6);
            values.extend(row.iter().map(|x| x / norm));
        }
        Embeddings::new(dimension, values)
    }

    /// The definition, word for word, in double precision.
    fn defined(of: &Embeddings, with: &Embeddings) -> f64 {
        if of.is_empty() || with.is_empty() {
            return 0.0;
        }
        let product = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(&x, &y)| f64::from(x) * f64::from(y)).sum::<f64>();
        let best = |row: &[f32]| with.rows().map(|other| product(row, other)).fold(f64::NEG_INFINITY, f64::max);
        of.rows().map(best).sum::<f64>() / of.len() as f64
    }

    fn differ(left: &Embeddings, right: &Embeddings) -> f64 {
        let (a, b) = (TokenVectors::new(left), TokenVectors::new(right));
        let (m, n) = a.mean_best(&b);
        assert_eq!(b.mean_best(&a), (n, m), "the same both ways round, to the last bit");
        (m - defined(left, right)).abs().max((n - defined(right, left)).abs())
    }

    proptest! {
        #[test]
        fn means_agree_with_the_definition(
            m in 0usize..70,
            n in 0usize..70,
            dimension in 1usize..50,
            seeds in any::<(u64, u64)>(),
        ) {
            let apart = differ(&vectors(m, dimension, seeds.0), &vectors(n, dimension, seeds.1));
            prop_assert!(apart < 1e-5, "{apart} apart");
        }
    }

    #[test]
    fn means_agree_with_the_definition_at_the_models_size() {
        for (m, n) in [(1, 1), (15, 16), (16, 17), (33, 8), (9, 254), (254, 250)] {
            let apart = differ(&vectors(m, 384, 1), &vectors(n, 384, 2));
            assert!(apart < 1e-5, "{m} and {n} tokens: {apart} apart");
        }
    }

    #[test]
    fn every_width_of_vectors_gives_the_same() {
        for (m, n) in [(1, 1), (7, 40), (33, 21)] {
            let (left, right) = (TokenVectors::new(&vectors(m, 50, 1)), TokenVectors::new(&vectors(n, 50, 2)));
            let run = |run: &dyn Fn(Best<'_>) -> f64| {
                let mut best = vec![f32::NEG_INFINITY; n.next_multiple_of(COLUMNS)];
                let sum = run(Best { left: &left, right: &right, best: &mut best });
                (sum / m as f64, best[..n].iter().map(|&best| f64::from(best)).sum::<f64>() / n as f64)
            };
            let here = left.mean_best(&right);
            let plain = run(&|best| best.with_simd(Scalar));
            assert!((here.0 - plain.0).abs().max((here.1 - plain.1).abs()) < 1e-6, "{here:?} and {plain:?}");
            #[cfg(target_arch = "x86_64")]
            if let Some(simd) = pulp::x86::V3::try_new() {
                assert_eq!(run(&|best| pulp::Simd::vectorize(simd, best)), here);
            }
        }
    }

    #[test]
    fn the_last_panel_is_filled_up() {
        let tokens = TokenVectors::new(&vectors(21, 384, 3));
        assert_eq!((tokens.len(), tokens.bytes()), (21, 2 * COLUMNS * 384 * 4));
        let (m, n) = tokens.mean_best(&tokens);
        assert!((m - 1.0).abs() < 1e-5 && (n - 1.0).abs() < 1e-5, "a sentence is most like itself");
        assert!(TokenVectors::new(&Embeddings::default()).is_empty());
    }
}
