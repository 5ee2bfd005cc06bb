use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Language, UnknownLanguage, detect};

/// What is said about the language of documents: one for all of them, or that each is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum LanguageChoice {
    /// The language of each document is detected.
    #[default]
    Auto,
    /// All documents are in this language.
    Fixed(Language),
}

impl LanguageChoice {
    /// Returns the language of a text; with `Auto`, English where the text does not say.
    #[must_use]
    pub fn of(self, text: &str) -> Language {
        match self {
            Self::Auto => detect(text).unwrap_or_default(),
            Self::Fixed(language) => language,
        }
    }
}

impl fmt::Display for LanguageChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Fixed(language) => language.fmt(f),
        }
    }
}

impl FromStr for LanguageChoice {
    type Err = UnknownLanguage;

    fn from_str(text: &str) -> Result<Self, UnknownLanguage> {
        match text {
            "auto" => Ok(Self::Auto),
            _ => text.parse().map(Self::Fixed),
        }
    }
}

impl TryFrom<String> for LanguageChoice {
    type Error = UnknownLanguage;

    fn try_from(text: String) -> Result<Self, UnknownLanguage> {
        text.parse()
    }
}

impl From<LanguageChoice> for String {
    fn from(choice: LanguageChoice) -> Self {
        choice.to_string()
    }
}
