//! Opinions on answers: how good against the gold answer, how faithful to the context, how relevant the context.

mod context;
mod correctness;
mod prompts;
mod schema;
mod score;

pub use context::{Faithfulness, Relevance, Statement};
pub use correctness::{Judgement, LlmJudge, Vote};
