//! Cross-encoders: a query and a passage read as one sequence, and one number that says how well the passage answers
//! (Nogueira and Cho 2019, arXiv:1901.04085).
//!
//! Any sequence classifier of Hugging Face's that is a BERT, DistilBERT, RoBERTa or XLM-RoBERTa, from a folder with
//! `config.json`, `model.safetensors` and `tokenizer.json`.

mod entry;
mod head;
mod model;
mod pair;

pub use entry::CROSS_ENCODER;
pub use model::CrossEncoder;
