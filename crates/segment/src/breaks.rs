//! Where a text may be cut: at paragraphs, lines, sentences, white space, words, graphemes.
//!
//! Everything here looks at one window of the text and costs time in proportion to that window alone.

use memchr::{memmem, memrchr, memrchr3};
use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

use crate::chars::{floor, is_cjk, next};

/// Kinds of places to cut, coarse to fine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    /// After `</tr>`.
    Row,
    /// After a blank line.
    Paragraph,
    /// After a line end.
    Line,
    /// After `.`, `!` or `?` (and closing quotes and brackets) before white space, and after full-width full stops.
    Sentence,
    /// At white space.
    Space,
    /// Where one of the two characters is no letter or digit, or is of a script without spaces; looked for among the
    /// last [`WORD_REACH`] characters only.
    Word,
    /// Between grapheme clusters.
    Grapheme,
}

/// Clusters beyond this many bytes are no characters that anyone writes.
const LONGEST_CLUSTER: usize = 256;

/// How far back a break inside a run without white space is looked for, in characters: longer words are cut anywhere.
const WORD_REACH: usize = 64;

/// White space beyond the window's end that still counts as inside, in bytes, so that a piece that ends exactly at the
/// limit is seen to end a paragraph.
const BEYOND: usize = 64;

/// The best place `p` to cut, `lo < p`, so that the text from `lo` to `p` without trailing white space ends at or before
/// `hi`: the last break of the first level that has one. Without any, the last character boundary up to `hi`, and
/// where not even one character fits, behind the first character.
///
/// `lo` is a character boundary where a grapheme starts, below `hi`.
pub(crate) fn best(text: &str, lo: usize, hi: usize, levels: &[Level]) -> usize {
    let hi = floor(text, hi);
    if hi > lo {
        let wide = widened(text.as_bytes(), hi);
        if let Some(at) = levels.iter().find_map(|&level| last(text, lo, hi, wide, level)) {
            return at;
        }
    }
    hi.max(next(text, lo))
}

/// The last break of one level in the text from `lo` to `hi`, as [`best`] finds it.
pub(crate) fn last_of(text: &str, lo: usize, hi: usize, level: Level) -> Option<usize> {
    let hi = floor(text, hi);
    if hi > lo { last(text, lo, hi, widened(text.as_bytes(), hi), level) } else { None }
}

/// The end of the grapheme cluster that starts at `at`, as far as [`LONGEST_CLUSTER`]; `text.len()` where there is none.
pub(crate) fn cluster_end(text: &str, at: usize) -> usize {
    let near = text.get(at..floor(text, at.saturating_add(LONGEST_CLUSTER)));
    near.and_then(|near| near.graphemes(true).next()).map_or(text.len(), |cluster| at + cluster.len())
}

/// The end of the white space that follows `hi`, at most [`BEYOND`] bytes of it.
fn widened(bytes: &[u8], hi: usize) -> usize {
    let beyond = bytes.iter().skip(hi).take(BEYOND);
    hi + beyond.take_while(|&&b| matches!(b, b' ' | b'\t' | b'\n' | b'\r')).count()
}

/// The last break of one level; line ends and white space may lie up to `wide`.
fn last(text: &str, lo: usize, hi: usize, wide: usize, level: Level) -> Option<usize> {
    let bytes = text.as_bytes();
    match level {
        Level::Row => rows_last(bytes.get(lo..hi)?).map(|at| lo + at),
        Level::Paragraph => paragraph(bytes, lo, wide),
        Level::Line => memrchr(b'\n', bytes.get(lo..wide)?).map(|at| lo + at + 1),
        Level::Sentence => sentence(text, lo, hi),
        Level::Space => space(text, lo, wide).filter(|&at| at > lo),
        Level::Word => word(text, lo, hi),
        Level::Grapheme => grapheme(text, lo, hi),
    }
}

/// The first break of a coarse level in `from..=to`; `None` for the levels below [`Level::Space`].
pub(crate) fn first(text: &str, from: usize, to: usize, level: Level) -> Option<usize> {
    let (from, wide) = (floor(text, from), widened(text.as_bytes(), to));
    let window = text.get(from..floor(text, wide))?;
    match level {
        Level::Row => {
            let at = memmem::find_iter(window.as_bytes(), "</").find(|&at| is_row_end(window.as_bytes(), at))?;
            Some(from + at + ROW_END.len())
        }
        Level::Line => memchr::memchr(b'\n', window.as_bytes()).map(|at| from + at + 1),
        Level::Space => window.find(char::is_whitespace).map(|at| from + at),
        _ => None,
    }
    .filter(|&at| at <= wide)
}

const ROW_END: &[u8] = b"</tr>";

fn is_row_end(window: &[u8], at: usize) -> bool {
    window.get(at..at + ROW_END.len()).is_some_and(|tag| tag.eq_ignore_ascii_case(ROW_END))
}

fn rows_last(window: &[u8]) -> Option<usize> {
    let at = memmem::rfind_iter(window, "</").find(|&at| is_row_end(window, at))?;
    Some(at + ROW_END.len())
}

/// Behind the last line end of `lo..hi` before which there is nothing but blanks back to another line end.
fn paragraph(bytes: &[u8], lo: usize, hi: usize) -> Option<usize> {
    let mut at = lo + memrchr(b'\n', bytes.get(lo..hi)?)?;
    loop {
        let end = at + 1;
        let before = bytes.get(lo..at)?.iter().rposition(|&b| !matches!(b, b' ' | b'\t' | b'\r'))?;
        if bytes.get(lo + before) == Some(&b'\n') {
            return Some(end);
        }
        at = lo + memrchr(b'\n', bytes.get(lo..lo + before)?)?;
    }
}

fn sentence(text: &str, lo: usize, hi: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let window = bytes.get(lo..hi)?;
    let mut latin = None;
    let mut end = window.len();
    while let Some(at) = memrchr3(b'.', b'!', b'?', &window[..end]) {
        let stop = lo + at + 1;
        let closing = bytes.iter().skip(stop).take(3).take_while(|&&b| matches!(b, b'"' | b'\'' | b')' | b']')).count();
        let after = stop + closing;
        if after <= hi && bytes.get(after).is_none_or(|b| b.is_ascii_whitespace()) {
            latin = Some(after);
            break;
        }
        end = at;
    }
    if window.is_ascii() {
        return latin;
    }
    let wide = text.get(lo..hi)?.rfind(['。', '！', '？', '।', '۔']).map(|at| next(text, lo + at));
    latin.max(wide)
}

fn space(text: &str, lo: usize, hi: usize) -> Option<usize> {
    let window = text.as_bytes().get(lo..hi)?;
    let near = window.len().saturating_sub(WORD_REACH);
    // Nearly always there is a space among the last bytes, and no need to look whether all of the window is ASCII.
    for (at, b) in window.iter().enumerate().skip(near).rev() {
        match b {
            b' ' | b'\t'..=b'\r' => return Some(lo + at),
            b if b.is_ascii() => {}
            _ => return text.get(lo..hi)?.rfind(char::is_whitespace).map(|at| lo + at),
        }
    }
    text.get(lo..hi)?.rfind(char::is_whitespace).map(|at| lo + at)
}

fn word(text: &str, lo: usize, hi: usize) -> Option<usize> {
    let in_word = |c: char| c.is_alphanumeric() && !is_cjk(c);
    let mut after = text.get(hi..)?.chars().next();
    for (at, before) in text.get(lo..hi)?.char_indices().rev().take(WORD_REACH) {
        let place = lo + at + before.len_utf8();
        let inside = in_word(before) && after.is_some_and(in_word);
        if !inside && is_grapheme_boundary(text, lo, place) {
            return Some(place);
        }
        after = Some(before);
    }
    None
}

fn grapheme(text: &str, lo: usize, hi: usize) -> Option<usize> {
    if is_grapheme_boundary(text, lo, hi) {
        return Some(hi);
    }
    // The window is all the context: how a cluster before `lo` continues must not cost time here.
    let context = text.get(lo..)?;
    let mut cursor = GraphemeCursor::new(hi - lo, context.len(), true);
    cursor.prev_boundary(context, 0).ok().flatten().map(|at| lo + at).filter(|&at| at > lo)
}

/// True where no grapheme cluster of the text that starts at `lo` spans `at`.
pub(crate) fn is_grapheme_boundary(text: &str, lo: usize, at: usize) -> bool {
    let bytes = text.as_bytes();
    let (Some(before), Some(after)) = (at.checked_sub(1).and_then(|b| bytes.get(b)), bytes.get(at)) else {
        return true;
    };
    if before.is_ascii() && after.is_ascii() {
        return (*before, *after) != (b'\r', b'\n');
    }
    let Some(context) = text.get(lo..) else { return false };
    GraphemeCursor::new(at - lo, context.len(), true).is_boundary(context, 0).unwrap_or(true)
}

#[cfg(test)]
mod tests {
    use super::{Level, best, first};

    fn cut(text: &str, hi: usize, levels: &[Level]) -> String {
        text[..best(text, 0, hi, levels)].trim_end().to_owned()
    }

    #[test]
    fn the_coarsest_break_wins() {
        let text = "One. Two\n\nthree. Four\nfive six";
        let all = [Level::Paragraph, Level::Line, Level::Sentence, Level::Space, Level::Grapheme];
        assert_eq!(cut(text, 27, &all), "One. Two");
        assert_eq!(cut(text, 27, &all[1..]), "One. Two\n\nthree. Four");
        assert_eq!(cut(text, 27, &all[2..]), "One. Two\n\nthree.");
        assert_eq!(cut(text, 27, &all[3..]), "One. Two\n\nthree. Four\nfive");
        assert_eq!(cut(text, 25, &all[4..]), "One. Two\n\nthree. Four\nfiv");
    }

    #[test]
    fn a_piece_that_just_fits_ends_its_paragraph() {
        assert_eq!(cut("ab\n\ncd ef", 2, &[Level::Paragraph]), "ab");
        assert_eq!(cut("ab cd\r\n \r\nef gh", 5, &[Level::Paragraph]), "ab cd");
        assert_eq!(cut("ab cd ef", 5, &[Level::Space]), "ab cd");
    }

    #[test]
    fn sentences_end_behind_closing_quotes_and_at_wide_stops() {
        assert_eq!(cut("He (yes.) went 3.5 on", 20, &[Level::Sentence]), "He (yes.)");
        assert_eq!(cut("你好。世界很大", 18, &[Level::Sentence]), "你好。");
    }

    #[test]
    fn words_and_clusters_stay_whole() {
        assert_eq!(cut("foo/barbaz", 6, &[Level::Word]), "foo/");
        assert_eq!(cut("你好世界", 7, &[Level::Word]), "你好");
        let family = "👩‍👩‍👧👩‍👩‍👧";
        assert_eq!(cut(family, family.len() - 4, &[Level::Grapheme]), "👩‍👩‍👧");
        // One cluster that does not fit is cut between characters, and there is always some progress.
        assert_eq!(cut(family, 7, &[Level::Grapheme]), "👩\u{200d}");
        assert_eq!(cut(family, 1, &[Level::Grapheme]), "👩");
    }

    #[test]
    fn the_first_break_can_be_asked_for() {
        let text = "<tr>a</tr><tr>b</TR><tr>c</tr>";
        assert_eq!(first(text, 12, 25, Level::Row).map(|at| &text[..at]), Some("<tr>a</tr><tr>b</TR>"));
        assert_eq!(first("ab cd ef", 3, 5, Level::Space), Some(5));
        assert_eq!(first("ab cdef", 3, 5, Level::Space), None);
    }
}
