use std::path::Path;

use candle_core::Device;

use super::bert::{Packed, Plain};
use super::config::{Config, Kind};
use super::embed::{Embed, LayerByLayer};
use super::longformer::Longformer;
use super::renamed::Renamed;
use super::weights::{Tensors, Weights, weights_file};
use super::{distil, mpnet};
use crate::kernels::Precision;
use crate::models::{ModelDir, ModelError};

/// Reads an installed encoder of the kind that its `config.json` names, as [`build`] makes it. Also gives the SHA-256 of
/// the weights.
///
/// # Errors
/// [`ModelError::Io`] or [`ModelError::Unusable`], naming the file and the field or tensor; [`ModelError::Setting`] as in
/// [`build`].
pub fn load(dir: &ModelDir, device: &Device) -> Result<(Box<dyn Embed>, Config, String), ModelError> {
    load_in(dir, device, Precision::of_machine().map_err(ModelError::Setting)?)
}

/// [`load`] with the precision in which fused kernels multiply; candle's operations are in single precision.
///
/// # Errors
/// [`ModelError::Io`] or [`ModelError::Unusable`], naming the file and the field or tensor.
pub fn load_in(
    dir: &ModelDir,
    device: &Device,
    precision: Precision,
) -> Result<(Box<dyn Embed>, Config, String), ModelError> {
    let config = Config::read(&dir.file("config.json"))?;
    let weights = Weights::read(&weights_file(&dir.path)?)?;
    let checksum = weights.sha256().to_owned();
    Ok((build_in(&config, &weights, device, precision)?, config, checksum))
}

/// The model of `weights`: with fused kernels where there are some, the device is the CPU and the shapes fit, else in
/// candle's operations. The fused kernels multiply in what is quickest on this machine ([`Precision::of_machine`]).
///
/// # Errors
/// [`ModelError::Unusable`], naming the tensor; [`ModelError::Setting`] where `PERICOPE_PRECISION` is no precision.
pub fn build(config: &Config, weights: &dyn Tensors, device: &Device) -> Result<Box<dyn Embed>, ModelError> {
    build_in(config, weights, device, Precision::of_machine().map_err(ModelError::Setting)?)
}

pub(crate) fn build_in(
    config: &Config,
    weights: &dyn Tensors,
    device: &Device,
    precision: Precision,
) -> Result<Box<dyn Embed>, ModelError> {
    let distil = Renamed { weights, own_name: distil::own_name };
    let mpnet = Renamed { weights, own_name: mpnet::own_name };
    let weights: &dyn Tensors = match config.kind() {
        Kind::DistilBert => &distil,
        Kind::MpNet => &mpnet,
        _ => weights,
    };
    Ok(match config.kind() {
        Kind::Longformer => Box::new(Longformer::new(config, weights, device)?),
        _ if device.is_cpu() && Packed::fits(config) => Box::new(Packed::new(config, weights, precision)?),
        _ => Box::new(Plain::new(config, weights, device)?),
    })
}

/// The model of `weights` in candle's operations, all of which have a gradient: a model made of variables follows them
/// when they are stepped.
///
/// # Errors
/// [`ModelError::Unusable`], naming the tensor; for a DistilBERT or MPNet, whose tensors trained models do not name.
pub fn build_trainable(
    config: &Config,
    weights: &dyn Tensors,
    device: &Device,
) -> Result<Box<dyn LayerByLayer>, ModelError> {
    Ok(match config.kind() {
        Kind::Longformer => Box::new(Longformer::new(config, weights, device)?),
        Kind::DistilBert | Kind::MpNet => {
            let reason = "a DistilBERT or MPNet can be used and not trained: take a BERT or RoBERTa";
            return Err(weights.unusable(reason.into()));
        }
        _ => Box::new(Plain::new(config, weights, device)?),
    })
}

/// Refuses a tokenizer that gives ids without an embedding, or so few that it must be another model's.
///
/// Tables of embeddings are often longer than the vocabulary, filled up to a whole multiple of at most 128 rows.
///
/// # Errors
/// [`ModelError::Unusable`], naming the folder and both numbers.
pub fn check_vocabulary(dir: &ModelDir, tokens: usize, config: &Config) -> Result<(), ModelError> {
    check_rows(&dir.path, tokens, config.vocab_size)
}

/// The same of a table of so many rows.
pub(super) fn check_rows(folder: &Path, tokens: usize, rows: usize) -> Result<(), ModelError> {
    // Large vocabularies leave room for tokens to come.
    if (tokens..tokens.saturating_add(PADDED.max(tokens / 100))).contains(&rows) {
        return Ok(());
    }
    let reason = format!("tokenizer.json has {tokens} tokens, the model's embedding {rows} rows");
    Err(ModelError::unusable(folder, reason))
}

/// Rows to a whole multiple of which tables of embeddings are filled up, at most.
const PADDED: usize = 128;
