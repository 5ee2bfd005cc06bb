//! The integration tests of this crate, one module a subject.
#![allow(clippy::unwrap_used)]

mod cogltx;
mod corpus_split;
mod corpus_vectors;
mod hiercrf;
mod nsp;
mod nsp_segmenter;
mod robert;
mod sequence;
mod support;
mod topic;
mod topic_encoder;
mod topic_segmenter;
mod training;
mod training_nsp;
mod training_weswin;
mod weswin;
