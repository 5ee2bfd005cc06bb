use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use candle_core::{DType, Device, Tensor};
use rayon::prelude::*;
use serde_json::json;

use super::components::principal_components;
use super::target;
use crate::base::Base;
use crate::encoders::{self, Embed};
use crate::kernels::Precision;
use crate::models::ModelError;

/// Tokens that are encoded at a time.
const BATCH: usize = 256;

/// The weight of a token of probability p is `SMOOTHING / (SMOOTHING + p)` (Arora et al. 2017, "smooth inverse frequency").
const SMOOTHING: f64 = 1e-4;

/// The greatest number in half precision.
const MOST: f32 = 65_504.0;

/// The options of [`distil`].
#[derive(Debug, Clone, PartialEq)]
pub struct DistilOptions {
    /// Numbers of a vector; no more than the encoder's have.
    pub dimension: usize,
}

impl Default for DistilOptions {
    fn default() -> Self {
        Self { dimension: 256 }
    }
}

/// What was made.
#[derive(Debug, Clone, PartialEq)]
pub struct Distilled {
    /// Rows of the table: the tokens of the vocabulary.
    pub tokens: usize,
    /// Numbers of a row.
    pub dimension: usize,
    /// Bytes of `model.safetensors`.
    pub bytes: u64,
}

/// Makes static vectors of an encoder, by Model2Vec's recipe, and writes them into the folder `out` in its layout: every token of
/// the vocabulary goes through the encoder by itself, between the tokens that begin and end a text; the means of its output go
/// to their principal components; and rows are weighted by smooth inverse frequency, where the frequency of a token is taken
/// from its place in the vocabulary by Zipf's law. Special tokens get zeros.
///
/// In single precision, so that the table does not depend on what the processor has. `progress` hears how many tokens of how
/// many are done.
///
/// # Errors
/// [`ModelError`], naming the file; [`ModelError::Taken`], before anything is encoded, where `out` is the encoder's folder or
/// holds another model. Nothing is written where the encoder gives numbers that are none, or zeros alone.
pub fn distil(
    base: &Base,
    options: &DistilOptions,
    out: &Path,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Distilled, ModelError> {
    target::check(out, &base.dir.path)?;
    let model = encoders::build_in(&base.config, &base.weights, &Device::Cpu, Precision::Single)?;
    let (tokens, width) = (base.tokens.vocabulary(), base.config.hidden_size);
    let special = |id: usize| base.tokens.is_special(id as u32);
    let means = means(base, model.as_ref(), progress).map_err(|e| ModelError::unusable(&base.dir.path, e))?;
    let broken = |what: &str| Err(ModelError::unusable(&base.dir.path, format!("its vectors of tokens are {what}")));
    if means.iter().any(|x| !x.is_finite()) {
        return broken("not finite: weights are infinite, or no numbers");
    }
    if means.iter().all(|x| *x == 0.0) {
        return broken("zeros alone");
    }
    let dimension = options.dimension.min(width);
    let mut rows = principal_components(&means, width, dimension, |id| !special(id));
    let weights = inverse_frequencies((0..tokens).filter(|&id| !special(id)), tokens);
    for (row, weight) in rows.chunks_exact_mut(dimension).zip(weights) {
        row.iter_mut().for_each(|x| *x *= weight as f32);
    }
    if rows.iter().any(|x| !x.is_finite() || x.abs() > MOST) {
        return broken("too large for a table in half precision");
    }
    write(base, &rows, dimension, out)
}

/// The mean of the encoder's output for each token, `[tokens, width]`.
fn means(base: &Base, model: &dyn Embed, progress: &(dyn Fn(usize, usize) + Sync)) -> candle_core::Result<Vec<f32>> {
    let (tokens, width) = (base.tokens.vocabulary(), base.config.hidden_size);
    let (start, end) = (base.tokens.start(), base.tokens.end());
    let mut rows = vec![0.0_f32; tokens * width];
    let done = AtomicUsize::new(0);
    let one = |(batch, rows): (usize, &mut [f32])| -> candle_core::Result<()> {
        let count = rows.len() / width;
        let sequences: Vec<[u32; 3]> = (0..count).map(|i| [start, (batch * BATCH + i) as u32, end]).collect();
        let sequences: Vec<&[u32]> = sequences.iter().map(<[u32; 3]>::as_slice).collect();
        let hidden = model.hidden(&sequences)?;
        for (row, found) in rows.chunks_exact_mut(width).zip(hidden.chunks_exact(3 * width)) {
            for token in found.chunks_exact(width) {
                row.iter_mut().zip(token).for_each(|(mean, x)| *mean += x / 3.0);
            }
        }
        progress(done.fetch_add(count, Ordering::Relaxed) + count, tokens);
        Ok(())
    };
    if model.parallel() {
        rows.par_chunks_mut(BATCH * width).enumerate().try_for_each(one)?;
    } else {
        rows.chunks_mut(BATCH * width).enumerate().try_for_each(one)?;
    }
    Ok(rows)
}

/// The weight of each of `tokens` tokens; 0 for those that are not among `known`, which are in order of their frequency.
fn inverse_frequencies(known: impl Iterator<Item = usize>, tokens: usize) -> Vec<f64> {
    let known: Vec<usize> = known.collect();
    let frequency = |rank: usize| 1.0 / (rank + 2) as f64;
    let all: f64 = (0..known.len()).map(frequency).sum();
    let mut weights = vec![0.0; tokens];
    for (rank, id) in known.into_iter().enumerate() {
        if let Some(weight) = weights.get_mut(id) {
            *weight = SMOOTHING / (SMOOTHING + frequency(rank) / all);
        }
    }
    weights
}

/// The files of a Model2Vec folder, the table in half precision.
fn write(base: &Base, rows: &[f32], dimension: usize, out: &Path) -> Result<Distilled, ModelError> {
    std::fs::create_dir_all(out).map_err(ModelError::io(out))?;
    let config = json!({
        "model_type": target::KIND,
        "architectures": ["StaticModel"],
        "tokenizer_name": base.dir.name,
        "base_sha256": base.weights.sha256(),
        "apply_pca": dimension,
        "sif_coefficient": SMOOTHING,
        "hidden_dim": dimension,
        "seq_length": 512,
        "normalize": true,
    });
    let tokens = rows.len() / dimension.max(1);
    let file = out.join("model.safetensors");
    let table = Tensor::from_slice(rows, (tokens, dimension), &Device::Cpu).and_then(|t| t.to_dtype(DType::F16));
    let table = table.map_err(|e| ModelError::unusable(&file, e))?;
    let bytes = safetensors::serialize(HashMap::from([("embeddings", &table)]), None)
        .map_err(|e| ModelError::unusable(&file, e))?;
    let tokenizer = base.dir.file("tokenizer.json");
    let vocabulary = std::fs::read(&tokenizer).map_err(ModelError::io(&tokenizer))?;
    // The table comes last: a folder without it is no model. What says whose folder it is comes first, so that one that was left
    // half written can be written again.
    for (name, content) in [
        ("config.json", format!("{config:#}\n").into_bytes()),
        ("tokenizer.json", vocabulary),
        ("model.safetensors", bytes.clone()),
    ] {
        let path = out.join(name);
        pericope_util::replace_file(&path, content).map_err(ModelError::io(&path))?;
    }
    Ok(Distilled { tokens, dimension, bytes: bytes.len() as u64 })
}

#[cfg(test)]
mod tests {
    use super::inverse_frequencies;

    #[test]
    fn frequent_tokens_weigh_little_and_special_ones_nothing() {
        let weights = inverse_frequencies([1, 3, 4].into_iter(), 5);
        assert_eq!((weights[0], weights[2]), (0.0, 0.0));
        assert!(0.0 < weights[1] && weights[1] < weights[3] && weights[3] < weights[4] && weights[4] < 1.0);
        // 1/2, 1/3 and 1/4 of their sum 13/12.
        assert!((weights[1] - 1e-4 / (1e-4 + 6.0 / 13.0)).abs() < 1e-12);
    }
}
