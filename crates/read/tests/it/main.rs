//! The integration tests of the crate, in one binary.

mod bounds;
mod corpus;
mod files;
mod golden;
mod properties;
mod skip;
