//! Models that read a document as a sequence of vectors, one a sentence.
//!
//! [`BiLstm`] is a layer of a bidirectional LSTM, [`Lstm`] one that reads in one direction, and [`BiGated`] a layer of a
//! gated linear recurrence, which has no matrix product at a step. On the CPU its recurrence and the gradient of that are written by hand, so
//! that a time step is one matrix product and not a dozen nodes of an automatic gradient.

mod bilstm;
mod gap_head;
mod gated;
mod gates;
mod linear;
mod lstm;
mod packing;
mod parameters;
mod plain;
mod recurrence;
mod steps;

pub use bilstm::BiLstm;
pub(crate) use gap_head::GapHead;
pub use gated::BiGated;
pub use linear::Linear;
pub use lstm::Lstm;
pub use parameters::{Init, Parameter, Parameters};
