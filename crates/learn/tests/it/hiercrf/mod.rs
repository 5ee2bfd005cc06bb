//! HierCRF from training to trees, on documents whose sentence vectors say their topic.

mod cuts;
pub mod fixtures;
mod rows;
mod training;
mod unusable;
mod windows;
