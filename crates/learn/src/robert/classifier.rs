use candle_core::{Device, Tensor};
use pericope_api::{Classified, ClassifierError, Embeddings, SequenceClassifier};

use super::Network;

/// Documents that are read together.
const TOGETHER: usize = 32;

/// A trained classifier.
pub(crate) struct RobertClassifier {
    pub(crate) network: Network,
    pub(crate) dimension: usize,
}

impl SequenceClassifier for RobertClassifier {
    fn classify(&self, documents: &[&Embeddings]) -> Result<Vec<Classified>, ClassifierError> {
        // Like lengths together: a batch is as long as its longest document.
        let mut order: Vec<usize> = (0..documents.len()).collect();
        order.sort_by_key(|&at| documents.get(at).map_or(0, |one| one.len()));
        let mut found = vec![Classified { class: 0, probability: 0.0 }; documents.len()];
        for some in order.chunks(TOGETHER) {
            let here: Vec<&Embeddings> = some.iter().filter_map(|&at| documents.get(at).copied()).collect();
            for (&at, classified) in some.iter().zip(self.some(&here)?) {
                if let Some(place) = found.get_mut(at) {
                    *place = classified;
                }
            }
        }
        Ok(found)
    }
}

impl RobertClassifier {
    fn some(&self, documents: &[&Embeddings]) -> Result<Vec<Classified>, ClassifierError> {
        let (x, lengths) = batch(documents, self.dimension)?;
        let rows = self.network.forward(&x, &lengths).and_then(|logits| logits.to_vec2::<f32>()).map_err(run)?;
        Ok(rows.iter().map(|row| likeliest(row)).collect())
    }
}

/// The class with the highest log-odds, the first of equals, and its probability.
fn likeliest(row: &[f32]) -> Classified {
    let mut best = (0, f32::NEG_INFINITY);
    for (class, &odds) in row.iter().enumerate() {
        if odds > best.1 {
            best = (class, odds);
        }
    }
    let sum: f32 = row.iter().map(|odds| (odds - best.1).exp()).sum();
    Classified { class: best.0, probability: 1.0 / sum }
}

/// The vectors of a batch, `[documents, time, dimension]`, and the number that each document has. Vectors of norm 1 are
/// scaled so that their numbers have a mean square of 1.
pub(crate) fn batch(documents: &[&Embeddings], dimension: usize) -> Result<(Tensor, Vec<usize>), ClassifierError> {
    let lengths: Vec<usize> = documents.iter().map(|one| one.len()).collect();
    let time = lengths.iter().copied().max().unwrap_or(0);
    let mut x = vec![0f32; documents.len() * time * dimension];
    let scale = (dimension as f32).sqrt();
    for (one, rows) in documents.iter().zip(x.chunks_exact_mut((time * dimension).max(1))) {
        if !one.is_empty() && one.dimension() != dimension {
            let have = one.dimension();
            return Err(ClassifierError::Unusable(format!("a vector has {have} numbers, the others {dimension}")));
        }
        rows.iter_mut().zip(one.values()).for_each(|(to, from)| *to = scale * from);
    }
    Ok((Tensor::from_vec(x, (documents.len(), time, dimension), &Device::Cpu).map_err(run)?, lengths))
}

fn run(error: candle_core::Error) -> ClassifierError {
    ClassifierError::Run(Box::new(error))
}
