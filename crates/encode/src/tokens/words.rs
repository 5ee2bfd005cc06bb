/// The longest stretch without white space that is tokenised at once, in bytes.
const LONGEST: usize = 4096;

/// What stands between white space, with its places; very long stretches (text in scripts without spaces, encoded data) in
/// pieces, so that no tokenizer takes more than linear time.
pub(super) fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..)?;
        let start = at + (rest.len() - rest.trim_start().len());
        let word = text.get(start..)?;
        let length = word.find(char::is_whitespace).unwrap_or(word.len());
        if length == 0 {
            return None;
        }
        let length = if length > LONGEST { word.floor_char_boundary(LONGEST) } else { length };
        at = start + length;
        Some((start, &word[..length]))
    })
}
