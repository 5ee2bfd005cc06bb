use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use candle_core::{Device, Tensor, Var};
use pericope_encode::ModelError;
use pericope_encode::encoders::Tensors;
use pericope_segment::random::{SplitMix64, fnv1a};

/// The numbers that a parameter begins with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Init {
    /// The same number everywhere.
    Constant(f32),
    /// Uniformly distributed in `[-bound, bound)`.
    Uniform(f32),
}

/// A parameter of a model: a tensor that is trained.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Its name in checkpoints.
    pub name: String,
    /// Its shape.
    pub shape: Vec<usize>,
    /// The numbers that it begins with.
    pub init: Init,
}

impl Parameter {
    /// A parameter of that name, shape and beginning.
    #[must_use]
    pub fn new(name: impl Into<String>, shape: &[usize], init: Init) -> Self {
        Self { name: name.into(), shape: shape.to_vec(), init }
    }

    /// The numbers that it begins with. They depend on `seed` and its name alone.
    pub(crate) fn begin(&self, seed: u64, device: &Device) -> candle_core::Result<Tensor> {
        let mut random = SplitMix64::new(fnv1a(seed, self.name.bytes()));
        let mut number = || match self.init {
            Init::Constant(value) => value,
            Init::Uniform(bound) => ((random.next() >> 40) as f32 / (1 << 23) as f32 - 1.0) * bound,
        };
        let numbers: Vec<f32> = (0..self.shape.iter().product()).map(|_| number()).collect();
        Tensor::from_vec(numbers, self.shape.as_slice(), device)
    }
}

/// The parameters of a model in training, as candle's variables in single precision.
#[derive(Debug, Clone)]
pub struct Parameters {
    variables: BTreeMap<String, Var>,
}

impl Parameters {
    /// Makes them. The numbers of each depend on `seed` and its own name alone, not on the parameters beside it.
    ///
    /// # Errors
    /// Where candle fails.
    pub fn new(list: &[Parameter], seed: u64, device: &Device) -> candle_core::Result<Self> {
        let mut variables = BTreeMap::new();
        for parameter in list {
            variables.insert(parameter.name.clone(), Var::from_tensor(&parameter.begin(seed, device)?)?);
        }
        Ok(Self { variables })
    }

    /// The variables by name.
    #[must_use]
    pub fn all(&self) -> &BTreeMap<String, Var> {
        &self.variables
    }

    /// Copies of their present values on the CPU.
    ///
    /// # Errors
    /// Where candle fails.
    pub fn values(&self) -> candle_core::Result<HashMap<String, Tensor>> {
        let copy = |var: &Var| var.as_detached_tensor().copy()?.to_device(&Device::Cpu);
        self.variables.iter().map(|(name, var)| Ok((name.clone(), copy(var)?))).collect()
    }

    /// Sets every parameter to the tensor of its name.
    ///
    /// # Errors
    /// [`ModelError::Unusable`] of `from` where one is missing there or has another shape; nothing is changed then.
    pub fn set(&self, from: &dyn Tensors) -> Result<(), ModelError> {
        let read = |(name, var): (&String, &Var)| Ok((name.clone(), from.tensor(name, var.dims(), var.device())?));
        let values = self.variables.iter().map(read).collect::<Result<Vec<_>, ModelError>>()?;
        for (name, value) in &values {
            if let Some(var) = self.variables.get(name) {
                var.set(value).map_err(|e| from.unusable(format!("tensor {name}: {e}")))?;
            }
        }
        Ok(())
    }
}

impl Tensors for Parameters {
    fn tensor(&self, name: &str, shape: &[usize], device: &Device) -> Result<Tensor, ModelError> {
        let var = self.variables.get(name).ok_or_else(|| self.unusable(format!("there is no parameter {name}")))?;
        if var.dims() != shape || !var.device().same_device(device) {
            return Err(self.unusable(format!("parameter {name} has shape {:?}, expected {shape:?}", var.dims())));
        }
        Ok(var.as_tensor().clone())
    }

    fn unusable(&self, reason: String) -> ModelError {
        ModelError::unusable(Path::new("(in training)"), reason)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use candle_core::Device;

    use super::{Init, Parameter, Parameters};

    #[test]
    fn a_parameter_begins_alike_whatever_lies_beside_it() {
        let one = Parameter::new("a", &[3, 40], Init::Uniform(0.5));
        let two = Parameter::new("b", &[3, 40], Init::Uniform(0.5));
        let numbers = |list: &[Parameter], seed, name: &str| {
            let made = Parameters::new(list, seed, &Device::Cpu).unwrap();
            made.all()[name].flatten_all().unwrap().to_vec1::<f32>().unwrap()
        };
        let alone = numbers(std::slice::from_ref(&one), 7, "a");
        let both = [two, one, Parameter::new("c", &[2], Init::Constant(1.5))];
        assert_eq!(alone, numbers(&both, 7, "a"));
        assert_ne!(alone, numbers(&both, 7, "b"));
        assert_ne!(alone, numbers(&both, 8, "a"));
        assert_eq!(numbers(&both, 7, "c"), [1.5, 1.5]);
        assert!(
            alone.iter().all(|x| x.abs() <= 0.5) && alone.iter().any(|x| *x > 0.4) && alone.iter().any(|x| *x < -0.4)
        );
    }
}
