//! Models that read a document as a sequence of vectors, one a sentence.
//!
//! [`BiLstm`] is a layer of a bidirectional LSTM. On the CPU its recurrence and the gradient of that are written by hand, so
//! that a time step is one matrix product and not a dozen nodes of an automatic gradient.

mod bilstm;
mod gates;
mod packing;
mod parameters;
mod recurrence;

pub use bilstm::BiLstm;
pub use parameters::{Init, Parameter, Parameters};
