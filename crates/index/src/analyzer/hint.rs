//! How tantivy is told the language of a text: it hands its tokenizers the text alone, so the language stands before it.

use pericope_store::Language;

/// Ends a hint: no text that a reader gives begins with a code and this.
const MARK: char = '\u{2}';

/// The text behind its language.
pub(crate) fn hinted(text: &str, language: Language) -> String {
    let code = language.code();
    let mut hinted = String::with_capacity(code.len() + 1 + text.len());
    hinted.push_str(code);
    hinted.push(MARK);
    hinted.push_str(text);
    hinted
}

/// The language before a text, and the text; English where there is none.
pub(crate) fn without_hint(hinted: &str) -> (Language, &str) {
    match hinted.split_once(MARK) {
        Some((code, text)) => (code.parse().unwrap_or(Language::Other), text),
        None => (Language::English, hinted),
    }
}

#[cfg(test)]
mod tests {
    use super::{hinted, without_hint};
    use crate::analyzer::Language;

    #[test]
    fn a_hint_comes_off_again() {
        for language in Language::all() {
            for text in ["", "text", "\u{2}odd\u{2}"] {
                assert_eq!(without_hint(&hinted(text, language)), (language, text));
            }
        }
        assert_eq!(without_hint("no hint"), (Language::English, "no hint"));
    }
}
