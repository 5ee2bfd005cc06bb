//! Exact match and token F1 as SQuAD scores them (Rajpurkar et al. 2016, section 6.1; the evaluation script of version
//! 1.1).

use std::collections::HashMap;

/// A text as SQuAD compares it: lower case, without ASCII punctuation, without the words "a", "an" and "the", words
/// apart by one space.
///
/// ```
/// use pericope_eval::metrics::answers::normalise;
///
/// assert_eq!(normalise("The U.S. economy,\n in a nutshell"), "us economy in nutshell");
/// ```
#[must_use]
pub fn normalise(text: &str) -> String {
    let plain: String = text.to_lowercase().chars().filter(|c| !c.is_ascii_punctuation()).collect();
    let mut out = String::with_capacity(plain.len());
    // Articles go before the text is cut at white space: one in quotation marks that are not ASCII is an article too.
    for piece in pieces(&plain) {
        if matches!(piece, "a" | "an" | "the") {
            out.push(' ');
        } else {
            out.push_str(piece);
        }
    }
    out.split(is_space).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// White space as the Python script sees it: Unicode's, and the four ASCII separators.
fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// The text in maximal runs of letters and digits and of everything else.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let word = rest.chars().next()?.is_alphanumeric();
        let end = rest.find(|c: char| c.is_alphanumeric() != word).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(piece)
    })
}

/// 1 where both are the same after [`normalise`], else 0.
#[must_use]
pub fn exact_match(answer: &str, gold: &str) -> f64 {
    if normalise(answer) == normalise(gold) { 1.0 } else { 0.0 }
}

/// F1 of the two bags of words after [`normalise`], 0..=1. Where one has no words: 1 if neither has, else 0 (the rule of
/// SQuAD 2.0).
#[must_use]
pub fn token_f1(answer: &str, gold: &str) -> f64 {
    let (answer, gold) = (normalise(answer), normalise(gold));
    let words = |text: &str| text.split(' ').filter(|word| !word.is_empty()).count();
    let (answered, wanted) = (words(&answer), words(&gold));
    if answered == 0 || wanted == 0 {
        return if answered == wanted { 1.0 } else { 0.0 };
    }
    let mut bag: HashMap<&str, usize> = HashMap::new();
    for word in gold.split(' ') {
        *bag.entry(word).or_default() += 1;
    }
    let mut common = 0;
    for word in answer.split(' ') {
        if let Some(left) = bag.get_mut(word).filter(|left| **left > 0) {
            *left -= 1;
            common += 1;
        }
    }
    2.0 * f64::from(common) / (answered + wanted) as f64
}

#[cfg(test)]
mod tests {
    use super::{exact_match, normalise, token_f1};

    #[test]
    fn normalisation_follows_the_script() {
        assert_eq!(normalise("An \u{201c}a\u{201d} theatre, the-end"), "\u{201c} \u{201d} theatre theend");
        assert_eq!(normalise("THE  Cafés\u{1f}are\u{a0}open!"), "cafés are open");
        assert_eq!(normalise("a1 1a a"), "a1 1a");
        assert_eq!(normalise(""), "");
    }

    #[test]
    fn repeated_words_count_as_often_as_both_have_them() {
        assert_eq!(token_f1("b b b c", "b b d"), 4.0 / 7.0);
        assert_eq!(token_f1("", "the"), 1.0);
        assert_eq!(token_f1("", "word"), 0.0);
        assert_eq!(exact_match("The Answer.", "answer"), 1.0);
        assert_eq!(exact_match("answers", "answer"), 0.0);
    }
}
