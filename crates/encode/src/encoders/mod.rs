//! Encoders in the layouts of Hugging Face: a folder with `config.json`, `model.safetensors` and `tokenizer.json`.
//!
//! | `model_type` | run by |
//! | --- | --- |
//! | `bert`, or none | [`bert::Packed`] on a CPU where the shapes fit its kernels, else [`bert::Plain`] |
//! | `roberta`, `xlm-roberta` | the same, with RoBERTa's positions |
//! | `longformer` | [`Longformer`] |
//! | `distilbert` | as `bert`, under its own names of tensors; it cannot be trained |
//! | `mpnet` | as `roberta`, with its table of distances and its own names of tensors; it cannot be trained |
//! | `modernbert`, `nomic_bert`, `qwen3` | [`Rotary`], for vectors of texts alone |

mod bert;
mod config;
mod distil;
mod embed;
mod layers;
mod load;
mod longformer;
pub mod low_rank;
mod mpnet;
mod open;
mod renamed;
mod rotary;
mod spare;
mod stack;
mod weights;

pub use bert::{Packed, Plain, Tape, Tuned};
pub use config::{Config, Kind};
pub use embed::{Embed, LayerByLayer};
pub(crate) use load::build_in;
pub use load::{build, build_trainable, check_vocabulary, load, load_in};
pub use longformer::Longformer;
pub use low_rank::{Changed, LowRank};
pub(crate) use open::{Opened, open};
pub use rotary::Rotary;
pub(crate) use weights::weights_file;
pub use weights::{Tensors, Weights, tensor_among};

#[cfg(test)]
mod tests;
