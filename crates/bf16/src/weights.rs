use super::COLUMNS;

/// A cache line of weights, and a vector of the processor: 16 columns of a pair of inputs.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Line(pub(crate) [u32; 16]);

/// Lines of a panel for each pair of inputs.
pub(crate) const LINES: usize = COLUMNS / 16;

/// A matrix of weights in bfloat16, packed for [`product`](super::product).
#[derive(Debug)]
pub struct Weights {
    pairs: usize,
    outputs: usize,
    /// `outputs / COLUMNS` panels; each holds, for every pair of inputs, the two weights of each of its columns.
    lines: Vec<Line>,
}

impl Weights {
    /// Rounds and packs `weight`: rows of `inputs` numbers, one for each output.
    ///
    /// # Panics
    /// Where `inputs` is odd or zero, or the number of outputs is no multiple of [`COLUMNS`].
    #[must_use]
    pub fn new(weight: &[f32], inputs: usize) -> Self {
        assert!(inputs > 0 && inputs.is_multiple_of(2), "{inputs} inputs are no pairs");
        let outputs = weight.len() / inputs;
        assert_eq!(weight.len(), inputs * outputs, "a weight matrix of another shape");
        assert!(outputs.is_multiple_of(COLUMNS), "{outputs} outputs are no whole number of panels");
        let pairs = inputs / 2;
        let mut lines = vec![Line([0; 16]); outputs / 16 * pairs];
        let mut row = vec![0; pairs];
        for (column, weights) in weight.chunks_exact(inputs).enumerate() {
            super::round(weights, &mut row);
            let (panel, within) = (column / COLUMNS, column % COLUMNS);
            let panel = &mut lines[panel * pairs * LINES..][..pairs * LINES];
            for (lines, &pair) in panel.chunks_exact_mut(LINES).zip(&row) {
                lines[within / 16].0[within % 16] = pair;
            }
        }
        Self { pairs, outputs, lines }
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

    /// Where the lines begin.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn as_ptr(&self) -> *const Line {
        self.lines.as_ptr()
    }

    /// The panels, each of [`LINES`] lines for every pair of inputs.
    pub(crate) fn panels(&self) -> impl Iterator<Item = &[Line]> {
        self.lines.chunks_exact(self.pairs * LINES)
    }
}
