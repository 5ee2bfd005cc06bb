use std::collections::BTreeMap;

use candle_core::backprop::GradStore;
use candle_core::{D, Tensor, Var};

use super::adamw::AdamW;
use super::options::{Options, TrainError};
use super::variables::Variables;

/// The gradients of a step by variable, added up over its micro-batches.
#[derive(Default)]
pub(super) struct Gradients(BTreeMap<String, Tensor>);

impl Gradients {
    /// Adds those of a loss.
    pub(super) fn add(&mut self, loss: &Tensor, variables: &Variables<'_>) -> candle_core::Result<()> {
        self.add_by(loss, &variables.all())
    }

    /// Adds those of a loss by these variables.
    pub(super) fn add_by(&mut self, loss: &Tensor, variables: &BTreeMap<String, Var>) -> candle_core::Result<()> {
        self.add_from(&loss.backward()?, variables)
    }

    /// Adds those of these variables among what was found.
    pub(super) fn add_from(&mut self, store: &GradStore, variables: &BTreeMap<String, Var>) -> candle_core::Result<()> {
        for (name, variable) in variables {
            let Some(own) = store.get(variable) else { continue };
            self.add_one(name, own)?;
        }
        Ok(())
    }

    /// Adds others.
    pub(super) fn merge(&mut self, others: Self) -> candle_core::Result<()> {
        self.add_named(&others.0)
    }

    /// Adds gradients by the names of their variables.
    pub(super) fn add_named(&mut self, others: &BTreeMap<String, Tensor>) -> candle_core::Result<()> {
        others.iter().try_for_each(|(name, own)| self.add_one(name, own))
    }

    fn add_one(&mut self, name: &str, own: &Tensor) -> candle_core::Result<()> {
        let total = match self.0.remove(name) {
            Some(before) => (before + own)?,
            None => own.clone(),
        };
        self.0.insert(name.to_owned(), total.detach());
        Ok(())
    }

    /// The gradients, scaled down where they are longer than `clip` altogether. `step` counts from 0.
    ///
    /// # Errors
    /// [`TrainError::NotFinite`] for gradients that are no numbers; where candle fails.
    pub(super) fn clipped(mut self, clip: f64, step: usize) -> Result<BTreeMap<String, Tensor>, TrainError> {
        let mut squares = 0.0;
        for gradient in self.0.values() {
            squares += f64::from(gradient.sqr()?.sum_all()?.to_scalar::<f32>()?);
        }
        if !squares.is_finite() {
            return Err(TrainError::NotFinite { step: step + 1, what: "gradient", value: squares.sqrt() });
        }
        let scale = clip / (squares.sqrt() + 1e-6);
        if scale < 1.0 {
            for gradient in self.0.values_mut() {
                *gradient = (&*gradient * scale)?;
            }
        }
        Ok(self.0)
    }

    /// Scales them down to the norm allowed, and steps at `share` of the highest rates. Only the encoder's matrices
    /// decay.
    ///
    /// # Errors
    /// [`TrainError::NotFinite`] for gradients that are no numbers, before anything is changed; where candle fails.
    pub(super) fn step(
        self,
        optimizer: &mut AdamW,
        variables: &Variables<'_>,
        options: &Options,
        (step, share): (usize, f64),
    ) -> Result<(), TrainError> {
        let gradients = self.clipped(options.clip, step)?;
        let variables = variables.all();
        optimizer.step(&variables, &gradients, |name| {
            let encoder = name.starts_with("encoder.");
            let matrix = variables.get(name).is_some_and(|v| v.rank() > 1);
            let rate = if encoder { options.learning_rate } else { options.head_learning_rate };
            (rate * share, if encoder && matrix { options.decay } else { 0.0 })
        })?;
        Ok(())
    }
}

/// The sum of cross-entropies of logits, a row a label and a column a class, with the class of each.
pub(super) fn cross_entropy(logits: &Tensor, classes: &[usize]) -> candle_core::Result<Tensor> {
    let width = logits.dim(D::Minus1)?;
    let wanted = classes.iter().flat_map(|&class| (0..width).map(move |one| if one == class { 1f32 } else { 0.0 }));
    let wanted = Tensor::from_iter(wanted, logits.device())?.reshape((classes.len(), width))?;
    // The greatest logit cancels out of the result, so no gradient has to go through it.
    let logits = logits.broadcast_sub(&logits.max_keepdim(D::Minus1)?.detach())?;
    let log = logits.broadcast_sub(&logits.exp()?.sum_keepdim(D::Minus1)?.log()?)?;
    (log * wanted)?.sum_all()?.neg()
}

/// The sum of cross-entropies of the log-odds `[documents, time]` of a boundary behind each sentence, and the number of gaps, 1 at
/// least. `ends` says of each document behind which sentences a segment ends; behind the last one is no gap.
pub(super) fn boundary_losses(odds: &Tensor, ends: &[&[bool]]) -> candle_core::Result<(Tensor, f64)> {
    let (documents, time) = odds.dims2()?;
    let mut wanted = vec![0f32; documents * time];
    let mut counts = wanted.clone();
    for (i, ends) in ends.iter().enumerate() {
        let gaps = ends.len().saturating_sub(1);
        for (gap, &end) in ends.iter().take(gaps).enumerate() {
            if let (Some(label), Some(count)) = (wanted.get_mut(i * time + gap), counts.get_mut(i * time + gap)) {
                (*label, *count) = (f32::from(u8::from(end)), 1.0);
            }
        }
    }
    let total = f64::from(counts.iter().sum::<f32>().max(1.0));
    let shape = (documents, time);
    let (wanted, counts) =
        (Tensor::from_vec(wanted, shape, odds.device())?, Tensor::from_vec(counts, shape, odds.device())?);
    // ln(1 + e^x) - x y, without overflow.
    let soft = (odds.relu()? + (odds.abs()?.neg()?.exp()? + 1.0)?.log()?)?;
    let loss = ((soft - (odds * wanted)?)? * counts)?.sum_all()?;
    Ok((loss, total))
}
