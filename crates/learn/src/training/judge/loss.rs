use candle_core::{D, DType, Device, Tensor};
use pericope_encode::encoders::{Embed, LayerByLayer};

use super::sample::Sample;
use crate::cogltx::{DENSE, SCORE, SPAN};
use crate::training::frozen;
use crate::training::gradients::cross_entropy;
use crate::training::options::TrainError;
use crate::training::variables::Variables;

/// The loss of samples: what the judge says of their tokens, and the reasoner of their answers' ends.
pub(super) struct Loss<'a> {
    pub(super) heads: Heads,
    /// The frozen layers, in optimised kernels; none where all are trained.
    pub(super) lower: Option<&'a dyn Embed>,
    /// The number of frozen layers, and of all.
    pub(super) layers: (usize, usize),
    pub(super) hidden: usize,
    pub(super) span_weight: f64,
    pub(super) device: &'a Device,
}

/// The weights of the heads, `[outputs, hidden]`, and their biases, `[outputs]`: variables, which are stepped here too.
pub(super) struct Heads {
    dense: (Tensor, Tensor),
    score: (Tensor, Tensor),
    span: (Tensor, Tensor),
}

impl Heads {
    /// Those of `variables`: made where they are not there, of zeros to begin with, or the identity for a hidden layer, which would
    /// never get a gradient otherwise.
    pub(super) fn of(variables: &Variables<'_>, hidden: usize, device: &Device) -> Result<Self, TrainError> {
        let head = |name: &str, outputs: usize| -> Result<(Tensor, Tensor), TrainError> {
            let weight = variables.inherited(&format!("{name}.weight"), &[outputs, hidden], || {
                if name == DENSE {
                    return Tensor::eye(hidden, DType::F32, device);
                }
                Tensor::zeros((outputs, hidden), DType::F32, device)
            })?;
            Ok((weight, variables.zeros(&format!("{name}.bias"), &[outputs])?))
        };
        Ok(Self { dense: head(DENSE, hidden)?, score: head(SCORE, 1)?, span: head(SPAN, 2)? })
    }
}

/// What the sums of a step are divided by.
#[derive(Clone, Copy)]
pub(super) struct Counts {
    pub(super) tokens: usize,
    pub(super) ends: usize,
}

impl Counts {
    pub(super) fn of(samples: &[Sample]) -> Self {
        let ends = samples.iter().map(|sample| sample.ends.iter().flatten().count()).sum();
        Self { tokens: samples.iter().map(|sample| sample.sequence.ids.len()).sum(), ends }
    }
}

impl Loss<'_> {
    /// The cross-entropy of all tokens' relevance, over `counts.tokens`, and that of the answers' ends among the tokens of blocks, over
    /// `counts.ends` and by weight.
    pub(super) fn of(
        &self,
        encoder: &dyn LayerByLayer,
        samples: &[Sample],
        counts: Counts,
    ) -> Result<Tensor, TrainError> {
        let x = self.rows(encoder, samples)?;
        let (_, longest, hidden) = x.dims3()?;
        let mut places = Vec::with_capacity(counts.tokens);
        let mut classes = Vec::with_capacity(counts.tokens);
        for (row, sample) in samples.iter().enumerate() {
            let labels = sample.labels();
            places.extend((0..labels.len()).map(|at| (row * longest + at) as u32));
            classes.extend(labels.into_iter().map(usize::from));
        }
        let count = places.len();
        let places = Tensor::from_vec(places, count, self.device)?;
        let Heads { dense, score, span } = &self.heads;
        let read = x.reshape(((), hidden))?.index_select(&places, 0)?;
        let inner = read.matmul(&dense.0.t()?)?.broadcast_add(&dense.1)?.tanh()?;
        let logits = inner.matmul(&score.0.t()?)?.broadcast_add(&score.1)?;
        // The sigmoid of one logit is the softmax of it and 0.
        let logits = Tensor::cat(&[&logits.zeros_like()?, &logits], D::Minus1)?;
        let mut loss = (cross_entropy(&logits, &classes)? / counts.tokens.max(1) as f64)?;
        let scale = self.span_weight / counts.ends.max(1) as f64;
        for (row, sample) in samples.iter().enumerate().filter(|(_, sample)| sample.ends != [None; 2]) {
            let Some(first) = sample.sequence.blocks.first().map(|places| places.start) else { continue };
            let own = x.get(row)?.narrow(0, first, sample.sequence.ids.len() - first)?.contiguous()?;
            let logits = own.matmul(&span.0.t()?)?.broadcast_add(&span.1)?.t()?.contiguous()?;
            for (i, place) in sample.ends.iter().enumerate() {
                let Some(place) = place else { continue };
                loss = (loss + (cross_entropy(&logits.narrow(0, i, 1)?, &[place - first])? * scale)?)?;
            }
        }
        Ok(loss)
    }

    /// The last hidden states, `[samples, longest, hidden]`.
    fn rows(&self, encoder: &dyn LayerByLayer, samples: &[Sample]) -> Result<Tensor, TrainError> {
        let ids: Vec<&[u32]> = samples.iter().map(|sample| sample.sequence.ids.as_slice()).collect();
        let (frozen, all) = self.layers;
        let Some(lower) = self.lower else {
            let (x, mask) = encoder.embed_tokens(&ids)?;
            return Ok(encoder.run_layers(&x, &mask, 0..all)?);
        };
        let longest = ids.iter().map(|ids| ids.len()).max().unwrap_or(0);
        let mut rows = Vec::with_capacity(ids.len() * longest * self.hidden);
        for mut own in frozen::run(lower, &ids, self.hidden)? {
            own.resize(longest * self.hidden, 0.0);
            rows.append(&mut own);
        }
        let x = Tensor::from_vec(rows, (ids.len(), longest, self.hidden), self.device)?;
        let mask = ids.iter().flat_map(|ids| (0..longest).map(|at| if at < ids.len() { 1f32 } else { 0.0 }));
        let mask = Tensor::from_iter(mask, self.device)?.reshape((ids.len(), longest))?;
        Ok(encoder.run_layers(&x, &mask, frozen..all)?)
    }
}
