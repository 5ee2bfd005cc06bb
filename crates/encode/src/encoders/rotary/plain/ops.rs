use std::ops::Range;

use candle_core::{D, Device, Result, Tensor};

use crate::encoders::layers::{HIDDEN, join, softmax};
use crate::encoders::weights::Tensors;
use crate::kernels::Reach;
use crate::models::ModelError;

type Loaded<T> = std::result::Result<T, ModelError>;

/// Rows of a sequence whose attention is worked out together.
const BLOCK: usize = 256;

/// Reads the parts of a model by the names of their tensors.
pub struct Parts<'a> {
    pub weights: &'a dyn Tensors,
    pub device: &'a Device,
}

/// A product without a bias; `[inputs, outputs]`.
pub struct Linear(Tensor);

/// Scales rows by their spread, around their mean or around 0.
pub struct Norm {
    gain: Tensor,
    shift: Option<Tensor>,
    epsilon: f64,
    centred: bool,
}

/// Cosines and sines of the places of tokens, each `[tokens, 1, head / 2]`.
pub struct Rotation {
    cos: Tensor,
    sin: Tensor,
}

impl Parts<'_> {
    /// The table of words.
    pub fn table(&self, name: &str, rows: usize, hidden: usize) -> Loaded<Tensor> {
        self.weights.tensor(name, &[rows, hidden], self.device)
    }

    pub fn linear(&self, name: &str, inputs: usize, outputs: usize) -> Loaded<Linear> {
        let weight = self.weights.tensor(name, &[outputs, inputs], self.device)?;
        let turned = weight.t().map_err(|e| self.weights.unusable(format!("tensor {name}: {e}")))?;
        Ok(Linear(turned))
    }

    /// A layer norm without a shift.
    pub fn layer_norm(&self, name: &str, size: usize, epsilon: f64) -> Loaded<Norm> {
        Ok(Norm { gain: self.weights.tensor(name, &[size], self.device)?, shift: None, epsilon, centred: true })
    }

    /// A layer norm with its shift: `name.weight` and `name.bias`.
    pub fn shifted_norm(&self, name: &str, size: usize, epsilon: f64) -> Loaded<Norm> {
        let shift = self.weights.tensor(&format!("{name}.bias"), &[size], self.device)?;
        Ok(Norm { shift: Some(shift), ..self.layer_norm(&format!("{name}.weight"), size, epsilon)? })
    }

    /// A norm by the root of the mean square (Zhang and Sennrich 2019, arXiv:1910.07467).
    pub fn rms_norm(&self, name: &str, size: usize, epsilon: f64) -> Loaded<Norm> {
        Ok(Norm { gain: self.weights.tensor(name, &[size], self.device)?, shift: None, epsilon, centred: false })
    }
}

impl Linear {
    /// `[rows, inputs]` to `[rows, outputs]`.
    pub fn apply(&self, x: &Tensor) -> Result<Tensor> {
        x.matmul(&self.0)
    }
}

impl Norm {
    /// The same shape, its last dimension normalised.
    pub fn apply(&self, x: &Tensor) -> Result<Tensor> {
        let off = if self.centred { x.broadcast_sub(&x.mean_keepdim(D::Minus1)?)? } else { x.clone() };
        let spread = (off.sqr()?.mean_keepdim(D::Minus1)? + self.epsilon)?.sqrt()?;
        let scaled = off.broadcast_div(&spread)?.broadcast_mul(&self.gain)?;
        match &self.shift {
            Some(shift) => scaled.broadcast_add(shift),
            None => Ok(scaled),
        }
    }
}

impl Rotation {
    /// The angles of all tokens of a batch: place times `base` to the power of minus twice the index over the head's size.
    pub fn new(sequences: &[Range<usize>], head: usize, base: f64, device: &Device) -> Result<Self> {
        let half = head / 2;
        // In single precision, as the models were trained.
        let steps: Vec<f32> = (0..half).map(|i| 1.0 / (base as f32).powf(2.0 * i as f32 / head as f32)).collect();
        let places = sequences.iter().flat_map(|range| 0..range.len());
        let angles: Vec<f32> = places.flat_map(|place| steps.iter().map(move |step| place as f32 * step)).collect();
        let tokens = sequences.iter().map(ExactSizeIterator::len).sum::<usize>();
        let angles = Tensor::from_vec(angles, (tokens, 1, half), device)?;
        Ok(Self { cos: angles.cos()?, sin: angles.sin()? })
    }

    /// Turns the halves of each head against each other, `[tokens, heads, head]`.
    pub fn apply(&self, x: &Tensor) -> Result<Tensor> {
        let half = x.dim(2)? / 2;
        let (a, b) = (x.narrow(2, 0, half)?, x.narrow(2, half, half)?);
        let first = (a.broadcast_mul(&self.cos)? - b.broadcast_mul(&self.sin)?)?;
        let second = (b.broadcast_mul(&self.cos)? + a.broadcast_mul(&self.sin)?)?;
        Tensor::cat(&[first, second], 2)
    }
}

/// Scaled dot-product attention inside each sequence, `[tokens, heads, head]` three times to `[tokens, heads * head]`. There
/// may be fewer heads of keys and values: each serves as many heads of queries that follow each other.
pub fn attend(
    (query, key, value): (&Tensor, &Tensor, &Tensor),
    sequences: &[Range<usize>],
    reach: Reach,
) -> Result<Tensor> {
    let mut found = Vec::with_capacity(sequences.len());
    for range in sequences {
        let of = |x: &Tensor| x.narrow(0, range.start, range.len())?.transpose(0, 1)?.contiguous();
        let (query, key, value) = (of(query)?, of(key)?, of(value)?);
        let times = query.dim(0)? / key.dim(0)?.max(1);
        let (key, value) = (repeat(&key, times)?, repeat(&value, times)?);
        for first in (0..range.len()).step_by(BLOCK) {
            found.push(block(&query, &key, &value, first..(first + BLOCK).min(range.len()), reach)?);
        }
    }
    Tensor::cat(&found, 0)
}

/// [`attend`] of queries, keys and values that one product gave, `[tokens, 3 * heads * head]`: queries and keys are turned first.
pub fn attend_joined(
    joined: &Tensor,
    (heads, head): (usize, usize),
    rotation: &Rotation,
    sequences: &[Range<usize>],
    reach: Reach,
) -> Result<Tensor> {
    let parts = joined.reshape((joined.dim(0)?, 3, heads, head))?;
    let part = |i: usize| parts.narrow(1, i, 1)?.squeeze(1);
    let (query, key) = (rotation.apply(&part(0)?)?, rotation.apply(&part(1)?)?);
    attend((&query, &key, &part(2)?), sequences, reach)
}

/// The context of some rows of a sequence, `[rows, heads * head]`.
fn block(query: &Tensor, key: &Tensor, value: &Tensor, rows: Range<usize>, reach: Reach) -> Result<Tensor> {
    let (_, length, head) = query.dims3()?;
    let seen = reach.of(rows.start, length).start..reach.of(rows.end - 1, length).end;
    let part = |x: &Tensor, range: &Range<usize>| x.narrow(1, range.start, range.len())?.contiguous();
    let query = (part(query, &rows)? * (head as f64).sqrt().recip())?;
    let mut scores = query.matmul(&part(key, &seen)?.t()?)?;
    let sees = |i: usize, j: usize| reach.of(i, length).contains(&j);
    if reach != Reach::All {
        let mask: Vec<f32> = rows
            .clone()
            .flat_map(|i| seen.clone().map(move |j| (i, j)))
            .map(|(i, j)| if sees(i, j) { 0.0 } else { HIDDEN as f32 })
            .collect();
        scores = scores.broadcast_add(&Tensor::from_vec(mask, (1, rows.len(), seen.len()), scores.device())?)?;
    }
    join(&softmax(&scores)?.matmul(&part(value, &seen)?)?.unsqueeze(0)?)?.squeeze(0)
}

/// Each head `times` times, one after the other.
fn repeat(x: &Tensor, times: usize) -> Result<Tensor> {
    if times <= 1 {
        return Ok(x.clone());
    }
    let (heads, length, head) = x.dims3()?;
    x.unsqueeze(1)?.expand((heads, times, length, head))?.reshape((heads * times, length, head))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn waves(shape: (usize, usize, usize), seed: f32) -> Tensor {
        let numbers: Vec<f32> = (0..shape.0 * shape.1 * shape.2).map(|i| (i as f32 * 0.37 + seed).sin()).collect();
        Tensor::from_vec(numbers, shape, &Device::Cpu).unwrap()
    }

    /// Attention of every pair, straight from the definition.
    fn plain(query: &Tensor, key: &Tensor, value: &Tensor, range: &Range<usize>, reach: Reach) -> Vec<f32> {
        let of = |x: &Tensor| x.to_vec3::<f32>().unwrap();
        let (query, key, value) = (of(query), of(key), of(value));
        let heads = query[0].len();
        let times = heads / key[0].len();
        let mut found = Vec::new();
        for i in range.clone() {
            for h in 0..heads {
                let own = |x: &Vec<Vec<Vec<f32>>>, j: usize| x[j][h / times].clone();
                let seen = reach.of(i - range.start, range.len());
                let seen: Vec<usize> = seen.map(|j| range.start + j).collect();
                let root = (query[i][h].len() as f32).sqrt();
                let score = |j: usize| own(&key, j).iter().zip(&query[i][h]).map(|(a, b)| a * b).sum::<f32>() / root;
                let shares: Vec<f32> = seen.iter().map(|&j| score(j).exp()).collect();
                let sum: f32 = shares.iter().sum();
                for d in 0..query[i][h].len() {
                    found.push(seen.iter().zip(&shares).map(|(&j, share)| share / sum * own(&value, j)[d]).sum());
                }
            }
        }
        found
    }

    #[test]
    fn attention_in_blocks_agrees_with_the_definition() {
        let tokens = BLOCK + 50;
        let sequences = [0..3, 3..tokens];
        let (query, key, value) = (waves((tokens, 4, 4), 0.1), waves((tokens, 2, 4), 1.7), waves((tokens, 2, 4), 0.9));
        for reach in [Reach::All, Reach::Around(5), Reach::Before] {
            let got = attend((&query, &key, &value), &sequences, reach).unwrap();
            assert_eq!(got.dims(), [tokens, 16]);
            let got: Vec<f32> = got.flatten_all().unwrap().to_vec1().unwrap();
            let want: Vec<f32> = sequences.iter().flat_map(|range| plain(&query, &key, &value, range, reach)).collect();
            let off = got.iter().zip(&want).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(got.len() == want.len() && off < 1e-5, "{reach:?}: {off}");
        }
    }
}
