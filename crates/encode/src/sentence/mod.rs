//! Embedding models in the layout of sentence-transformers: a transformer, a way of pooling its rows, and the words that stand
//! before queries and before passages.

mod late;
mod layout;
mod lower;
mod model;
mod pooling;
mod prompted;
mod settings;
mod spec;

pub use model::SentenceModel;
pub(crate) use pooling::{Pooling, normalise};
pub(crate) use prompted::Prompted;
pub(crate) use spec::EmbedderSpec;
