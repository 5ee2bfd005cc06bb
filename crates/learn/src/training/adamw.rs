use std::collections::BTreeMap;

use candle_core::{Result, Tensor, Var};

/// Learning rate over the steps: up from 0 over the first of them, then down to the least at the end, both in straight lines.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Schedule {
    /// Steps of the whole training.
    pub steps: usize,
    /// Share of them in which the rate rises.
    pub warm_up: f64,
    /// Share of the highest rate that is left at the end.
    pub least: f64,
}

impl Schedule {
    /// Share of the highest rate at `step`, 0-based.
    #[must_use]
    pub fn at(self, step: usize) -> f64 {
        let warm = ((self.steps as f64 * self.warm_up) as usize).max(1);
        let rise = (step + 1) as f64 / warm as f64;
        let fall = self.steps.saturating_sub(step) as f64 / self.steps.saturating_sub(warm).max(1) as f64;
        rise.min(self.least + (1.0 - self.least) * fall)
    }
}

/// AdamW (Loshchilov and Hutter 2019), with its moments open to be saved: weight decay apart from the gradient, biases
/// of the moments corrected, beta 0.9 and 0.999, epsilon 1e-8.
#[derive(Debug, Default)]
pub struct AdamW {
    moments: BTreeMap<String, Moments>,
}

/// The moving averages of a variable's gradients.
#[derive(Debug, Clone)]
pub struct Moments {
    /// Steps in which it had a gradient.
    pub steps: u32,
    /// Running mean of gradients.
    pub first: Tensor,
    /// Running mean of their squares.
    pub second: Tensor,
}

const BETA: (f64, f64) = (0.9, 0.999);
const EPSILON: f64 = 1e-8;

impl AdamW {
    /// Goes on from saved moments.
    #[must_use]
    pub fn resume(moments: BTreeMap<String, Moments>) -> Self {
        Self { moments }
    }

    /// Moments by variable.
    #[must_use]
    pub fn moments(&self) -> &BTreeMap<String, Moments> {
        &self.moments
    }

    /// Moves variables against their gradients; `rate` gives learning rate and weight decay of a variable. A variable
    /// without a gradient stays, and so do its moments.
    ///
    /// # Errors
    /// Where candle fails.
    pub fn step(
        &mut self,
        variables: &BTreeMap<String, Var>,
        gradients: &BTreeMap<String, Tensor>,
        rate: impl Fn(&str) -> (f64, f64),
    ) -> Result<()> {
        for (name, gradient) in gradients {
            let Some(variable) = variables.get(name) else { continue };
            let zero = || gradient.zeros_like();
            let Moments { steps, first, second } = match self.moments.remove(name) {
                Some(moments) => moments,
                None => Moments { steps: 0, first: zero()?, second: zero()? },
            };
            let power = i32::try_from(steps + 1).unwrap_or(i32::MAX);
            let corrected = (1.0 - BETA.0.powi(power), 1.0 - BETA.1.powi(power));
            let first = ((first * BETA.0)? + (gradient * (1.0 - BETA.0))?)?;
            let second = ((second * BETA.1)? + (gradient.sqr()? * (1.0 - BETA.1))?)?;
            let (rate, decay) = rate(name);
            let size = ((&second / corrected.1)?.sqrt()? + EPSILON)?;
            let towards = ((&first / corrected.0)? / size)?;
            let kept = (variable.as_detached_tensor() * (1.0 - rate * decay))?;
            variable.set(&(kept - (towards * rate)?)?)?;
            self.moments.insert(name.clone(), Moments { steps: steps + 1, first, second });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::collections::BTreeMap;

    use candle_core::{Device, Tensor, Var};

    use super::{AdamW, Schedule};

    #[test]
    fn the_rate_rises_and_falls() {
        let schedule = Schedule { steps: 10, warm_up: 0.2, least: 0.0 };
        let rates: Vec<f64> = (0..10).map(|step| schedule.at(step)).collect();
        assert!((rates[0] - 0.5).abs() < 1e-12 && (rates[1] - 1.0).abs() < 1e-12);
        assert!((rates[9] - 0.125).abs() < 1e-12 && rates[1..].is_sorted_by(|a, b| a >= b));
        let tenth = Schedule { least: 0.1, ..schedule };
        assert!((tenth.at(0) - 0.5).abs() < 1e-12 && (tenth.at(10) - 0.1).abs() < 1e-12);
    }

    /// PyTorch 2.15: torch.optim.AdamW([1, -2], lr=0.1, weight_decay=0.5) under the gradients [0.5, -1] and [0.1, 0.3].
    #[test]
    fn two_steps_equal_pytorchs() {
        let tensor = |numbers: &[f32]| Tensor::new(numbers, &Device::Cpu).unwrap();
        let variable = Var::from_tensor(&tensor(&[1.0, -2.0])).unwrap();
        let variables = BTreeMap::from([("x".to_owned(), variable.clone())]);
        let mut optimizer = AdamW::default();
        for gradient in [[0.5, -1.0], [0.1, 0.3]] {
            let gradients = BTreeMap::from([("x".to_owned(), tensor(&gradient))]);
            optimizer.step(&variables, &gradients, |_| (0.1, 0.5)).unwrap();
        }
        let found = variable.to_vec1::<f32>().unwrap();
        assert!((found[0] - EXPECTED[0]).abs() < 1e-6 && (found[1] - EXPECTED[1]).abs() < 1e-6, "{found:?}");
    }

    const EXPECTED: [f32; 2] = [0.727_195_9, -1.667_215_1];
}
