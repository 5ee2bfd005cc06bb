//! The recurrence of an LSTM out of candle's operations, for any device and precision.

use candle_core::{D, Result, Tensor};

use super::gates::GATES;
use super::steps::states;

/// The states of each direction, beside each other: `[documents, time, sides hidden]`. The first of `sides` reads from the
/// first sentence on, the second from the last; each is `[4 hidden, hidden]`. `projected` is `[documents, time, sides 4 hidden]`.
pub(super) fn plain(projected: &Tensor, sides: &[Tensor], lengths: &[usize]) -> Result<Tensor> {
    states(projected, sides.len(), lengths, |side| {
        let weight = &sides[side];
        let mut state = Tensor::zeros((lengths.len(), weight.dim(1)?), projected.dtype(), projected.device())?;
        let mut cell = state.clone();
        Ok(move |own: &Tensor, here: &Tensor| {
            let sums = (own + state.matmul(&weight.t()?)?)?;
            let gates = sums.chunk(GATES, D::Minus1)?;
            let [i, f, g, o] = gates.as_slice() else { candle_core::bail!("an LSTM without gates") };
            // Where a document has no such sentence, its state is and stays zero.
            cell = ((sigmoid(f)? * &cell)? + (sigmoid(i)? * g.tanh()?)?)?.broadcast_mul(here)?;
            state = (sigmoid(o)? * cell.tanh()?)?.broadcast_mul(here)?;
            Ok(state.clone())
        })
    })
}

pub(super) fn sigmoid(x: &Tensor) -> Result<Tensor> {
    (x.neg()?.exp()? + 1.0)?.recip()
}
