//! Texts as their words are read: of the ways of writing a word there is one.

use pericope_api::Span;
use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// A text in NFC, without accents that belong to no letter of their own (stress marks), soft hyphens, joiners and selectors
/// of variants. Katakana of half width has full width.
#[derive(Clone, Default)]
pub(super) struct Composed {
    text: String,
    changes: Vec<Change>,
}

/// A piece of the source, and where it stands in the composed text in another form.
#[derive(Debug, Clone, Copy)]
pub(super) struct Change {
    source: Span,
    composed: Span,
}

impl Composed {
    /// Composes a text. Most are already: those are given back as they stand.
    pub fn read<'a>(&'a mut self, text: &'a str) -> (&'a str, &'a [Change]) {
        if is_composed(text) {
            return (text, &[]);
        }
        self.text.clear();
        self.changes.clear();
        let mut chars = text.char_indices().peekable();
        while let Some((start, first)) = chars.next() {
            let mut end = start + first.len_utf8();
            while let Some((at, c)) = chars.next_if(|&(_, c)| joins(c)) {
                end = at + c.len_utf8();
            }
            let source = Span::new(start, end);
            let piece = source.of(text);
            let from = self.text.len();
            if is_plain(first) && piece.len() == first.len_utf8() {
                self.text.push(first);
                continue;
            }
            push(piece, &mut self.text);
            let composed = Span::new(from, self.text.len());
            if composed.of(&self.text) != piece {
                self.changes.push(Change { source, composed });
            }
        }
        (self.text.as_str(), self.changes.as_slice())
    }
}

/// The bytes of the source that a piece of the composed text was made of.
pub(super) fn source(changes: &[Change], piece: Span) -> Span {
    let last = |count: usize| count.checked_sub(1).and_then(|at| changes.get(at));
    let start = match last(changes.partition_point(|change| change.composed.start <= piece.start)) {
        // Nothing begins within a piece that changed.
        Some(change) if piece.start < change.composed.end => change.source.start,
        Some(change) => change.source.end + (piece.start - change.composed.end),
        None => piece.start,
    };
    let end = match last(changes.partition_point(|change| change.composed.start < piece.end)) {
        Some(change) => change.source.end + piece.end.saturating_sub(change.composed.end),
        None => piece.end,
    };
    Span::new(start, end)
}

/// True for marks that go with the letter before them: a word does not end there.
pub(super) fn is_mark(c: char) -> bool {
    c >= '\u{300}' && is_combining_mark(c)
}

fn is_composed(text: &str) -> bool {
    let changes = |c: char| is_left_out(c) || is_accent(c) || is_half_width(c);
    text.is_ascii()
        || text.chars().all(is_plain)
        || (!text.contains(changes) && is_nfc_quick(text.chars()) == IsNormalized::Yes)
}

/// Appends a letter and what belongs to it in their composed form.
fn push(piece: &str, composed: &mut String) {
    let kept = piece.chars().filter(|&c| !is_left_out(c));
    // Once more, since an accent may have stood between what goes together.
    match piece.contains(is_half_width) {
        true => composed.extend(kept.nfkc().filter(|&c| !is_accent(c)).nfc()),
        false => composed.extend(kept.nfc().filter(|&c| !is_accent(c)).nfc()),
    }
}

/// True for what may change with the letter before it: marks, vowels and ends of Korean syllables, what is left out.
fn joins(c: char) -> bool {
    !is_plain(c)
        && (is_left_out(c)
            || is_accent(c)
            || matches!(c, '\u{1160}'..='\u{11ff}' | '\u{ff9e}' | '\u{ff9f}')
            || is_combining_mark(c))
}

/// Common characters that stand for themselves, whatever stands beside them: they need not be looked up.
fn is_plain(c: char) -> bool {
    matches!(c,
        '\0'..='\u{ac}' | '\u{ae}'..='\u{2ff}'
        | '\u{400}'..='\u{482}' | '\u{48a}'..='\u{52f}' // Cyrillic
        | '\u{2010}'..='\u{205f}'                       // dashes, quotes
        | '\u{3000}'..='\u{3029}' | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30ff}'
        | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}'
        | '\u{ff01}'..='\u{ff65}'                       // of full width
    )
}

/// Soft hyphens, joiners, selectors of variants: they say how a word is shown and where it may be broken.
fn is_left_out(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200c}' | '\u{200d}' | '\u{2060}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Accents and the like of any letter. Words have none.
fn is_accent(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{1ab0}'..='\u{1aff}'
        | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}

fn is_half_width(c: char) -> bool {
    ('\u{ff66}'..='\u{ff9f}').contains(&c)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn composed(text: &str) -> (String, Vec<Change>) {
        let mut composed = Composed::default();
        let (text, changes) = composed.read(text);
        (text.to_owned(), changes.to_vec())
    }

    #[test]
    fn what_is_composed_stays_as_it_is() {
        for text in ["", "plain text", "Größe – „ça“", "указатель", "索引を作る ＡＰＩ", "ก่อนสร้าง", "प्रेम", "물과 불"]
        {
            let mut composed = Composed::default();
            assert!(std::ptr::eq(composed.read(text).0, text), "{text}");
        }
    }

    #[test]
    fn one_way_of_writing_is_left() {
        for (written, read) in [
            ("Mu\u{308}hle", "Mühle"),
            ("за\u{301}мок", "замок"),
            ("и\u{306}од", "йод"),
            ("\u{1103}\u{1169}\u{11a8} \u{1103}\u{1169}", "독 도"),
            ("ｶﾞｲﾄﾞ ﾊﾟｽ", "ガイド パス"),
            ("か\u{3099}", "が"),
            ("hy\u{ad}phen wo\u{2060}rd", "hyphen word"),
            ("می\u{200c}خواهم", "میخواهم"),
            ("1\u{fe0f}\u{20e3}", "1"),
            ("\u{ad}\u{301}a", "a"),
        ] {
            assert_eq!(composed(written).0, read);
        }
        assert_eq!(composed("a\u{200b}b").0, "a\u{200b}b");
    }

    #[test]
    fn pieces_name_their_source() {
        let text = "\u{ad}a Mu\u{308}\u{ad}hle\u{ad} xy";
        let (read, changes) = composed(text);
        assert_eq!(read, "a Mühle xy");
        for (word, expected) in
            [("a", "a"), ("Mühle", "Mu\u{308}\u{ad}hle\u{ad}"), ("ü", "u\u{308}\u{ad}"), ("xy", "xy")]
        {
            let at = read.find(word).unwrap_or_default();
            assert_eq!(source(&changes, Span::new(at, at + word.len())).of(text), expected);
        }
    }

    proptest! {
        #[test]
        fn it_is_composed_once_and_for_all(text in "(\\PC|[a-zäu\u{300}-\u{308}\u{ad}\u{200d}ｦ-ﾟ\u{1100}-\u{1175}\u{11a8}-\u{11c2}가-힣]){0,40}") {
            let (once, changes) = composed(&text);
            prop_assert_eq!(&composed(&once).0, &once);
            for (at, c) in once.char_indices() {
                prop_assert!(!source(&changes, Span::new(at, at + c.len_utf8())).of(&text).is_empty());
            }
        }
    }
}
