//! Fakes and laws for Pericope's own tests. Not published: no released crate depends on it.
//!
//! - [`analyzer`]: plain words without stems;
//! - [`encoders`]: sentence encoders without a model;
//! - [`documents`]: made-up documents, chunks, folders;
//! - [`hostile`]: generators of nasty documents;
//! - [`store_laws`]: the laws that every store obeys, of [`Destination`](pericope_store::Destination) and
//!   [`Retriever`](pericope_store::Retriever);
//! - `faults` (feature of that name): commands whose system calls fail, on Linux;
//! - `llm` (feature of that name): a server that speaks the APIs of language models and misbehaves on purpose;
//! - `load` (feature of that name): a generator of load for a server over HTTP;
//! - `qdrant` (feature of that name): a Qdrant server in memory, with faults to order.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::expect_used)]

pub mod analyzer;
pub mod documents;
pub mod encoders;
#[cfg(all(feature = "faults", target_os = "linux", target_arch = "x86_64"))]
pub mod faults;
pub mod hostile;
mod laws;
#[cfg(feature = "llm")]
pub mod llm;
#[cfg(feature = "load")]
pub mod load;
#[cfg(feature = "qdrant")]
pub mod qdrant;

pub use laws::{TestStore, store_laws};
