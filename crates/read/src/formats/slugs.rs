//! The ids of headings that have none of their own, by the rule of GitHub.

use std::collections::HashMap;

use unicode_normalization::char::is_combining_mark;

use crate::work;

/// The slugs given so far in one document.
///
/// The rule is that of GitHub's html-pipeline (`TableOfContentsFilter`): the heading's text in small letters, all but
/// letters, marks, digits, connectors (`_`), spaces and hyphens taken out, each space made a hyphen, also the one behind
/// a picture that the text begins with. A slug that is taken gets `-1`, `-2`, and so on, with the first number that is
/// free, as in the npm package github-slugger.
#[derive(Debug, Default)]
pub(super) struct Slugs {
    /// Slug, and the last number that was hung on it.
    given: HashMap<String, usize>,
}

impl Slugs {
    /// The slug of the next heading that reads `text`; `None` where nothing is left of it.
    pub(super) fn next(&mut self, text: &str) -> Option<String> {
        let base = slug(text);
        if base.is_empty() {
            return None;
        }
        let Some(mut number) = self.given.get(&base).copied() else {
            self.given.insert(base.clone(), 0);
            return Some(base);
        };
        let free = loop {
            number += 1;
            work::looked(1);
            let candidate = format!("{base}-{number}");
            if !self.given.contains_key(&candidate) {
                break candidate;
            }
        };
        self.given.insert(base, number);
        self.given.insert(free.clone(), 0);
        Some(free)
    }
}

fn slug(text: &str) -> String {
    let lower = text.to_lowercase();
    lower.chars().filter(|&c| c == ' ' || c == '-' || is_word(c)).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// A letter, a mark, a digit, or punctuation that connects (Unicode's category Pc).
pub(super) fn is_word(c: char) -> bool {
    const CONNECTORS: &str = "_\u{203f}\u{2040}\u{2054}\u{fe33}\u{fe34}\u{fe4d}\u{fe4e}\u{fe4f}\u{ff3f}";
    c.is_alphabetic() || c.is_numeric() && !is_number_sign(c) || is_combining_mark(c) || CONNECTORS.contains(c)
}

/// A number that is no digit, as far as they are in use: `²`, `½`, `①`.
fn is_number_sign(c: char) -> bool {
    matches!(c,
        '²' | '³' | '¹' | '¼'..='¾' | '\u{2070}'..='\u{2089}' | '\u{2150}'..='\u{215f}' | '\u{2189}'
        | '\u{2460}'..='\u{24ff}' | '\u{2776}'..='\u{2793}' | '\u{3220}'..='\u{3229}' | '\u{3248}'..='\u{325f}'
        | '\u{3280}'..='\u{3289}' | '\u{32b1}'..='\u{32bf}')
}

#[cfg(test)]
mod tests {
    use super::{Slugs, slug};
    use crate::work;

    #[test]
    fn slugs_follow_the_rule() {
        for (text, expected) in [
            ("Getting Started", "getting-started"),
            ("What's new in 2.0?", "whats-new-in-20"),
            ("`cargo test --all`", "cargo-test---all"),
            ("snake_case & kebab-case", "snake_case--kebab-case"),
            ("Größe Ähnlich", "größe-ähnlich"),
            ("日本語 の 見出し", "日本語-の-見出し"),
            ("Cafe\u{301}", "cafe\u{301}"),
            ("🚀 Launch", "-launch"),
            (" Behind a picture", "-behind-a-picture"),
            ("① x² ½ ３४ Ⅳ", "-x--３४-ⅳ"),
            ("!?", ""),
        ] {
            assert_eq!(slug(text), expected);
        }
    }

    #[test]
    fn taken_slugs_are_numbered() {
        let mut slugs = Slugs::default();
        let given: Vec<_> = ["A", "A", "A-1", "A", "B", "b", "?"].iter().map(|text| slugs.next(text)).collect();
        let expected = ["a", "a-1", "a-1-1", "a-2", "b", "b-1"].map(|slug| Some(slug.to_owned()));
        assert_eq!(given[..6], expected);
        assert_eq!(given[6], None);
    }

    #[test]
    fn many_equal_headings_take_linear_time() {
        let mut slugs = Slugs::default();
        work::take();
        let last = (0..200_000).map(|_| slugs.next("Same")).last().flatten();
        assert_eq!(last.as_deref(), Some("same-199999"));
        assert!(work::take() <= 200_000);
    }
}
