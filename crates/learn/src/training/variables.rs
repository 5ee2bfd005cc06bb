use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use candle_core::{Device, Tensor, Var};
use pericope_util::hex;
use sha2::{Digest, Sha256};

use super::options::{Options, TrainError};
use crate::checkpoint::{Checkpoint, Metadata};
use crate::sequence::{Init, Parameter};
use crate::weswin::WORDS;
use pericope_encode::Base;
use pericope_encode::ModelError;
use pericope_encode::encoders::{Config, LayerByLayer, LowRank, Tensors, build_trainable, low_rank};

/// The tensors of a checkpoint that training goes on from; none where it begins from the base model.
#[derive(Default)]
pub(super) struct Start {
    path: PathBuf,
    tensors: HashMap<String, Tensor>,
}

impl Start {
    pub(super) fn of<S: Metadata>(checkpoint: Option<&Checkpoint<S>>) -> Self {
        let of = |c: &Checkpoint<S>| Self { path: c.path().to_owned(), tensors: c.tensors().clone() };
        checkpoint.map_or_else(Self::default, of)
    }

    /// Forgets a head; true where there was one.
    pub(super) fn forget(&mut self, head: &str) -> bool {
        let before = self.tensors.len();
        self.tensors.retain(|name, _| !name.strip_prefix(head).is_some_and(|rest| rest.starts_with('.')));
        self.tensors.len() < before
    }

    /// Its changes of matrices.
    fn changes(&self) -> LowRank {
        LowRank::among(&self.path, &self.tensors)
    }

    /// Refuses changes of another rank than those that are to be trained.
    pub(super) fn check_rank(&self, rank: usize) -> Result<(), ModelError> {
        match self.changes().rank() {
            0 => Ok(()),
            own if own == rank => Ok(()),
            own => {
                let reason = format!("it has changes of rank {own}: train on with that rank, not with {rank}");
                Err(ModelError::unusable(&self.path, reason))
            }
        }
    }

    /// A number that other tensors change, whatever file they come from.
    pub(super) fn checksum(&self) -> candle_core::Result<String> {
        let mut hash = Sha256::new();
        let sorted: BTreeMap<_, _> = self.tensors.iter().collect();
        for (name, tensor) in sorted {
            hash.update(format!("{name} {:?}\n", tensor.dims()));
            for number in tensor.flatten_all()?.to_vec1::<f32>()? {
                hash.update(number.to_le_bytes());
            }
        }
        Ok(hex(&hash.finalize()))
    }

    /// The tensor `name`, where there is one.
    fn tensor(&self, name: &str, shape: &[usize], device: &Device) -> Option<Loaded> {
        let tensor = self.tensors.get(name)?;
        let unusable = |reason: String| ModelError::unusable(&self.path, reason);
        if tensor.dims() != shape {
            let found = tensor.dims();
            return Some(Err(unusable(format!("tensor {name} has shape {found:?}, expected {shape:?}"))));
        }
        Some(tensor.to_device(device).map_err(|e| unusable(format!("tensor {name}: {e}"))))
    }
}

/// The rank of changes of matrices, and the seed that they begin by.
#[derive(Debug, Clone, Copy)]
struct Rank {
    rank: usize,
    seed: u64,
}

/// A base model whose upper layers are variables; the others stay as they are.
pub(super) struct Variables<'a> {
    base: &'a Base,
    device: Device,
    /// Layers below this one stay.
    frozen: usize,
    /// True where `[SNT]` is in the vocabulary.
    sentence: bool,
    /// Of the matrices of layers, low-rank changes alone are variables, and nothing else of the layers is.
    rank: Option<Rank>,
    /// The tensors that replace the base model's to begin with.
    start: Start,
    trained: RefCell<BTreeMap<String, Var>>,
    kept: RefCell<HashMap<String, Tensor>>,
}

impl<'a> Variables<'a> {
    /// The layers from `options.frozen` on: whole, or [low-rank changes](low_rank) of their matrices.
    pub(super) fn new(base: &'a Base, device: &Device, options: &Options, start: Start) -> Result<Self, ModelError> {
        let Options { frozen, rank, seed, .. } = *options;
        start.check_rank(rank)?;
        let rank = (rank > 0).then_some(Rank { rank, seed });
        let (trained, kept) = (RefCell::default(), RefCell::default());
        Ok(Self { base, device: device.clone(), frozen, sentence: false, rank, start, trained, kept })
    }

    /// The same with `[SNT]` in the vocabulary.
    pub(super) fn with_sentence(self) -> Self {
        Self { sentence: true, ..self }
    }

    /// The base model's configuration, with `[SNT]` in its vocabulary where it is.
    pub(super) fn config(&self) -> Config {
        let mut config = self.base.config.clone();
        config.vocab_size += usize::from(self.sentence);
        config
    }

    /// True where the encoder's tensors are not all variables or fixed, so that a step asks for a new encoder: the table
    /// of embeddings is put together with that of `[SNT]`, and a matrix with its change.
    pub(super) fn puts_together(&self) -> bool {
        (self.sentence && self.frozen == 0) || self.rank.is_some()
    }

    /// The encoder as it is now.
    pub(super) fn encoder(&self) -> Result<Box<dyn LayerByLayer>, ModelError> {
        build_trainable(&self.config(), self, &self.device)
    }

    /// The variable `name`: as in the checkpoint that training began from, or else of `fresh` numbers.
    pub(super) fn variable(&self, name: &str, shape: &[usize], fresh: impl FnOnce() -> Loaded) -> Loaded {
        if let Some(variable) = self.trained.borrow().get(name) {
            return Ok(variable.as_tensor().clone());
        }
        let start = self.start.tensor(name, shape, &self.device).unwrap_or_else(fresh)?;
        let variable = Var::from_tensor(&start).map_err(|e| self.unusable(format!("tensor {name}: {e}")))?;
        let tensor = variable.as_tensor().clone();
        self.trained.borrow_mut().insert(name.to_owned(), variable);
        Ok(tensor)
    }

    /// The variable `name`, of zeros to begin with.
    pub(super) fn zeros(&self, name: &str, shape: &[usize]) -> Loaded {
        self.variable(name, shape, || {
            let made = Tensor::zeros(shape, candle_core::DType::F32, &self.device);
            made.map_err(|e| self.unusable(format!("tensor {name}: {e}")))
        })
    }

    /// The variable `name`: as in the checkpoint that training began from, or else as in the base model, or else what
    /// `fresh` makes.
    pub(super) fn inherited(
        &self,
        name: &str,
        shape: &[usize],
        fresh: impl FnOnce() -> candle_core::Result<Tensor>,
    ) -> Loaded {
        self.variable(name, shape, || match self.base.weights.has(name) {
            true => self.base.weights.tensor(name, shape, &self.device),
            false => fresh().map_err(|e| self.unusable(format!("tensor {name}: {e}"))),
        })
    }

    /// Returns what differs from the base model, on the CPU: copies of all variables as they are now, and what the checkpoint that
    /// training began from holds beside them (a layer that was trained then and is frozen now).
    pub(super) fn values(&self) -> candle_core::Result<HashMap<String, Tensor>> {
        let mut values = self.start.tensors.clone();
        for (name, variable) in self.all() {
            values.insert(name, variable.as_detached_tensor().copy()?.to_device(&Device::Cpu)?);
        }
        Ok(values)
    }

    /// The embedding of `[SNT]` where it is not trained.
    pub(super) fn sentence(&self) -> Loaded {
        let config = self.config();
        self.tensor(WORDS, &[config.vocab_size, config.hidden_size], &self.device)?;
        self.kept("snt", || Err(self.unusable("there is no [SNT]".into())))
    }

    /// All variables by name.
    pub(super) fn all(&self) -> BTreeMap<String, Var> {
        self.trained.borrow().clone()
    }

    /// Sets all variables to saved values.
    pub(super) fn restore(&self, saved: &HashMap<String, Tensor>) -> Result<(), TrainError> {
        for (name, variable) in self.trained.borrow().iter() {
            let Some(value) = saved.get(name) else {
                return Err(TrainError::Options(format!("the saved state has no {name}: it is another training's")));
            };
            variable.set(&value.to_device(&self.device)?)?;
        }
        Ok(())
    }

    /// The matrix `name` with its low-rank change. A begins uniformly distributed within 1 / sqrt(inputs), B with zeros, so that the sum
    /// begins as the base model's.
    fn changed(&self, name: &str, shape: &[usize; 2], w: &Tensor, rank: Rank) -> Loaded {
        let [outputs, inputs] = *shape;
        let Some((a, b)) = low_rank::names(name) else { return Ok(w.clone()) };
        let bound = (inputs as f32).sqrt().recip();
        let begins = Parameter::new(a, &[rank.rank, inputs], Init::Uniform(bound));
        let a = self.variable(&begins.name, &begins.shape, || {
            let made = begins.begin(rank.seed, &self.device);
            made.map_err(|e| self.unusable(format!("tensor {}: {e}", begins.name)))
        })?;
        let b = self.zeros(&b, &[outputs, rank.rank])?;
        low_rank::sum(w, &a, &b).map_err(|e| self.unusable(format!("tensor {name}: {e}")))
    }

    /// The tensor `name` where it is no variable: as in the checkpoint that training began from, or else as in the base model. What that
    /// checkpoint changes of a matrix that is not trained is in it.
    fn unchanged(&self, name: &str, shape: &[usize], device: &Device) -> Loaded {
        self.kept(name, || {
            let base = || self.base.weights.tensor(name, shape, device);
            let w = self.start.tensor(name, shape, device).unwrap_or_else(base)?;
            if self.trains(name) { Ok(w) } else { self.start.changes().changed(name, w, device) }
        })
    }

    fn trains(&self, name: &str) -> bool {
        let layer = name.strip_prefix("encoder.layer.").and_then(|rest| rest.split('.').next()?.parse::<usize>().ok());
        layer.is_some_and(|layer| layer >= self.frozen)
    }

    fn kept(&self, name: &str, make: impl FnOnce() -> Loaded) -> Loaded {
        if let Some(tensor) = self.kept.borrow().get(name) {
            return Ok(tensor.clone());
        }
        let tensor = make()?;
        self.kept.borrow_mut().insert(name.to_owned(), tensor.clone());
        Ok(tensor)
    }

    /// The embedding that `[SNT]` begins with: that of the token which ends sequences.
    fn sentence_row(&self, shape: &[usize]) -> Loaded {
        let [rows, hidden] = *shape else { return Err(self.unusable("the vocabulary is no table".into())) };
        let base = self.kept(WORDS, || self.base.weights.tensor(WORDS, &[rows - 1, hidden], &self.device))?;
        let row = base.get(self.base.tokens.end() as usize);
        row.map_err(|e| self.unusable(format!("tensor {WORDS}: {e}")))
    }
}

type Loaded = Result<Tensor, ModelError>;

/// A model that is trained, as it is without its changes of low rank.
pub(super) struct Unchanged<'a>(pub(super) &'a Variables<'a>);

impl Tensors for Unchanged<'_> {
    fn tensor(&self, name: &str, shape: &[usize], device: &Device) -> Loaded {
        self.0.unchanged(name, shape, device)
    }

    fn unusable(&self, reason: String) -> ModelError {
        self.0.unusable(reason)
    }
}

impl Tensors for Variables<'_> {
    fn tensor(&self, name: &str, shape: &[usize], device: &Device) -> Loaded {
        if self.sentence && name == WORDS {
            let problem = |e: candle_core::Error| self.unusable(format!("tensor {name}: {e}"));
            let width = shape.get(1..).unwrap_or(&[]);
            let row = if self.frozen == 0 {
                self.variable("snt", width, || self.sentence_row(shape))?
            } else {
                let start = || self.start.tensor("snt", width, device);
                self.kept("snt", || start().unwrap_or_else(|| self.sentence_row(shape)))?
            };
            self.sentence_row(shape)?;
            let base = self.kept(WORDS, || Err(self.unusable("the vocabulary is not there".into())))?;
            return row.unsqueeze(0).and_then(|row| Tensor::cat(&[&base, &row], 0)).map_err(problem);
        }
        if self.trains(name) && self.rank.is_none() {
            return self.variable(name, shape, || self.base.weights.tensor(name, shape, device));
        }
        let kept = self.unchanged(name, shape, device)?;
        match (self.rank, <&[usize; 2]>::try_from(shape)) {
            (Some(rank), Ok(shape)) if self.trains(name) => self.changed(name, shape, &kept, rank),
            _ => Ok(kept),
        }
    }

    fn unusable(&self, reason: String) -> ModelError {
        self.base.weights.unusable(reason)
    }
}
