use std::ops::Range;

use super::COLUMNS;

/// A cache line of weights, and a vector of the processor: 16 columns of a pair of inputs.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Line(pub(crate) [u32; SIDE]);

/// Columns of a line, and pairs of inputs of a tile of weights.
pub(crate) const SIDE: usize = 16;

/// Lines of a panel for each pair of inputs.
pub(crate) const LINES: usize = COLUMNS / SIDE;

/// How lines of weights follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// `outputs / COLUMNS` panels; each holds, for every pair of inputs, the two weights of each of its columns.
    Panels,
    /// Strips of two tiles of columns (the last may have one): for each [`SIDE`] pairs of inputs the lines of the first tile, then those
    /// of the second. A product by tiles reads a strip from its beginning to its end.
    Tiles,
}

/// A matrix of weights in bfloat16, packed for [`product`](super::product).
#[derive(Debug)]
pub struct Weights {
    pairs: usize,
    outputs: usize,
    layout: Layout,
    lines: Vec<Line>,
}

impl Weights {
    /// Rounds and packs `weight`: rows of `inputs` numbers, one for each output.
    ///
    /// # Panics
    /// Where `inputs` is odd or zero, or the number of outputs is no multiple of [`COLUMNS`].
    #[must_use]
    pub fn new(weight: &[f32], inputs: usize) -> Self {
        Self::packed(weight, inputs, if tiled(inputs) { Layout::Tiles } else { Layout::Panels })
    }

    /// As [`new`](Self::new), in a layout; tiles need whole ones.
    pub(crate) fn packed(weight: &[f32], inputs: usize, layout: Layout) -> Self {
        assert!(inputs > 0 && inputs.is_multiple_of(2), "{inputs} inputs are no pairs");
        let outputs = weight.len() / inputs;
        assert_eq!(weight.len(), inputs * outputs, "a weight matrix of another shape");
        assert!(outputs.is_multiple_of(COLUMNS), "{outputs} outputs are no whole number of panels");
        assert!(
            layout == Layout::Panels || tiled(inputs),
            "{inputs} inputs are no whole tiles, or there are none here"
        );
        let pairs = inputs / 2;
        let mut lines = vec![Line([0; SIDE]); outputs / SIDE * pairs];
        let mut row = vec![0; pairs];
        for (column, weights) in weight.chunks_exact(inputs).enumerate() {
            super::round(weights, &mut row);
            for (pair, &weights) in row.iter().enumerate() {
                lines[line(layout, column / SIDE, pair, (pairs, outputs))].0[column % SIDE] = weights;
            }
        }
        Self { pairs, outputs, layout, lines }
    }

    /// Numbers of an input row.
    #[must_use]
    pub fn inputs(&self) -> usize {
        2 * self.pairs
    }

    /// Numbers of an output row.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Elements of an input row.
    pub(crate) fn pairs(&self) -> usize {
        self.pairs
    }

    #[cfg(target_arch = "x86_64")]
    pub(crate) fn layout(&self) -> Layout {
        self.layout
    }

    /// Where the strip of a tile of columns begins, which is the first of its strip.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn strip(&self, tile: usize) -> *const Line {
        debug_assert!(self.layout == Layout::Tiles && tile.is_multiple_of(2));
        self.lines[tile * self.pairs..].as_ptr()
    }

    /// The panels of some columns, each of [`LINES`] lines for every pair of inputs.
    pub(crate) fn panels(&self, columns: Range<usize>) -> impl Iterator<Item = &[Line]> {
        debug_assert_eq!(self.layout, Layout::Panels);
        self.lines[columns.start / SIDE * self.pairs..columns.end / SIDE * self.pairs].chunks_exact(self.pairs * LINES)
    }
}

/// True where this machine has tiles, and the inputs fill them.
fn tiled(inputs: usize) -> bool {
    super::tiles() && inputs.is_multiple_of(2 * SIDE)
}

/// Where the line of a tile of columns and a pair of inputs lies.
fn line(layout: Layout, tile: usize, pair: usize, (pairs, outputs): (usize, usize)) -> usize {
    match layout {
        Layout::Panels => (tile / LINES * pairs + pair) * LINES + tile % LINES,
        Layout::Tiles => {
            let (first, second) = (tile / 2 * 2, tile % 2);
            let wide = (outputs / SIDE - first).min(2);
            first * pairs + (pair / SIDE * wide + second) * SIDE + pair % SIDE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Layout, line};

    #[test]
    fn every_line_has_one_place() {
        for layout in [Layout::Panels, Layout::Tiles] {
            for (pairs, outputs) in [(16, 48), (32, 96), (48, 144)] {
                let of = |tile| (0..pairs).map(move |pair| line(layout, tile, pair, (pairs, outputs)));
                let mut places: Vec<usize> = (0..outputs / 16).flat_map(of).collect();
                places.sort_unstable();
                assert!(places.into_iter().eq(0..outputs / 16 * pairs), "{layout:?}, {pairs} pairs, {outputs} outputs");
            }
        }
        // The second step of a strip of two tiles, and of the last, which has one.
        assert_eq!([0, 1, 2].map(|tile| line(Layout::Tiles, tile, 17, (32, 48))), [33, 49, 81]);
    }
}
