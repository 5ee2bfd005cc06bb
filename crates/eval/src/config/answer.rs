//! `[answer]`, `[judge]` and `[llm]`: how answers are made and scored.

use std::path::PathBuf;

use pericope_api::expand_variables;
use pericope_llm::LlmConfig;
use serde::{Deserialize, Serialize};

/// `[answer]`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AnswerConfig {
    /// What answers.
    pub generator: GeneratorKind,
    /// The judge of `cogltx` and of a retriever `memrecall`: a file or folder of `pericope train judge`; default: the one that ships.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Steps in which these find key blocks, 1 to 8; default 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<usize>,
    /// Whether blocks that were found are read together again, and may be lost; default true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rehearsal: Option<bool>,
}

impl AnswerConfig {
    /// Steps at most.
    const MOST_STEPS: usize = 8;

    /// Checks what the types do not say.
    pub(super) fn check(&self) -> Result<(), String> {
        match self.steps {
            Some(steps) if !(1..=Self::MOST_STEPS).contains(&steps) => {
                Err(format!("answer.steps must be from 1 to {}", Self::MOST_STEPS))
            }
            _ => Ok(()),
        }
    }
}

/// The kinds of answer generators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GeneratorKind {
    /// No answers: retrieval alone is measured.
    None,
    /// The best of the retrieved chunks, as it is.
    Best,
    /// A passage of the retrieved chunks, chosen by words and meaning.
    #[default]
    Extractive,
    /// A trained reader finds the key blocks of the retrieved chunks, and the answer in them (CogLTX).
    Cogltx,
    /// A language model reads the retrieved chunks.
    Llm,
}

impl GeneratorKind {
    /// The name, as in configurations.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Best => "best",
            Self::Extractive => "extractive",
            Self::Cogltx => "cogltx",
            Self::Llm => "llm",
        }
    }

    /// Returns true where answers are quotations, which have a place in a document.
    pub(crate) fn quotes(self) -> bool {
        matches!(self, Self::Best | Self::Extractive | Self::Cogltx)
    }
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
    /// A judge that the program which runs the experiment brings: one in Python, say. The command has none.
    Custom,
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
            JudgeKind::None | JudgeKind::Llm | JudgeKind::Custom => None,
        }
    }
}

/// `[llm.generator]`, `[llm.judge]`, `[llm.segmenter]` and `[llm.context]`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LlmTables {
    /// What answers where `answer.generator = "llm"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator: Option<LlmConfig>,
    /// What judges where `judge.kind` is `llm` or `both`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<LlmConfig>,
    /// What the segmenter `llm` asks, where its spec names no other model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segmenter: Option<LlmConfig>,
    /// What writes the contexts of chunks where `context = "llm"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<LlmConfig>,
    /// File of the response cache; default: `responses.sqlite` in the run's folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<PathBuf>,
}

impl LlmTables {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Replaces `${NAME}` and `${NAME:-default}` in the addresses and names of models.
    pub(super) fn expand(&mut self) -> Result<(), String> {
        let tables = [
            ("generator", &mut self.generator),
            ("judge", &mut self.judge),
            ("segmenter", &mut self.segmenter),
            ("context", &mut self.context),
        ];
        for (table, config) in tables {
            let Some(config) = config else { continue };
            for (key, value) in [("base_url", config.base_url.as_mut()), ("model", Some(&mut config.model))] {
                let Some(value) = value else { continue };
                *value = expand_variables(value, |name| std::env::var(name).ok())
                    .map_err(|problem| format!("llm.{table}.{key}: {problem}"))?;
            }
        }
        Ok(())
    }

    /// Checks the values of all models.
    pub(super) fn check(&self) -> Result<(), String> {
        let tables = [
            ("generator", &self.generator),
            ("judge", &self.judge),
            ("segmenter", &self.segmenter),
            ("context", &self.context),
        ];
        let mut given = tables.into_iter().filter_map(|(table, config)| Some((table, config.as_ref()?)));
        given.try_for_each(|(table, config)| config.check().map_err(|problem| format!("llm.{table}.{problem}")))
    }
}
