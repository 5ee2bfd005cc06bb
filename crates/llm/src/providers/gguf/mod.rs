//! A GGUF file in this process: no server and no key.

mod chat_template;
mod decoder;
mod model;

pub use model::Gguf;
