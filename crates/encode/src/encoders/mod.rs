//! Encoders in the layouts of Hugging Face: a folder with `config.json`, `model.safetensors` and `tokenizer.json`.
//!
//! | `model_type` | run by |
//! | --- | --- |
//! | `bert`, or none | [`bert::Packed`] on a CPU where the shapes fit its kernels, else [`bert::Plain`] |
//! | `roberta`, `xlm-roberta` | the same, with RoBERTa's positions |
//! | `longformer` | [`Longformer`] |

mod bert;
mod config;
mod embed;
mod layers;
mod load;
mod longformer;
mod stack;
mod weights;

pub use bert::{Packed, Plain};
pub use config::{Config, Kind};
pub use embed::{Embed, LayerByLayer};
pub use load::{build, build_trainable, check_vocabulary, load, load_in};
pub use longformer::Longformer;
pub use weights::{Tensors, Weights};

#[cfg(test)]
mod tests;
