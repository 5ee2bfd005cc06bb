use std::fmt;
use std::str::FromStr;

/// A language that analyzers know, by its two-letter code (ISO 639-1).
///
/// The default is English: what an index took all texts for before it knew languages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[allow(missing_docs)]
pub enum Language {
    Arabic,
    Danish,
    Dutch,
    #[default]
    English,
    Finnish,
    French,
    German,
    Greek,
    Hungarian,
    Italian,
    Norwegian,
    Portuguese,
    Romanian,
    Russian,
    Spanish,
    Swedish,
    Tamil,
    Turkish,
    Chinese,
    Japanese,
    Korean,
    Thai,
    Khmer,
    Lao,
    Burmese,
    /// Any other: words are folded, and have no stems.
    Other,
}

/// There is no language of that code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no language {code:?}; known: auto, {}", known())]
pub struct UnknownLanguage {
    /// What was asked for.
    pub code: String,
}

const CODES: &[(Language, &str)] = &[
    (Language::Arabic, "ar"),
    (Language::Danish, "da"),
    (Language::Dutch, "nl"),
    (Language::English, "en"),
    (Language::Finnish, "fi"),
    (Language::French, "fr"),
    (Language::German, "de"),
    (Language::Greek, "el"),
    (Language::Hungarian, "hu"),
    (Language::Italian, "it"),
    (Language::Norwegian, "no"),
    (Language::Portuguese, "pt"),
    (Language::Romanian, "ro"),
    (Language::Russian, "ru"),
    (Language::Spanish, "es"),
    (Language::Swedish, "sv"),
    (Language::Tamil, "ta"),
    (Language::Turkish, "tr"),
    (Language::Chinese, "zh"),
    (Language::Japanese, "ja"),
    (Language::Korean, "ko"),
    (Language::Thai, "th"),
    (Language::Khmer, "km"),
    (Language::Lao, "lo"),
    (Language::Burmese, "my"),
    (Language::Other, "und"),
];

fn known() -> String {
    CODES.iter().map(|(_, code)| *code).collect::<Vec<_>>().join(", ")
}

impl Language {
    /// Returns all of them.
    pub fn all() -> impl Iterator<Item = Self> {
        CODES.iter().map(|(language, _)| *language)
    }

    /// Returns the code: `de`; `und` for any other language.
    #[must_use]
    pub fn code(self) -> &'static str {
        CODES.iter().find(|(language, _)| *language == self).map_or("und", |(_, code)| code)
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.code())
    }
}

impl FromStr for Language {
    type Err = UnknownLanguage;

    /// Reads a code, in either case, with or without what follows it (`pt-BR`, `zh_Hans`).
    fn from_str(text: &str) -> Result<Self, UnknownLanguage> {
        let code = text.split(['-', '_']).next().unwrap_or("").to_ascii_lowercase();
        // Norwegian is mostly written as one of its two forms.
        let code = if matches!(code.as_str(), "nb" | "nn") { "no" } else { &code };
        let found = CODES.iter().find(|(_, known)| *known == code);
        found.map(|(language, _)| *language).ok_or_else(|| UnknownLanguage { code: text.to_owned() })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::Language;

    #[test]
    fn codes_read_as_they_are_written() {
        for language in Language::all() {
            assert_eq!(language.to_string().parse(), Ok(language));
        }
        for (text, language) in [("pt-BR", "pt"), ("zh_Hans", "zh"), ("DE", "de"), ("nb", "no")] {
            assert_eq!(text.parse::<Language>().unwrap().code(), language);
        }
        let error = "klingon".parse::<Language>().unwrap_err().to_string();
        assert!(error.starts_with("there is no language \"klingon\"; known: auto, ar, da, nl, en, "), "{error}");
    }
}
