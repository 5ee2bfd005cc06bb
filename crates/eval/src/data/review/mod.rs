//! Reading drafted questions with a person's eyes: what a page shows of each, and what is done with the decisions.

mod apply;
mod open;

pub use apply::{Applied, Choice, Decision, Decisions, apply};
pub use open::{Entry, Review, open};
