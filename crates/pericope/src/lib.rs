#![cfg_attr(all(feature = "models", feature = "eval", feature = "qdrant"), doc = include_str!("../README.md"))]
#![cfg_attr(
    not(all(feature = "models", feature = "eval", feature = "qdrant")),
    doc = "Pericope's libraries under one name."
)]
#![forbid(unsafe_code)]

mod embedders;
mod engine;
mod error;
#[cfg(all(feature = "eval", feature = "models"))]
pub mod experiments;
mod language_models;
mod missed;
mod needs;
mod reference;
#[cfg(feature = "models")]
mod rerankers;
pub mod stores;
#[cfg(all(feature = "eval", feature = "models"))]
pub mod training;

pub use pericope_api as api;
#[cfg(feature = "models")]
pub use pericope_encode as encode;
#[cfg(feature = "eval")]
pub use pericope_eval as eval;
pub use pericope_index as index;
#[cfg(feature = "models")]
pub use pericope_learn as learn;
#[cfg(feature = "llm")]
pub use pericope_llm as llm;
#[cfg(feature = "eval")]
pub use pericope_nightly as nightly;
#[cfg(feature = "qdrant")]
pub use pericope_qdrant as qdrant;
pub use pericope_read as read;
#[cfg(feature = "eval")]
pub use pericope_report as report;
#[cfg(feature = "eval")]
pub use pericope_segeval as segeval;
pub use pericope_segment as segment;
pub use pericope_store as store;

pub use engine::{Engine, LoadingCounter, segmenters};
pub use error::EngineError;
pub use missed::Missed;
pub use needs::{needs_encoder, reads_with, shares_encoder, tokenizer_for};
pub use reference::Corpus;
#[cfg(feature = "models")]
pub use rerankers::rerankers;
