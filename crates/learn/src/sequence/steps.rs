//! What the recurrent layers share: their projected inputs, and the order in which a direction meets the sentences.

use candle_core::{Result, Tensor};

use super::linear::Linear;

/// Directions of a layer that reads both ways: from the first sentence, and from the last.
pub(super) const SIDES: usize = 2;

/// The sentence that a document of `length` sentences shows at a step.
pub(super) fn at(step: usize, length: usize, side: usize) -> usize {
    if side == 0 { step } else { length - 1 - step }
}

/// What a layer's steps read of a batch: `[documents, time, input]` becomes `[documents, time, output]`; `None` where there is no step.
///
/// # Errors
/// Where candle fails, and where `lengths` are not as many as documents, or one exceeds `time`.
pub(super) fn projected(input: &Linear, x: &Tensor, lengths: &[usize]) -> Result<Option<Tensor>> {
    let (documents, time, width) = x.dims3()?;
    if lengths.len() != documents || lengths.iter().any(|&length| length > time) {
        candle_core::bail!("lengths {lengths:?} of a batch of {documents} documents of {time} vectors at most");
    }
    if documents * time == 0 {
        return Ok(None);
    }
    let projected = input.forward(&x.reshape((documents * time, width))?)?;
    let output = projected.dim(1)?;
    projected.reshape((documents, time, output)).map(Some)
}

/// The states of each of `sides` directions beside each other, out of candle's operations: `[documents, time, sides hidden]`. `begin`
/// makes what reads a direction: given the batch at a sentence, `[documents, width]`, and 1 or 0 for each document that has such a
/// sentence or not, `[documents, 1]`, it returns the states, `[documents, hidden]`.
pub(super) fn states<F>(
    projected: &Tensor,
    sides: usize,
    lengths: &[usize],
    begin: impl Fn(usize) -> Result<F>,
) -> Result<Tensor>
where
    F: FnMut(&Tensor, &Tensor) -> Result<Tensor>,
{
    let (_, time, width) = projected.dims3()?;
    let width = width / sides;
    let found = (0..sides).map(|side| {
        let own = projected.narrow(2, side * width, width)?;
        let mut read = begin(side)?;
        let mut steps = Vec::with_capacity(time);
        for step in 0..time {
            let t = at(step, time, side);
            let here = lengths.iter().map(|&length| if t < length { 1f32 } else { 0.0 });
            let here = Tensor::from_iter(here, own.device())?.to_dtype(own.dtype())?.unsqueeze(1)?;
            steps.push(read(&own.narrow(1, t, 1)?.squeeze(1)?, &here)?);
        }
        if side == 1 {
            steps.reverse();
        }
        Tensor::stack(&steps, 1)
    });
    Tensor::cat(&found.collect::<Result<Vec<_>>>()?, 2)
}
