//! The corpus cut by chunkers: by those of an experiment, in the order in which they need one another, or by specs that stand
//! for themselves.

mod chunked;
mod experiment;
mod one;
mod plain;
mod resources;

pub(in crate::run) use chunked::Cut;
pub(in crate::run) use experiment::all;
pub(in crate::run) use plain::plain;
