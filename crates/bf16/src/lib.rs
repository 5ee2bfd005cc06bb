#![doc = include_str!("../README.md")]

#[cfg(target_arch = "x86_64")]
mod amx;
mod plain;
mod weights;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::ops::Range;

pub use weights::Weights;

/// Rows that a product works on at once: the number of rows is a multiple of it.
pub const ROWS: usize = 8;

/// Columns of a panel of weights: the number of outputs is a multiple of it.
pub const COLUMNS: usize = 48;

/// Columns of whole panels and of whole strips of tiles: parts of a product ([`product_of`]) are a multiple of it.
pub const PART: usize = 96;

const _: () = assert!(PART.is_multiple_of(COLUMNS) && PART.is_multiple_of(2 * weights::SIDE));

/// True where this processor multiplies in bfloat16 itself. Elsewhere the same is worked out number by number, more slowly than in
/// single precision.
#[must_use]
pub fn available() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        x86::available()
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}

/// True where this processor multiplies whole tiles of bfloat16 (AMX), and the system lets this process use them: then [`product`] does
/// so where the number of inputs is a multiple of 32.
#[must_use]
pub fn tiles() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        amx::available()
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}

/// Rounds numbers to bfloat16, to nearest, ties to even, and leaves two of them in each element of `to`: the first in the lower
/// half. Subnormal numbers become zero where the processor rounds ([`available`]).
///
/// # Panics
/// Where `from` is not twice as long as `to`.
pub fn round(from: &[f32], to: &mut [u32]) {
    assert_eq!(from.len(), 2 * to.len(), "two numbers go into one element");
    #[cfg(target_arch = "x86_64")]
    if x86::available() {
        // SAFETY: the processor has the instructions, and the lengths were checked.
        return unsafe { x86::round(from, to) };
    }
    plain::round(from, to);
}

/// The product of `rows` rows of numbers that [`round`] left in `x` (`weights.inputs()` numbers each) with the matrix of weights:
/// `rows` rows of `weights.outputs()` numbers in `out`.
///
/// Each sum adds up products from the first input to the last, in single precision: pair by pair, or, by [tiles], the first of
/// each pair and the second of each apart for 16 pairs. A row's bits do not depend on the rows beside it.
///
/// # Panics
/// Where `rows` is no multiple of [`ROWS`], or `x` or `out` is too short.
pub fn product(rows: usize, x: &[u32], weights: &Weights, out: &mut [f32]) {
    product_of(rows, x, weights, 0..weights.outputs(), out);
}

/// Some columns of a [`product`]: `out` has `rows` rows of `columns.len()` numbers. Their bits are those of the whole product.
///
/// # Panics
/// As [`product`], and where `columns` do not begin at a multiple of [`PART`], or end neither at one nor at the last column.
pub fn product_of(rows: usize, x: &[u32], weights: &Weights, columns: Range<usize>, out: &mut [f32]) {
    assert!(rows.is_multiple_of(ROWS), "{rows} rows are no multiple of {ROWS}");
    let outputs = weights.outputs();
    let ends = columns.end == outputs || columns.end < outputs && columns.end.is_multiple_of(PART);
    let begins = columns.start <= columns.end && columns.start.is_multiple_of(PART);
    assert!(begins && ends, "columns {columns:?} of {outputs}");
    // A product of lengths that is too large for a number must not pass for a small one.
    let numbers = |width: usize| rows.saturating_mul(width);
    let (x, out) = (&x[..numbers(weights.pairs())], &mut out[..numbers(columns.len())]);
    if out.is_empty() {
        return;
    }
    #[cfg(target_arch = "x86_64")]
    if weights.layout() == weights::Layout::Tiles {
        // SAFETY: weights lie in tiles only where the processor has the instructions and may use them; the slices have just these
        // lengths, and the columns are whole strips of the weights.
        return unsafe { amx::product(rows, x, weights, columns, out) };
    }
    #[cfg(target_arch = "x86_64")]
    if x86::available() {
        // SAFETY: the processor has the instructions; the slices have just these lengths, and the columns are whole panels.
        return unsafe { x86::product(rows, x, weights, columns, out) };
    }
    plain::product(x, weights, columns, out);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::weights::Layout;
    use super::{COLUMNS, PART, ROWS, Weights, plain, product, product_of, round};

    fn numbers(len: usize, seed: u64) -> Vec<f32> {
        let mut state = seed | 1;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / (1 << 23) as f32 - 1.0
        };
        (0..len).map(|_| next()).collect()
    }

    /// A bound of sizes; a small one where an interpreter runs the tests, some ten thousand times as slow.
    fn most(size: usize) -> usize {
        if cfg!(miri) { 2 } else { size }
    }

    fn rounded(from: &[f32]) -> Vec<u32> {
        let mut to = vec![0; from.len() / 2];
        round(from, &mut to);
        to
    }

    #[test]
    fn rounding_is_that_of_the_crate_half() {
        let mut from = numbers(2 * most(2048), 3);
        // Halfway between two neighbours: down to even, up to even; large ones; signs.
        from.extend([1.003_906_2, 1.011_718_8, -1.003_906_2, 3.0e38, -3.0e-38, 0.0, -0.0, f32::INFINITY]);
        for to in [rounded(&from), {
            let mut to = vec![0; from.len() / 2];
            plain::round(&from, &mut to);
            to
        }] {
            for (pair, found) in from.chunks_exact(2).zip(to) {
                let want =
                    pair.iter().rev().fold(0, |all, &x| all << 16 | u32::from(half::bf16::from_f32(x).to_bits()));
                assert_eq!(found, want, "{pair:?}");
            }
        }
        let nan = rounded(&[f32::NAN, 1.0]);
        assert!(half::bf16::from_bits((nan[0] & 0xffff) as u16).is_nan());
    }

    /// A product with `w` by each way that this machine has: first the one that the crate takes.
    fn by_each_way(rows: usize, x: &[u32], w: &[f32], inputs: usize) -> Vec<Vec<f32>> {
        let (weights, panels) = (Weights::new(w, inputs), Weights::packed(w, inputs, Layout::Panels));
        let mut found = vec![vec![f32::NAN; rows * weights.outputs()]; 3];
        product(rows, x, &weights, &mut found[0]);
        product(rows, x, &panels, &mut found[1]);
        plain::product(x, &panels, 0..w.len() / inputs, &mut found[2]);
        // The same in parts.
        let outputs = weights.outputs();
        for weights in [&weights, &panels] {
            let mut all = vec![f32::NAN; rows * outputs];
            for start in (0..outputs).step_by(PART) {
                let columns = start..(start + PART).min(outputs);
                let mut part = vec![f32::NAN; rows * columns.len()];
                product_of(rows, x, weights, columns.clone(), &mut part);
                for (r, part) in part.chunks_exact(columns.len()).enumerate() {
                    all[r * outputs..][columns.clone()].copy_from_slice(part);
                }
            }
            found.push(all);
        }
        found
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 128 }))]
        #[test]
        fn as_by_numbers_in_double_precision(
            tiles in 1..most(10), pairs in prop_oneof![1..most(70), (1..most(5)).prop_map(|steps| 16 * steps)],
            panels in 1..most(8), seed in any::<u64>(),
        ) {
            let (rows, inputs, outputs) = (tiles * ROWS, 2 * pairs, panels * COLUMNS);
            let (x, w) = (numbers(rows * inputs, seed), numbers(outputs * inputs, !seed));
            let found = by_each_way(rows, &rounded(&x), &w, inputs);
            let near = |x: f32| f64::from(half::bf16::from_f32(x).to_f32());
            for r in 0..rows {
                for c in 0..outputs {
                    let want: f64 = (0..inputs).map(|k| near(x[r * inputs + k]) * near(w[c * inputs + k])).sum();
                    for found in &found {
                        let found = found[r * outputs + c];
                        prop_assert!((f64::from(found) - want).abs() < 1e-5 * inputs as f64, "{found} against {want}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_row_does_not_depend_on_its_place() {
        let (inputs, outputs) = (most(96), most(3) * COLUMNS);
        let weights = Weights::new(&numbers(inputs * outputs, 5), inputs);
        let row = numbers(inputs, 7);
        let mut found = Vec::new();
        // Whole tiles, tiles of eight rows, and blocks of one tile and of two.
        for tiles in [1, 2, 3, 5, 8].into_iter().take(most(5)) {
            let mut x = numbers(tiles * ROWS * inputs, 8);
            for place in [0, 3, 7, 11, 15, 21, 33, 39, 63].into_iter().filter(|&place| place < tiles * ROWS) {
                x[place * inputs..][..inputs].copy_from_slice(&row);
                let mut out = vec![0.0; tiles * ROWS * outputs];
                product(tiles * ROWS, &rounded(&x), &weights, &mut out);
                found.push(out[place * outputs..][..outputs].to_vec());
            }
        }
        assert!(found.windows(2).all(|pair| pair[0] == pair[1]));
    }

    #[test]
    #[should_panic(expected = "no multiple")]
    fn rows_that_are_no_whole_tile_are_refused() {
        product(3, &[0; 64], &Weights::new(&vec![0.0; 2 * COLUMNS], 2), &mut [0.0; 512]);
    }

    #[test]
    fn columns_that_are_no_parts_are_refused() {
        let weights = || Weights::new(&vec![0.0; 2 * (PART + COLUMNS)], 2);
        for columns in [COLUMNS..PART, 0..COLUMNS, 0..PART + 2 * COLUMNS, std::ops::Range { start: PART, end: 0 }] {
            let mut out = [0.0; ROWS * 3 * PART];
            let tried = std::panic::catch_unwind(move || {
                product_of(ROWS, &[0; ROWS], &weights(), columns, &mut out);
            });
            assert!(tried.is_err());
        }
        product_of(ROWS, &[0; ROWS], &weights(), PART..PART + COLUMNS, &mut [0.0; ROWS * COLUMNS]);
    }

    #[test]
    #[should_panic]
    fn rows_beyond_all_memory_are_refused() {
        product(1 << 61, &[0; ROWS], &Weights::new(&vec![0.0; 32 * COLUMNS], 32), &mut [0.0; 512]);
    }

    #[test]
    #[should_panic]
    fn short_outputs_are_refused() {
        product(ROWS, &[0; ROWS], &Weights::new(&vec![0.0; 2 * COLUMNS], 2), &mut [0.0; 100]);
    }
}
