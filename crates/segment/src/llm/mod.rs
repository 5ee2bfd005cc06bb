//! `llm`: a language model is shown numbered passages, a group at a time, and says where the content shifts; the next group begins
//! there (Duarte et al. 2024, LumberChunker).
//!
//! A spec of it asks a service, which costs money, or reads a file: never build one that a stranger wrote.

mod entry;
mod model;
mod passages;
mod segmenter;

pub use entry::LLM;
pub use model::LanguageModel;
pub use passages::Unit;
pub use segmenter::{DEFAULT_TOKENS, LlmSegmenter};
