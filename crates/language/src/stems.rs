use rust_stemmers::Algorithm;

use crate::Language;

/// Snowball's stemmer of a language: of English alone, since every reader of a page loads those that are compiled in.
#[cfg(target_arch = "wasm32")]
pub(crate) fn algorithm(language: Language) -> Option<Algorithm> {
    (language == Language::English).then_some(Algorithm::English)
}

/// Snowball's stemmer of a language.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn algorithm(language: Language) -> Option<Algorithm> {
    Some(match language {
        Language::Arabic => Algorithm::Arabic,
        Language::Danish => Algorithm::Danish,
        Language::Dutch => Algorithm::Dutch,
        Language::English => Algorithm::English,
        Language::Finnish => Algorithm::Finnish,
        Language::French => Algorithm::French,
        Language::German => Algorithm::German,
        Language::Greek => Algorithm::Greek,
        Language::Hungarian => Algorithm::Hungarian,
        Language::Italian => Algorithm::Italian,
        Language::Norwegian => Algorithm::Norwegian,
        Language::Portuguese => Algorithm::Portuguese,
        Language::Romanian => Algorithm::Romanian,
        Language::Russian => Algorithm::Russian,
        Language::Spanish => Algorithm::Spanish,
        Language::Swedish => Algorithm::Swedish,
        Language::Tamil => Algorithm::Tamil,
        Language::Turkish => Algorithm::Turkish,
        Language::Chinese
        | Language::Japanese
        | Language::Korean
        | Language::Thai
        | Language::Khmer
        | Language::Lao
        | Language::Burmese
        | Language::Other => return None,
    })
}
