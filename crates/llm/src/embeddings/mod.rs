//! Vectors from an embeddings endpoint.

mod answer;
mod encoder;

pub use encoder::OpenAiEmbeddings;
