use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use candle_core::{Device, Tensor, Var};
use serde::{Deserialize, Serialize};

use super::adamw::{AdamW, Moments};
use super::events::Validation;
use super::options::{Options, TrainError};
use pericope_encode::ModelError;

/// The progress of a training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Progress {
    /// Says what was trained how: another training's state is refused.
    pub(super) fingerprint: String,
    pub(super) options: Options,
    /// Steps done.
    pub(super) step: usize,
    /// Best validation score, and the step that it was found at.
    #[serde(with = "exact")]
    pub(super) best: Option<(f64, usize)>,
    /// Validations since.
    pub(super) stale: usize,
    /// The loss of every step.
    pub(super) losses: Vec<f32>,
    /// The loss of every batch of questions.
    #[serde(default)]
    pub(super) question_losses: Vec<f32>,
    #[serde(default)]
    pub(super) validations: Vec<Validation>,
    pub(super) seconds: f64,
}

/// A score as text, as the states of earlier builds hold it.
mod exact {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(best: &Option<(f64, usize)>, to: S) -> Result<S::Ok, S::Error> {
        best.map(|(score, step)| (score.to_string(), step)).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<(f64, usize)>, D::Error> {
        let found: Option<(String, usize)> = Option::deserialize(from)?;
        found.map(|(score, step)| Ok((score.parse().map_err(D::Error::custom)?, step))).transpose()
    }
}

impl Progress {
    /// Nothing is done yet.
    pub(super) fn new(fingerprint: &str, options: &Options) -> Self {
        let (fingerprint, options) = (fingerprint.to_owned(), options.clone());
        Self {
            fingerprint,
            options,
            step: 0,
            best: None,
            stale: 0,
            losses: Vec::new(),
            question_losses: Vec::new(),
            validations: Vec::new(),
            seconds: 0.0,
        }
    }

    /// True where a validation's score is the best so far.
    pub(super) fn better(&self, score: f64) -> bool {
        self.best.is_none_or(|(before, _)| score > before)
    }

    /// Takes note of a validation and of the score that it goes by.
    pub(super) fn note(&mut self, validation: &Validation, score: f64) {
        if validation.best {
            self.best = Some((score, self.step));
            self.stale = 0;
        } else {
            self.stale += 1;
        }
        self.validations.push(validation.clone());
    }
}

/// Key of [`Progress`] in the safetensors header: one file, so that a crash never leaves two that do not belong together.
const KEY: &str = "training";

pub(super) fn save(
    path: &Path,
    progress: &Progress,
    variables: &BTreeMap<String, Var>,
    optimizer: &AdamW,
) -> Result<(), TrainError> {
    let io = |source| TrainError::Io { path: path.to_owned(), source };
    let mut tensors: BTreeMap<String, &Tensor> = BTreeMap::new();
    for (name, variable) in variables {
        tensors.insert(format!("v/{name}"), variable.as_tensor());
    }
    let mut steps = BTreeMap::new();
    for (name, moments) in optimizer.moments() {
        tensors.insert(format!("m/{name}"), &moments.first);
        tensors.insert(format!("s/{name}"), &moments.second);
        steps.insert(name, moments.steps);
    }
    let text = serde_json::to_string(&(progress, steps)).map_err(|e| unusable(path, &e))?;
    let bytes = safetensors::serialize(tensors, Some(HashMap::from([(KEY.to_owned(), text)])));
    let bytes = bytes.map_err(|e| unusable(path, &e))?;
    pericope_util::replace_file(path, &bytes).map_err(io)
}

/// Returns what [`save`] wrote: the progress, the variables' values, the optimizer. `None` where there is no file.
#[allow(clippy::type_complexity)]
pub(super) fn load(
    path: &Path,
    device: &Device,
) -> Result<Option<(Progress, HashMap<String, Tensor>, AdamW)>, TrainError> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(TrainError::Io { path: path.to_owned(), source }),
    };
    let (_, header) = safetensors::SafeTensors::read_metadata(&bytes).map_err(|e| unusable(path, &e))?;
    let text = header.metadata().as_ref().and_then(|all| all.get(KEY));
    let text = text.ok_or_else(|| unusable(path, &"it is no training state"))?;
    let (progress, steps): (Progress, BTreeMap<String, u32>) =
        serde_json::from_str(text).map_err(|e| unusable(path, &e))?;
    let mut values = HashMap::new();
    let mut moments: BTreeMap<String, (Option<Tensor>, Option<Tensor>)> = BTreeMap::new();
    for (name, tensor) in candle_core::safetensors::load_buffer(&bytes, device)? {
        match name.split_once('/') {
            Some(("v", name)) => drop(values.insert(name.to_owned(), tensor)),
            Some(("m", name)) => moments.entry(name.to_owned()).or_default().0 = Some(tensor),
            Some(("s", name)) => moments.entry(name.to_owned()).or_default().1 = Some(tensor),
            _ => return Err(unusable(path, &format!("unexpected tensor {name}")).into()),
        }
    }
    let whole = moments.into_iter().filter_map(|(name, (first, second))| {
        let steps = steps.get(&name).copied()?;
        Some((name, Moments { steps, first: first?, second: second? }))
    });
    Ok(Some((progress, values, AdamW::resume(whole.collect()))))
}

fn unusable(path: &Path, reason: &dyn std::fmt::Display) -> ModelError {
    ModelError::unusable(path, reason)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::Progress;
    use crate::training::{Options, Validation};

    #[test]
    fn the_best_score_is_read_back_to_its_last_bit() {
        let mut at = Progress::new("f", &Options::default());
        for score in [0.389_610_389_610_389_63, 1.0 / 3.0, 0.0, 1.0] {
            at.best = Some((score, 4));
            let read: Progress = serde_json::from_str(&serde_json::to_string(&at).unwrap()).unwrap();
            assert_eq!(read, at);
        }
        at.best = None;
        assert_eq!(serde_json::from_str::<Progress>(&serde_json::to_string(&at).unwrap()).unwrap(), at);
    }
    #[test]
    fn a_score_that_stays_is_no_better() {
        let validation = Validation {
            step: 1,
            f1: Some(1.0 / 3.0),
            threshold: 0.5,
            accuracy: None,
            questions: None,
            judged: None,
            best: true,
        };
        let mut at = Progress::new("f", &Options::default());
        at.note(&validation, 1.0 / 3.0);
        assert!(!at.better(1.0 / 3.0) && at.better(0.34));
        // What is told of it is read back as it was.
        let read: Progress = serde_json::from_str(&serde_json::to_string(&at).unwrap()).unwrap();
        assert_eq!(read, at);
    }
}
