//! Static vectors: a table with one vector a token, in the layout of Model2Vec. A text's vector is the mean of its tokens', so
//! that embedding is reading. [`distil`] makes such a table from any encoder.

mod components;
mod distil;
mod model;
mod table;
mod target;

pub use distil::{DistilOptions, Distilled, distil};
pub use model::StaticVectors;
