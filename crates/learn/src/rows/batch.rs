use std::ops::Range;

use candle_core::{Device, Tensor};

use super::cues::CUES;
use super::inputs::Inputs;

/// Parts of documents as a batch `[parts, time, width]`, filled up with zeros, and their lengths.
pub(crate) fn batch(parts: &[(&Inputs, Range<usize>)], device: &Device) -> candle_core::Result<(Tensor, Vec<usize>)> {
    let lengths: Vec<usize> = parts.iter().map(|(_, range)| range.len()).collect();
    let time = lengths.iter().copied().max().unwrap_or(0);
    let width = parts.first().map_or(0, |(inputs, _)| inputs.width());
    let mut rows = vec![0f32; parts.len() * time * width];
    for (into, (inputs, range)) in rows.chunks_exact_mut((time * width).max(1)).zip(parts) {
        let own = inputs.rows().get(range.start * width..range.end * width).unwrap_or_default();
        if let Some(into) = into.get_mut(..own.len()) {
            into.copy_from_slice(own);
        }
    }
    Ok((Tensor::from_vec(rows, (parts.len(), time, width), device)?, lengths))
}

/// The cues of parts of documents as a batch of indices `[parts, time, CUES]`, filled up with zeros.
pub(crate) fn cue_batch(parts: &[(&Inputs, Range<usize>)], device: &Device) -> candle_core::Result<Tensor> {
    let time = parts.iter().map(|(_, range)| range.len()).max().unwrap_or(0);
    let mut cues = vec![[0u32; CUES]; parts.len() * time];
    for (into, (inputs, range)) in cues.chunks_exact_mut(time.max(1)).zip(parts) {
        into.iter_mut().zip(inputs.cues().get(range.clone()).unwrap_or_default()).for_each(|(into, own)| *into = *own);
    }
    Tensor::from_vec(cues.into_flattened(), (parts.len(), time, CUES), device)
}
