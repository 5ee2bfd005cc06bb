use std::path::Path;

use crate::prompt::{Prompt, PromptError};

const JUDGE: &str = include_str!("../../prompts/judge.md");
const PAIRWISE: &str = include_str!("../../prompts/pairwise.md");
const FAITHFULNESS: &str = include_str!("../../prompts/faithfulness.md");
const RELEVANCE: &str = include_str!("../../prompts/context_relevance.md");

pub(super) fn judge_prompt(path: Option<&Path>) -> Result<Prompt, PromptError> {
    Prompt::load(path, "judge", JUDGE, &["question", "gold", "answer"])
}

pub(super) fn pairwise_prompt(path: Option<&Path>) -> Result<Prompt, PromptError> {
    Prompt::load(path, "pairwise", PAIRWISE, &["question", "gold", "first", "second"])
}

pub(super) fn faithfulness_prompt(path: Option<&Path>) -> Result<Prompt, PromptError> {
    Prompt::load(path, "faithfulness", FAITHFULNESS, &["context", "answer"])
}

pub(super) fn relevance_prompt(path: Option<&Path>) -> Result<Prompt, PromptError> {
    Prompt::load(path, "context_relevance", RELEVANCE, &["question", "context"])
}
