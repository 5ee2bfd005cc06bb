//! Opinions on answers: how good against the gold answer, which of two is better, how faithful to the context, how relevant
//! the context.

mod context;
mod correctness;
mod pairwise;
mod prompts;
mod schema;
mod score;

pub use context::{Faithfulness, Relevance, Statement};
pub use correctness::{Judgement, LlmJudge, Vote};
pub use pairwise::{Better, Comparison};
