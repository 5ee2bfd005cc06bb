mod narrow;
mod single;
#[cfg(test)]
mod tests;
mod tile;

use std::borrow::Cow;
use std::cell::RefCell;

use pulp::Arch;

use super::aligned::Aligned;
use super::int16;
use super::precision::Precision;
use super::rows::ROW_TILE;
use narrow::Narrow;
use single::Panels;

pub(super) use tile::{lanes, store, tile, vectors};

/// Columns that weights are packed for: a whole number of panels on every machine. Those beyond the outputs are zeros.
const COLUMNS: usize = pericope_bf16::COLUMNS;

/// The last step on sums. The bias is always added.
#[derive(Debug, Clone, Copy)]
pub enum Finish<'a> {
    /// Nothing more.
    Bias,
    /// GELU with the error function.
    Gelu,
    /// The matrix of the same shape as the output is added (the residual connection).
    Add(&'a [f32]),
}

/// A fully connected layer, `y = x Wᵀ + b`, whose weights lie packed for this machine's vectors.
#[derive(Debug)]
pub struct Linear {
    inputs: usize,
    outputs: usize,
    weights: Weights,
    /// With zeros up to a whole number of [`COLUMNS`].
    bias: Aligned,
}

#[derive(Debug)]
enum Weights {
    Single(Panels),
    Narrow(Narrow),
}

/// Rows that go through both products of [`feed_forward`] together, in bfloat16 and otherwise: enough that weights, which are
/// too many for the second-level cache, are read seldom, and few enough that in a model like MiniLM most of the rows between the products
/// stay in 1 or 2 MB of it.
const FEED_ROWS: (usize, usize) = (256, 128);

// Blocks of the feed-forward part must not write over the rows of the next one.
const _: () = assert!(FEED_ROWS.0.is_multiple_of(ROW_TILE) && FEED_ROWS.1.is_multiple_of(ROW_TILE));

thread_local! {
    /// Rows between the products of [`feed_forward`] in single precision.
    static WIDE: RefCell<Aligned> = RefCell::default();
}

impl Linear {
    /// Outputs are a multiple of this: a whole number of vectors on every machine.
    pub const MULTIPLE: usize = 16;

    /// True where `outputs` is a whole number of vectors on every machine.
    #[must_use]
    pub fn fits(outputs: usize) -> bool {
        outputs.is_multiple_of(Self::MULTIPLE)
    }

    /// Packs `weight` (`outputs` rows of `inputs` numbers) and `bias` (`outputs` numbers). In bfloat16 the weights and each row of
    /// the input are rounded to it, and the products summed in single precision; in whole numbers of 16 bits the sums are exact. An odd
    /// number of inputs is multiplied in single precision.
    ///
    /// # Panics
    /// Where the lengths do not agree, or `outputs` does not [fit](Self::fits).
    #[must_use]
    pub fn new(weight: &[f32], bias: &[f32], inputs: usize, precision: Precision) -> Self {
        let outputs = bias.len();
        assert_eq!(weight.len(), inputs * outputs, "a weight matrix of another shape");
        assert!(Self::fits(outputs), "{outputs} outputs are no whole number of vectors");
        let padded = outputs.next_multiple_of(COLUMNS);
        let mut weight = Cow::Borrowed(weight);
        if padded > outputs {
            weight.to_mut().resize(padded * inputs, 0.0);
        }
        let paired = inputs.is_multiple_of(2);
        let weights = match precision {
            Precision::Bf16 if paired => Weights::Narrow(Narrow::Bf16(pericope_bf16::Weights::new(&weight, inputs))),
            Precision::Int16 if paired => Weights::Narrow(Narrow::Int16(int16::Weights::new(&weight, inputs))),
            _ => Weights::Single(Panels::new(&weight, inputs)),
        };
        let mut kept = Aligned::zeros(padded);
        kept[..outputs].copy_from_slice(bias);
        Self { inputs, outputs, weights, bias: kept }
    }

    /// Numbers in an input row.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Numbers in an output row.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Fills the first `rows` rows of `out` (and, up to the next multiple of [`ROW_TILE`], rows that mean nothing).
    /// Every row is summed in the same order wherever it lies, so its bits do not depend on the rows beside it.
    ///
    /// # Panics
    /// Where `x`, `out` or the matrix to add have fewer rows than `rows` rounded up to a [`ROW_TILE`].
    pub fn apply(&self, rows: usize, x: &[f32], finish: Finish<'_>, out: &mut [f32]) {
        let rows = rows.next_multiple_of(ROW_TILE);
        let (x, out) = (&x[..rows * self.inputs], &mut out[..rows * self.outputs]);
        match &self.weights {
            Weights::Single(panels) => {
                Arch::new().dispatch(single::Apply { layer: self, panels, rows, x, finish, out });
            }
            Weights::Narrow(weights) => narrow::apply((self, weights), rows, x, finish, out),
        }
    }
}

/// The feed-forward part of a layer, `down(GELU(up(x))) + x`: fills the first `rows` rows of `out`, as [`Linear::apply`] does. What lies
/// between the two products is kept in a buffer of the thread, in bfloat16 where both are in it.
///
/// # Panics
/// As [`Linear::apply`], and where the shapes of `up` and `down` do not agree.
pub fn feed_forward(up: &Linear, down: &Linear, rows: usize, x: &[f32], out: &mut [f32]) {
    let (hidden, between) = (up.inputs, up.outputs);
    assert!(down.inputs == between && down.outputs == hidden, "two products of other shapes");
    let both = match (&up.weights, &down.weights) {
        (Weights::Narrow(Narrow::Bf16(up)), Weights::Narrow(Narrow::Bf16(down))) => Some((up, down)),
        _ => None,
    };
    let together = if both.is_some() { FEED_ROWS.0 } else { FEED_ROWS.1 };
    for first in (0..rows).step_by(together) {
        let count = together.min(rows - first);
        let padded = count.next_multiple_of(ROW_TILE);
        let (block, out) = (&x[first * hidden..][..padded * hidden], &mut out[first * hidden..][..padded * hidden]);
        if let Some((up_weights, down_weights)) = both {
            narrow::feed_forward((up, up_weights), (down, down_weights), padded, block, out);
        } else {
            WIDE.with_borrow_mut(|wide| {
                wide.reserve(padded * between);
                up.apply(count, block, Finish::Gelu, wide);
                down.apply(count, wide, Finish::Add(block), out);
            });
        }
    }
}
