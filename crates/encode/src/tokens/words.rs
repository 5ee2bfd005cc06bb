/// The longest stretch without white space that is tokenised at once, in bytes.
const LONGEST: usize = 4096;

/// What parts words: white space, but for characters that BERT's tokenizers drop before they look for any. To other tokenizers they
/// are a part of the word that they parse anyway.
fn is_blank(c: char) -> bool {
    c.is_whitespace() && !matches!(c, '\u{b}' | '\u{c}' | '\u{85}')
}

/// What stands between white space, with its places; very long stretches (text in scripts without spaces, encoded data) in
/// pieces, so that no tokenizer takes more than linear time.
pub(super) fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..)?;
        let start = at + (rest.len() - rest.trim_start_matches(is_blank).len());
        let word = text.get(start..)?;
        let length = word.find(is_blank).unwrap_or(word.len());
        if length == 0 {
            return None;
        }
        let length = if length > LONGEST { word.floor_char_boundary(LONGEST) } else { length };
        at = start + length;
        Some((start, &word[..length]))
    })
}
