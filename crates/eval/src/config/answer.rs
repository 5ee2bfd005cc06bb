//! `[answer]`, `[judge]` and `[llm]`: how answers are made and scored.

use std::path::PathBuf;

use pericope_llm::LlmConfig;
use serde::{Deserialize, Serialize};

/// `[answer]`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AnswerConfig {
    /// What answers.
    pub generator: GeneratorKind,
}

/// The kinds of answer generators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GeneratorKind {
    /// No answers: retrieval alone is measured.
    None,
    /// A passage of the retrieved chunks, chosen by words and meaning.
    #[default]
    Extractive,
    /// A language model reads the retrieved chunks.
    Llm,
}

/// `[judge]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct JudgeConfig {
    /// What judges.
    pub kind: JudgeKind,
    /// How often the model judges each answer; the mean counts. The lexical judge always agrees with itself.
    pub votes: usize,
    /// Whether the model also says which claims of an answer its context supports; default false.
    pub faithfulness: bool,
    /// Whether the model also says which of the chunks help to answer the question; default false.
    pub context_relevance: bool,
    /// Whether the model also compares each chunker's answers with the baseline's, in both orders; default false.
    pub pairwise: bool,
    /// Gold against gold and gold against unrelated, before the run; default true.
    pub checks: bool,
}

impl Default for JudgeConfig {
    fn default() -> Self {
        Self {
            kind: JudgeKind::Lexical,
            votes: 1,
            faithfulness: false,
            context_relevance: false,
            pairwise: false,
            checks: true,
        }
    }
}

/// The kinds of judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JudgeKind {
    /// Nobody judges.
    None,
    /// A fixed function of the words and places of answer and gold answer.
    #[default]
    Lexical,
    /// A language model.
    Llm,
    /// Both, with their correlation.
    Both,
}

impl JudgeKind {
    /// Returns true where a language model judges.
    #[must_use]
    pub fn asks_model(self) -> bool {
        matches!(self, JudgeKind::Llm | JudgeKind::Both)
    }

    /// Returns the name of the metric that the lexical judge's score has; none where it does not judge.
    #[must_use]
    pub fn lexical_metric(self) -> Option<&'static str> {
        match self {
            JudgeKind::Lexical => Some("judge"),
            JudgeKind::Both => Some("judge_lexical"),
            JudgeKind::None | JudgeKind::Llm => None,
        }
    }
}

/// `[llm.generator]` and `[llm.judge]`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LlmTables {
    /// What answers where `answer.generator = "llm"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator: Option<LlmConfig>,
    /// What judges where `judge.kind` is `llm` or `both`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<LlmConfig>,
    /// File of the response cache; default: `responses.sqlite` in the run's folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<PathBuf>,
}

impl LlmTables {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
