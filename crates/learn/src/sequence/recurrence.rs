use std::sync::Mutex;

use candle_core::{CpuStorage, CustomOp2, CustomOp3, Device, Layout, Result, Shape, Tensor};
use pericope_encode::kernels::{Aligned, Finish, Linear, Precision, ROW_TILE, padded_rows};
use pulp::Arch;
use rayon::prelude::*;

use super::gates::{Backward, Forward, GATES, KEPT};
use super::packing::{Block, ROWS, blocks};
use super::steps::at;

/// The recurrence of an LSTM on a CPU in single precision, with its gradient (backpropagation through time). It has one
/// direction, from the first sentence on, or two: also from the last.
///
/// Its arguments are the projected inputs, `[documents, time, SIDES 4 hidden]` (four gates of the one direction, then those of the
/// other), and the recurrent weights of each direction, `[4 hidden, hidden]`. Its result is `[documents, time, SIDES hidden]`,
/// zero beyond a document's length.
///
/// A block of documents in one direction is read on one thread, and a row of a matrix product is summed in the same order
/// wherever it lies. So the bits depend neither on the number of threads nor on the other documents.
pub(super) struct Recurrence<const SIDES: usize> {
    hidden: usize,
    /// Units in memory: what the kernels take, with units beyond `hidden` that stay zero.
    width: usize,
    time: usize,
    blocks: Vec<Block>,
    /// True where a gradient will be asked for.
    keep: bool,
    kept: Mutex<Option<Vec<Track>>>,
}

/// A block read in one direction.
struct Track {
    /// What the gradient needs, `[total, KEPT, width]`.
    kept: Aligned,
    /// The states, `[total, width]`.
    states: Aligned,
}

impl<const SIDES: usize> Recurrence<SIDES> {
    pub(super) fn new(hidden: usize, time: usize, lengths: &[usize], keep: bool) -> Self {
        // Both products, by the weights and by their transpose, have a whole number of panels.
        let width = (1..).map(|i| i * ROWS).find(|&width| width >= hidden && Linear::fits(width)).unwrap_or(hidden);
        Self { hidden, width, time, blocks: blocks(lengths), keep, kept: Mutex::new(None) }
    }

    /// The tasks, those of one block beside each other: block and side.
    fn tasks(&self) -> Vec<(&Block, usize)> {
        self.blocks.iter().flat_map(|block| (0..SIDES).map(move |side| (block, side))).collect()
    }

    fn forward(&self, projected: &[f32], weights: [&[f32]; SIDES], keep: bool) -> Vec<Track> {
        let weights = weights.map(|weight| self.packed(weight, false));
        let tasks = self.tasks();
        tasks.par_iter().map(|&(block, side)| self.read(block, side, projected, &weights[side], keep)).collect()
    }

    /// Reads a block in one direction.
    fn read(&self, block: &Block, side: usize, projected: &[f32], weight: &Linear, keep: bool) -> Track {
        let Self { hidden, width, .. } = *self;
        let mut states = Aligned::zeros((block.total + ROW_TILE) * width);
        let mut kept = Aligned::zeros(if keep { block.total } else { ROWS } * KEPT * width);
        let mut cells = Aligned::zeros(ROWS * width);
        let mut sums = Aligned::zeros(padded_rows(ROWS) * GATES * width);
        for (step, (&rows, &offset)) in block.active.iter().zip(&block.offsets).enumerate() {
            if let Some(before) = step.checked_sub(1) {
                weight.apply(rows, &states[block.offsets[before] * width..], Finish::Bias, &mut sums);
            }
            for (&(document, length), sums) in block.documents[..rows].iter().zip(sums.chunks_exact_mut(GATES * width))
            {
                let row = document * self.time + at(step, length, side);
                let own = &projected[(row * SIDES + side) * GATES * hidden..][..GATES * hidden];
                for (own, sums) in own.chunks_exact(hidden).zip(sums.chunks_exact_mut(width)) {
                    own.iter().zip(sums).for_each(|(x, sum)| *sum += x);
                }
            }
            Arch::new().dispatch(Forward {
                width,
                sums: &sums[..rows * GATES * width],
                cells: &mut cells[..rows * width],
                kept: &mut kept[if keep { offset } else { 0 } * KEPT * width..][..rows * KEPT * width],
                states: &mut states[offset * width..][..rows * width],
            });
        }
        Track { kept, states }
    }

    /// Puts the states where they belong: `[documents, time, 2 hidden]`.
    fn unpacked(&self, documents: usize, tracks: &[Track]) -> Vec<f32> {
        let Self { hidden, width, time, .. } = *self;
        let mut out = vec![0.0; documents * time * SIDES * hidden];
        for ((block, side), track) in self.tasks().into_iter().zip(tracks) {
            for (step, (&rows, &offset)) in block.active.iter().zip(&block.offsets).enumerate() {
                for (r, &(document, length)) in block.documents[..rows].iter().enumerate() {
                    let row = document * time + at(step, length, side);
                    out[(row * SIDES + side) * hidden..][..hidden]
                        .copy_from_slice(&track.states[(offset + r) * width..][..hidden]);
                }
            }
        }
        out
    }

    /// Goes back over a block: the gradients of the sums before the gates, `[total, 4, width]`.
    fn back(&self, block: &Block, side: usize, gradient: &[f32], track: &Track, weight: &Linear) -> Aligned {
        let Self { hidden, width, .. } = *self;
        let mut sums = Aligned::zeros((block.total + ROW_TILE) * GATES * width);
        let mut cells = Aligned::zeros(ROWS * width);
        let mut states = Aligned::zeros(padded_rows(ROWS) * width);
        for (step, (&rows, &offset)) in block.active.iter().zip(&block.offsets).enumerate().rev() {
            let after = block.active.get(step + 1).copied().unwrap_or(0);
            // Documents that end here have no state after it; the product leaves rubbish there.
            states[after * width..].fill(0.0);
            for (&(document, length), states) in block.documents[..rows].iter().zip(states.chunks_exact_mut(width)) {
                let row = document * self.time + at(step, length, side);
                let own = &gradient[(row * SIDES + side) * hidden..][..hidden];
                own.iter().zip(states).for_each(|(x, sum)| *sum += x);
            }
            Arch::new().dispatch(Backward {
                width,
                kept: &track.kept[offset * KEPT * width..][..rows * KEPT * width],
                states: &states[..rows * width],
                cells: &mut cells[..rows * width],
                sums: &mut sums[offset * GATES * width..][..rows * GATES * width],
            });
            if step > 0 {
                weight.apply(rows, &sums[offset * GATES * width..], Finish::Bias, &mut states);
            }
        }
        sums
    }

    /// The gradient of the projected inputs.
    fn spread(&self, documents: usize, sums: &[Aligned]) -> Vec<f32> {
        let Self { hidden, width, time, .. } = *self;
        let mut out = vec![0.0; documents * time * SIDES * GATES * hidden];
        for ((block, side), sums) in self.tasks().into_iter().zip(sums) {
            for (step, (&rows, &offset)) in block.active.iter().zip(&block.offsets).enumerate() {
                for (r, &(document, length)) in block.documents[..rows].iter().enumerate() {
                    let row = document * time + at(step, length, side);
                    let to = &mut out[(row * SIDES + side) * GATES * hidden..][..GATES * hidden];
                    let from = &sums[(offset + r) * GATES * width..][..GATES * width];
                    for (to, from) in to.chunks_exact_mut(hidden).zip(from.chunks_exact(width)) {
                        to.copy_from_slice(&from[..hidden]);
                    }
                }
            }
        }
        out
    }

    /// The gradient of one direction's weights: over all steps but the first, the product of the sums' gradients with the
    /// states before.
    fn weight(&self, side: usize, tracks: &[Track], sums: &[Aligned]) -> Result<Tensor> {
        let Self { hidden, width, .. } = *self;
        let (mut gradients, mut states) = (Vec::new(), Vec::new());
        for (((block, own), track), sums) in self.tasks().into_iter().zip(tracks).zip(sums) {
            if own != side {
                continue;
            }
            for (pair, &rows) in block.offsets.windows(2).zip(block.active.iter().skip(1)) {
                gradients.extend_from_slice(&sums[pair[1] * GATES * width..][..rows * GATES * width]);
                states.extend_from_slice(&track.states[pair[0] * width..][..rows * width]);
            }
        }
        let rows = states.len() / width;
        if rows == 0 {
            return Tensor::zeros((GATES * hidden, hidden), candle_core::DType::F32, &Device::Cpu);
        }
        let gradients = Tensor::from_vec(gradients, (rows, GATES * width), &Device::Cpu)?;
        let states = Tensor::from_vec(states, (rows, width), &Device::Cpu)?;
        let whole = gradients.t()?.matmul(&states)?.reshape((GATES, width, width))?;
        whole.narrow(1, 0, hidden)?.narrow(2, 0, hidden)?.contiguous()?.reshape((GATES * hidden, hidden))
    }

    /// Weights `[4 hidden, hidden]` as the kernel takes them, or their transpose.
    fn packed(&self, weight: &[f32], transposed: bool) -> Linear {
        let Self { hidden, width, .. } = *self;
        let (rows, columns) = if transposed { (width, GATES * width) } else { (GATES * width, width) };
        let mut wide = vec![0.0; GATES * width * width];
        for (row, numbers) in weight.chunks_exact(hidden).enumerate() {
            let row = row / hidden * width + row % hidden;
            for (column, &number) in numbers.iter().enumerate() {
                wide[if transposed { column * columns + row } else { row * columns + column }] = number;
            }
        }
        Linear::new(&wide, &vec![0.0; rows], columns, Precision::Single)
    }
}

impl<const SIDES: usize> Recurrence<SIDES> {
    fn states(
        &self,
        projected: (&CpuStorage, &Layout),
        weights: [(&CpuStorage, &Layout); SIDES],
    ) -> Result<(CpuStorage, Shape)> {
        let documents = projected.1.shape().dims3()?.0;
        let mut sides: [&[f32]; SIDES] = [&[]; SIDES];
        for (side, (storage, layout)) in sides.iter_mut().zip(weights) {
            *side = numbers(storage, layout)?;
        }
        let tracks = self.forward(numbers(projected.0, projected.1)?, sides, self.keep);
        let out = self.unpacked(documents, &tracks);
        if self.keep
            && let Ok(mut kept) = self.kept.lock()
        {
            *kept = Some(tracks);
        }
        Ok((CpuStorage::F32(out), Shape::from((documents, self.time, SIDES * self.hidden))))
    }

    /// The gradients of the projected inputs and of each direction's weights.
    fn gradients(
        &self,
        projected: &Tensor,
        weights: [&Tensor; SIDES],
        gradient: &Tensor,
    ) -> Result<(Tensor, [Result<Tensor>; SIDES])> {
        let flat = |tensor: &Tensor| tensor.flatten_all()?.to_vec1::<f32>();
        let mut sides: [Vec<f32>; SIDES] = std::array::from_fn(|_| Vec::new());
        for (side, weight) in sides.iter_mut().zip(weights) {
            *side = flat(weight)?;
        }
        let kept = self.kept.lock().ok().and_then(|mut kept| kept.take());
        let tracks = match kept {
            Some(tracks) => tracks,
            None => self.forward(&flat(projected)?, sides.each_ref().map(Vec::as_slice), true),
        };
        let gradient = flat(gradient)?;
        let packed = sides.map(|weight| self.packed(&weight, true));
        let tasks = self.tasks();
        let sums: Vec<Aligned> = (tasks.par_iter().zip(&tracks))
            .map(|(&(block, side), track)| self.back(block, side, &gradient, track, &packed[side]))
            .collect();
        let inputs = Tensor::from_vec(self.spread(projected.dim(0)?, &sums), projected.shape(), &Device::Cpu)?;
        Ok((inputs, std::array::from_fn(|side| self.weight(side, &tracks, &sums))))
    }
}

impl CustomOp2 for Recurrence<1> {
    fn name(&self) -> &'static str {
        "lstm-one-way"
    }

    fn cpu_fwd(
        &self,
        projected: &CpuStorage,
        layout: &Layout,
        weight: &CpuStorage,
        weight_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        self.states((projected, layout), [(weight, weight_layout)])
    }

    fn bwd(
        &self,
        projected: &Tensor,
        weight: &Tensor,
        _: &Tensor,
        gradient: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>)> {
        let (inputs, [weight]) = self.gradients(projected, [weight], gradient)?;
        Ok((Some(inputs), Some(weight?)))
    }
}

impl CustomOp3 for Recurrence<2> {
    fn name(&self) -> &'static str {
        "lstm"
    }

    fn cpu_fwd(
        &self,
        projected: &CpuStorage,
        layout: &Layout,
        forward: &CpuStorage,
        forward_layout: &Layout,
        backward: &CpuStorage,
        backward_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        self.states((projected, layout), [(forward, forward_layout), (backward, backward_layout)])
    }

    fn bwd(
        &self,
        projected: &Tensor,
        forward: &Tensor,
        backward: &Tensor,
        _: &Tensor,
        gradient: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let (inputs, [forward, backward]) = self.gradients(projected, [forward, backward], gradient)?;
        Ok((Some(inputs), Some(forward?), Some(backward?)))
    }
}

fn numbers<'a>(storage: &'a CpuStorage, layout: &Layout) -> Result<&'a [f32]> {
    match (storage, layout.contiguous_offsets()) {
        (CpuStorage::F32(numbers), Some((start, end))) => Ok(&numbers[start..end]),
        _ => Err(candle_core::Error::Msg("lstm: its arguments are contiguous and in single precision".into())),
    }
}
