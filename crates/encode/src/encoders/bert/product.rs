use std::collections::{BTreeMap, HashMap};

use candle_core::Tensor;

use crate::encoders::low_rank;
use crate::encoders::weights::{Tensors, tensor_among};
use crate::kernels::{Finish, Linear, Precision, ROW_TILE, outer_sums, padded_rows};
use crate::models::ModelError;

/// Gradients by the names of tensors, with their shapes.
pub(super) type Found = BTreeMap<String, (Vec<f32>, [usize; 2])>;

/// A matrix as it was before changes.
pub(super) struct Matrix {
    /// The names of A and B.
    names: (String, String),
    inputs: usize,
    outputs: usize,
    weight: Vec<f32>,
    bias: Vec<f32>,
}

impl Matrix {
    /// Reads `NAME.weight` and `NAME.bias`.
    pub(super) fn read(name: &str, weights: &dyn Tensors, inputs: usize, outputs: usize) -> Result<Self, ModelError> {
        let full = format!("{name}.weight");
        let weight = weights.numbers(&full, &[outputs, inputs])?;
        let names = low_rank::names(&full).unwrap_or_default();
        let bias = weights.numbers(&format!("{name}.bias"), &[outputs])?;
        Ok(Self { names, inputs, outputs, weight, bias })
    }
}

/// A fully connected layer of one or several matrices of one shape, whose outputs lie side by side, each with a change of low rank.
pub(super) struct Product {
    matrices: Vec<Matrix>,
    precision: Precision,
    /// The sums W + B A.
    sums: Linear,
    /// The same transposed.
    back: Linear,
    changes: Option<Changes>,
}

/// The changes of a product's matrices.
struct Changes {
    rank: usize,
    /// All As, one below the other, and zeros up to whole panels.
    a: Linear,
    /// Each B transposed, and zeros up to whole panels.
    b: Vec<Linear>,
}

impl Product {
    pub(super) fn new(matrices: Vec<Matrix>, precision: Precision) -> Self {
        let weights: Vec<&[f32]> = matrices.iter().map(|matrix| matrix.weight.as_slice()).collect();
        let (sums, back) = packed(&matrices, &weights.concat(), precision);
        Self { matrices, precision, sums, back, changes: None }
    }

    /// Takes the changes of its matrices among `changes`, or none where there are none.
    pub(super) fn set(&mut self, changes: &HashMap<String, Tensor>) -> candle_core::Result<()> {
        let (inputs, outputs) = self.shape();
        let of = |name: &str, shape: &[usize]| -> candle_core::Result<Vec<f32>> {
            let found = tensor_among(changes, name, shape, &candle_core::Device::Cpu);
            found.map_err(candle_core::Error::msg)?.flatten_all()?.to_vec1()
        };
        let is_changed = |Matrix { names: (a, b), .. }: &Matrix| changes.contains_key(a) || changes.contains_key(b);
        if !self.matrices.iter().any(is_changed) {
            *self = Self::new(std::mem::take(&mut self.matrices), self.precision);
            return Ok(());
        }
        let first = self.matrices.first();
        let rank = first.and_then(|first| changes.get(&first.names.0)?.dims().first().copied()).unwrap_or(0);
        let (mut all, mut stacked, mut turned) = (Vec::new(), Vec::new(), Vec::new());
        for matrix in &self.matrices {
            let (a, b) = &matrix.names;
            let (a, b) = (of(a, &[rank, inputs])?, of(b, &[outputs, rank])?);
            for (row, b) in matrix.weight.chunks_exact(inputs).zip(b.chunks_exact(rank)) {
                let from = all.len();
                all.extend_from_slice(row);
                for (&share, a) in b.iter().zip(a.chunks_exact(inputs)) {
                    all[from..].iter_mut().zip(a).for_each(|(sum, a)| *sum += share * a);
                }
            }
            stacked.extend(a);
            turned.push(transposed(&b, rank));
        }
        (self.sums, self.back) = packed(&self.matrices, &all, self.precision);
        let narrow = |mut rows: Vec<f32>, width: usize| {
            let many = (rows.len() / width).next_multiple_of(Linear::MULTIPLE);
            rows.resize(many * width, 0.0);
            Linear::new(&rows, &vec![0.0; many], width, self.precision)
        };
        let b = turned.into_iter().map(|b| narrow(b, outputs)).collect();
        self.changes = Some(Changes { rank, a: narrow(stacked, inputs), b });
        Ok(())
    }

    /// Numbers of an input row, and of an output row of one matrix.
    fn shape(&self) -> (usize, usize) {
        self.matrices.first().map_or((0, 0), |matrix| (matrix.inputs, matrix.outputs))
    }

    /// As [`Linear::apply`].
    pub(super) fn apply(&self, rows: usize, x: &[f32], finish: Finish<'_>, out: &mut [f32]) {
        self.sums.apply(rows, x, finish, out);
    }

    /// The gradient by the input, where `d` is that by the output; `more` is added to it.
    pub(super) fn back(&self, rows: usize, d: &[f32], more: Option<&[f32]>, out: &mut [f32]) {
        self.back.apply(rows, d, more.map_or(Finish::Bias, Finish::Add), out);
    }

    /// Adds the gradients by the changes, where `x` is the input and `d` the gradient by the output, both with room for
    /// [`padded_rows`].
    pub(super) fn gradients(&self, rows: usize, x: &[f32], d: &[f32], found: &mut Found) -> candle_core::Result<()> {
        let Some(Changes { rank, a, b }) = &self.changes else { return Ok(()) };
        let (rank, (inputs, outputs)) = (*rank, self.shape());
        let padded = padded_rows(rows);
        let mut by_a = vec![0.0; padded * a.outputs()];
        a.apply(rows, x, Finish::Bias, &mut by_a);
        let side = self.matrices.len() * outputs;
        let mut own = Vec::new();
        for (i, (matrix, b)) in self.matrices.iter().zip(b).enumerate() {
            // Its part of `d`, in one piece.
            let d = if self.matrices.len() == 1 {
                d
            } else {
                own.clear();
                let part = |row: &[f32]| row.get(i * outputs..(i + 1) * outputs).map(<[f32]>::to_vec);
                own.extend(d.chunks_exact(side).take(padded).filter_map(part).flatten());
                own.as_slice()
            };
            let mut by_b = vec![0.0; padded * b.outputs()];
            b.apply(rows, d, Finish::Bias, &mut by_b);
            // For B: what A made of the input, by the gradient; for A: what B makes of the gradient, by the input.
            let of_b = sums(&by_a, a.outputs(), i * rank..(i + 1) * rank, rows, d, outputs);
            let of_a = sums(&by_b, b.outputs(), 0..rank, rows, x, inputs);
            let (a, b) = matrix.names.clone();
            found.insert(a, (of_a, [rank, inputs]));
            found.insert(b, (transposed(&of_b, outputs), [outputs, rank]));
        }
        Ok(())
    }
}

/// The sums over rows of the products of `columns` of `narrow`, `width` numbers a row, with `x`: a row for each column.
fn sums(
    narrow: &[f32],
    width: usize,
    columns: std::ops::Range<usize>,
    rows: usize,
    x: &[f32],
    inputs: usize,
) -> Vec<f32> {
    let many = columns.len();
    let tiled = many.next_multiple_of(ROW_TILE);
    let mut turned = vec![0.0; tiled * rows];
    for (t, row) in narrow.chunks_exact(width).take(rows).enumerate() {
        for (i, &number) in row[columns.clone()].iter().enumerate() {
            turned[i * rows + t] = number;
        }
    }
    let mut out = vec![0.0; tiled * inputs];
    outer_sums(&turned, rows, &x[..rows * inputs], inputs, &mut out);
    out.truncate(many * inputs);
    out
}

/// The matrices one below the other, `weights`, packed for both ways.
fn packed(matrices: &[Matrix], weights: &[f32], precision: Precision) -> (Linear, Linear) {
    let inputs = matrices.first().map_or(0, |matrix| matrix.inputs);
    let biases: Vec<&[f32]> = matrices.iter().map(|matrix| matrix.bias.as_slice()).collect();
    let forward = Linear::new(weights, &biases.concat(), inputs, precision);
    let turned = transposed(weights, inputs);
    (forward, Linear::new(&turned, &vec![0.0; inputs], weights.len() / inputs.max(1), precision))
}

/// The transpose of a matrix of `columns` columns.
fn transposed(matrix: &[f32], columns: usize) -> Vec<f32> {
    let rows = matrix.len() / columns.max(1);
    let mut turned = vec![0.0; matrix.len()];
    for (r, row) in matrix.chunks_exact(columns.max(1)).enumerate() {
        for (c, &number) in row.iter().enumerate() {
            turned[c * rows + r] = number;
        }
    }
    turned
}
