//! The marks that end sentences, and those around them.

/// Marks that close what a terminator ends.
pub(super) fn is_closer(c: char) -> bool {
    matches!(c, ')' | ']' | '}' | '"' | '\'' | '\u{201d}' | '\u{2019}' | '»' | '*' | '_' | '`')
        || matches!(c, '」' | '』' | '）' | '】' | '》' | '〉' | '］' | '〕')
}

/// What opens a quote or a heading of a sentence in Japanese and Chinese. What stands in round brackets goes with the sentence before
/// it.
pub(super) fn is_wide_opener(c: char) -> bool {
    matches!(c, '「' | '『' | '《' | '【' | '〈' | '［' | '〔' | '\u{201c}')
}

/// The semicolon, which Unicode has twice: in Greek it asks.
pub(super) fn is_semicolon(c: char) -> bool {
    matches!(c, ';' | '\u{37e}')
}

/// What ends the clauses of Tibetan.
pub(super) fn is_shad(c: char) -> bool {
    matches!(c, '།' | '༎')
}

/// Terminators that need white space after them.
pub(super) fn is_terminator(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '…' | '‼' | '⁇' | '⁈' | '⁉' | '؟' | '۔' | '।' | '॥' | '։' | '።' | '፧' | '។' | '៕')
        || matches!(c, '᠃' | '᠉' | '᱾' | '᱿' | '꯫')
        || is_shad(c)
}

/// Terminators of scripts that write no space between sentences.
pub(super) fn is_wide_terminator(c: char) -> bool {
    matches!(c, '。' | '！' | '？' | '｡' | '．' | '။')
}

/// True for the semicolon that is a question mark in Greek: two letters of it before, a capital one behind.
pub(super) fn asks(body: &str, next: char) -> bool {
    body.ends_with(is_semicolon)
        && body.chars().rev().skip(1).take(2).filter(|&c| is_greek(c)).count() == 2
        && (next == '«' || (next.is_uppercase() && is_greek(next)))
}

fn is_greek(c: char) -> bool {
    (('\u{370}'..'\u{400}').contains(&c) || ('\u{1f00}'..'\u{2000}').contains(&c)) && c.is_alphabetic()
}
