//! Ways to a model: one a file.

mod anthropic;
mod build;
mod capabilities;
mod common;
#[cfg(feature = "candle")]
mod gguf;
mod http_provider;
mod openai;
mod provider;

pub use build::build;
pub(crate) use common::{identity, tokens};
#[cfg(feature = "candle")]
pub use gguf::Gguf;
pub use provider::Provider;
