//! The page.

mod chunkers;
mod comparisons;
mod costs;
mod page;
mod pairwise;
mod questions;
mod record;
mod results;
mod top;

pub(super) use page::page;
