use std::collections::BTreeMap;

use candle_core::{D, Tensor};

use super::adamw::AdamW;
use super::options::{Options, TrainError};
use super::variables::Variables;

/// The gradients of a step by variable, added up over its micro-batches.
#[derive(Default)]
pub(super) struct Gradients(BTreeMap<String, Tensor>);

impl Gradients {
    /// Adds those of a loss.
    pub(super) fn add(&mut self, loss: &Tensor, variables: &Variables<'_>) -> candle_core::Result<()> {
        let store = loss.backward()?;
        for (name, variable) in variables.all() {
            let Some(own) = store.get(&variable) else { continue };
            let total = match self.0.remove(&name) {
                Some(before) => (before + own)?,
                None => own.clone(),
            };
            self.0.insert(name, total.detach());
        }
        Ok(())
    }

    /// Scales them down to the norm allowed, and steps at `share` of the highest rates. Only the encoder's matrices
    /// decay.
    ///
    /// # Errors
    /// [`TrainError::NotFinite`] for gradients that are no numbers, before anything is changed; where candle fails.
    pub(super) fn step(
        mut self,
        optimizer: &mut AdamW,
        variables: &Variables<'_>,
        options: &Options,
        (step, share): (usize, f64),
    ) -> Result<(), TrainError> {
        let mut squares = 0.0;
        for gradient in self.0.values() {
            squares += f64::from(gradient.sqr()?.sum_all()?.to_scalar::<f32>()?);
        }
        if !squares.is_finite() {
            return Err(TrainError::NotFinite { step: step + 1, what: "gradient", value: squares.sqrt() });
        }
        let scale = options.clip / (squares.sqrt() + 1e-6);
        if scale < 1.0 {
            for gradient in self.0.values_mut() {
                *gradient = (&*gradient * scale)?;
            }
        }
        let variables = variables.all();
        optimizer.step(&variables, &self.0, |name| {
            let encoder = name.starts_with("encoder.");
            let matrix = variables.get(name).is_some_and(|v| v.rank() > 1);
            let rate = if encoder { options.learning_rate } else { options.head_learning_rate };
            (rate * share, if encoder && matrix { options.decay } else { 0.0 })
        })?;
        Ok(())
    }
}

/// The sum of cross-entropies of `[labels, 2]` logits with the class of each, 0 or 1.
pub(super) fn cross_entropy(logits: &Tensor, classes: &[usize]) -> candle_core::Result<Tensor> {
    let wanted = classes.iter().flat_map(|&class| if class == 0 { [1f32, 0.0] } else { [0.0, 1.0] });
    let wanted = Tensor::from_iter(wanted, logits.device())?.reshape((classes.len(), 2))?;
    // The greatest logit cancels out of the result, so no gradient has to go through it.
    let logits = logits.broadcast_sub(&logits.max_keepdim(D::Minus1)?.detach())?;
    let log = logits.broadcast_sub(&logits.exp()?.sum_keepdim(D::Minus1)?.log()?)?;
    (log * wanted)?.sum_all()?.neg()
}
