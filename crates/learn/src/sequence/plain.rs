//! The recurrence out of candle's operations, for any device and precision.

use candle_core::{D, Result, Tensor};

use super::gates::GATES;

/// The states of each direction, beside each other: `[documents, time, sides hidden]`. The first of `sides` reads from the
/// first sentence on, the second from the last; each is `[4 hidden, hidden]`. `projected` is `[documents, time, sides 4 hidden]`.
pub(super) fn plain(projected: &Tensor, sides: &[Tensor], lengths: &[usize]) -> Result<Tensor> {
    let (documents, time, _) = projected.dims3()?;
    let (device, kind) = (projected.device(), projected.dtype());
    let mut found = Vec::new();
    for (side, weight) in sides.iter().enumerate() {
        let hidden = weight.dim(1)?;
        let own = projected.narrow(2, side * GATES * hidden, GATES * hidden)?;
        let mut state = Tensor::zeros((documents, hidden), kind, device)?;
        let mut cell = state.clone();
        let mut steps = Vec::new();
        for step in 0..time {
            let t = if side == 0 { step } else { time - 1 - step };
            let here = lengths.iter().map(|&length| if t < length { 1f32 } else { 0.0 });
            let here = Tensor::from_iter(here, device)?.to_dtype(kind)?.unsqueeze(1)?;
            let sums = (own.narrow(1, t, 1)?.squeeze(1)? + state.matmul(&weight.t()?)?)?;
            let gates = sums.chunk(GATES, D::Minus1)?;
            let [i, f, g, o] = gates.as_slice() else { candle_core::bail!("an LSTM without gates") };
            // Where a document has no such sentence, its state is and stays zero.
            cell = ((sigmoid(f)? * &cell)? + (sigmoid(i)? * g.tanh()?)?)?.broadcast_mul(&here)?;
            state = (sigmoid(o)? * cell.tanh()?)?.broadcast_mul(&here)?;
            steps.push(state.clone());
        }
        if side == 1 {
            steps.reverse();
        }
        found.push(Tensor::stack(&steps, 1)?);
    }
    Tensor::cat(&found, 2)
}

fn sigmoid(x: &Tensor) -> Result<Tensor> {
    (x.neg()?.exp()? + 1.0)?.recip()
}
