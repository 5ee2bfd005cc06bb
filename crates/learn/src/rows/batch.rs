use std::ops::Range;

use candle_core::{Device, Tensor};

use super::cues::CUES;
use super::inputs::Inputs;

/// Parts of documents as a batch `[parts, time, width]`, filled up with zeros, and their lengths.
pub(crate) fn batch(parts: &[(&Inputs, Range<usize>)], device: &Device) -> candle_core::Result<(Tensor, Vec<usize>)> {
    let lengths: Vec<usize> = parts.iter().map(|(_, range)| range.len()).collect();
    let width = parts.first().map_or(0, |(inputs, _)| inputs.width());
    let (rows, time) = filled(parts, width, Inputs::rows);
    Ok((Tensor::from_vec(rows, (parts.len(), time, width), device)?, lengths))
}

/// The cues of parts of documents as a batch of indices `[parts, time, CUES]`, filled up with zeros.
pub(crate) fn cue_batch(parts: &[(&Inputs, Range<usize>)], device: &Device) -> candle_core::Result<Tensor> {
    if parts.iter().any(|(inputs, range)| inputs.cues().len() < range.end) {
        candle_core::bail!("the model reads cues, and the inputs were made without them");
    }
    let (cues, time) = filled(parts, CUES, |inputs| inputs.cues().as_flattened());
    Tensor::from_vec(cues, (parts.len(), time, CUES), device)
}

/// `width` values a sentence of each part, as many as the longest has, and the sentences of that.
fn filled<T: Copy + Default>(
    parts: &[(&Inputs, Range<usize>)],
    width: usize,
    of: impl Fn(&Inputs) -> &[T],
) -> (Vec<T>, usize) {
    let time = parts.iter().map(|(_, range)| range.len()).max().unwrap_or(0);
    let mut all = vec![T::default(); parts.len() * time * width];
    for (into, (inputs, range)) in all.chunks_exact_mut((time * width).max(1)).zip(parts) {
        let own = of(inputs).get(range.start * width..range.end * width).unwrap_or_default();
        if let Some(into) = into.get_mut(..own.len()) {
            into.copy_from_slice(own);
        }
    }
    (all, time)
}
