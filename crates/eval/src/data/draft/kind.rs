//! The kinds of drafted questions.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Where a drafted question comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum QuestionKind {
    /// A heading that asks; its section answers.
    Asked,
    /// The path of another heading; its section answers.
    Heading,
    /// `What is X?`; the definition of X answers.
    Definition,
    /// The label of a table's row and the head of a column; the row answers.
    Table,
    /// The rare words of a sentence; the sentence or its paragraph answers.
    Terms,
    /// A model wrote the question and quoted the answer.
    Model,
}

impl QuestionKind {
    /// The kinds that need no model.
    pub const WITHOUT_MODEL: [Self; 5] = [Self::Asked, Self::Heading, Self::Definition, Self::Table, Self::Terms];

    /// Returns true where a whole section answers, false where a few sentences do.
    #[must_use]
    pub fn asks_for_a_section(self) -> bool {
        matches!(self, Self::Asked | Self::Heading)
    }

    /// Returns the name in files and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Heading => "heading",
            Self::Definition => "definition",
            Self::Table => "table",
            Self::Terms => "terms",
            Self::Model => "model",
        }
    }
}

impl fmt::Display for QuestionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for QuestionKind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = Self::WITHOUT_MODEL.into_iter().find(|kind| kind.name() == name);
        let names = || Self::WITHOUT_MODEL.map(Self::name).join(", ");
        known.ok_or_else(|| format!("there is no kind \"{name}\": choose from {}", names()))
    }
}
