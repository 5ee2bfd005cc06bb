use std::collections::BTreeMap;
use std::path::Path;

use pericope_util::dot;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::encoders::{Config, Kind, Tensors};
use crate::models::ModelError;

/// A layer on the first token with its activation, and one number on that.
pub struct Head {
    /// `[hidden, hidden]` and `[hidden]`.
    layer: (Vec<f32>, Vec<f32>),
    activation: fn(f32) -> f32,
    /// Of one label its row; of two the row of the second less that of the first.
    last: (Vec<f32>, f32),
}

/// The fields of a classifier's `config.json` that an encoder's has not.
#[derive(Deserialize)]
struct Classifier {
    architectures: Option<Vec<String>>,
    id2label: Option<BTreeMap<String, IgnoredAny>>,
    num_labels: Option<usize>,
}

impl Classifier {
    /// Labels that the model tells apart; transformers leaves two unsaid.
    fn labels(&self) -> usize {
        self.id2label.as_ref().map(BTreeMap::len).or(self.num_labels).unwrap_or(2)
    }
}

impl Head {
    /// Reads the head of a sequence classifier.
    ///
    /// # Errors
    /// [`ModelError`], naming the file and the field or tensor: for a model of another kind, for a number of labels that is
    /// neither one nor two, and for tensors of other shapes.
    pub fn read(path: &Path, config: &Config, weights: &dyn Tensors) -> Result<Self, ModelError> {
        let unusable = |reason: String| ModelError::unusable(path, reason);
        let text = std::fs::read(path).map_err(ModelError::io(path))?;
        let classifier: Classifier = serde_json::from_slice(&text).map_err(|e| unusable(e.to_string()))?;
        let named = classifier.architectures.iter().flatten().find(|name| !name.ends_with("ForSequenceClassification"));
        if let Some(name) = named {
            return Err(unusable(format!("the model is a {name}: a reranker is a ...ForSequenceClassification")));
        }
        let (layer, activation, last): (_, fn(f32) -> f32, _) = match config.kind() {
            Kind::Bert => ("pooler.dense", f32::tanh, "classifier"),
            Kind::Roberta => ("classifier.dense", f32::tanh, "classifier.out_proj"),
            Kind::DistilBert => ("pre_classifier", |x| x.max(0.0), "classifier"),
            Kind::Longformer | Kind::MpNet => {
                let reason = "a Longformer or MPNet cannot rerank here: BERT, DistilBERT and RoBERTa can";
                return Err(unusable(reason.into()));
            }
        };
        let hidden = config.hidden_size;
        let read = |name: &str, outputs: usize| -> Result<(Vec<f32>, Vec<f32>), ModelError> {
            let weight = weights.numbers(&format!("{name}.weight"), &[outputs, hidden])?;
            Ok((weight, weights.numbers(&format!("{name}.bias"), &[outputs])?))
        };
        let labels = classifier.labels();
        if !(1..=2).contains(&labels) {
            return Err(unusable(format!("the model tells {labels} labels apart: a reranker has one or two")));
        }
        Ok(Self { layer: read(layer, hidden)?, activation, last: joined(read(last, labels)?, hidden) })
    }

    /// The number of each row of first tokens, `[sequences, hidden]`: the logit of one label, or of two that of the second
    /// less that of the first.
    pub fn apply(&self, rows: &[f32]) -> Vec<f32> {
        let (weight, bias) = &self.layer;
        let score = |row: &[f32]| {
            let layer = weight.chunks_exact(row.len().max(1)).zip(bias);
            let inner: Vec<f32> = layer.map(|(weight, bias)| (self.activation)(dot(row, weight) + bias)).collect();
            dot(&inner, &self.last.0) + self.last.1
        };
        rows.chunks_exact(self.last.0.len().max(1)).map(score).collect()
    }
}

/// The rows of one or two labels as one.
fn joined((weight, bias): (Vec<f32>, Vec<f32>), hidden: usize) -> (Vec<f32>, f32) {
    let (first, second) = weight.split_at(hidden.min(weight.len()));
    if second.is_empty() {
        return (first.to_vec(), bias.first().copied().unwrap_or(0.0));
    }
    let offset = bias.iter().rev().copied().reduce(|second, first| second - first).unwrap_or(0.0);
    (second.iter().zip(first).map(|(second, first)| second - first).collect(), offset)
}
