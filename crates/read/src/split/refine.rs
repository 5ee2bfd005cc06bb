//! Our layer over the crates' breaks: takes back those after abbreviations, initials and list numbers, moves those in
//! front of a closing quote or bracket behind it, and proposes those that Unicode's rule about a following small letter
//! takes away too readily ("in 1861. 2nd Brigade"; a text without capital letters).
//!
//! The rules look at the word before the break, at most [`REACH`] bytes of it, and the character after it. Runs of closing
//! marks and blanks may be of any length: [`Refiner`] keeps what it knows of the last ones, and looks at each once.

use std::ops::Range;

use super::abbreviations::{
    before_brackets, before_days, before_numbers, is_english_month, is_month, is_place, is_starter, never_final, within,
};
use super::foreign::{self, Place, digits, is_roman};
use super::marks::{asks, is_closer, is_semicolon, is_shad, is_terminator, is_wide_opener, is_wide_terminator};
use super::speech::goes_on_behind_quote;
use super::tongue::Tongue;
use crate::work;

/// How far the rules look back, in bytes.
const REACH: usize = 48;
/// Thai and Lao have no full stop, and a space where a sentence or a clause ends: one ends a sentence that has so many bytes,
/// some twenty words.
const CLAUSE: usize = 240;
/// What shows that capital letters do not mark where sentences begin: so many small letters for each capital, so many in all, and so many
/// places where a small letter follows a full stop.
const SMALL: (usize, usize, usize) = (100, 80, 2);

/// True for text in which capital letters do not mark where sentences begin: chats, transcripts of speech. `before` says so of the text
/// in front of it, which a short end goes on with.
pub(super) fn is_uncased(window: &str, before: bool) -> bool {
    let (mut small, mut capital, mut places) = (0, 0, 0);
    let mut last = [' '; 2];
    for c in window.chars() {
        small += usize::from(c.is_lowercase());
        capital += usize::from(c.is_uppercase());
        places += usize::from(c.is_lowercase() && last[1].is_whitespace() && matches!(last[0], '.' | '!' | '?'));
        last = [last[1], c];
    }
    small >= SMALL.0 * capital && (before || (small >= SMALL.1 && places >= SMALL.2))
}

/// What is known of the marks and blanks around the breaks of one text. Breaks are asked for in ascending order.
pub(super) struct Refiner<'t> {
    text: &'t str,
    /// Closing marks that stand alone lead from the first of these bytes to the second.
    chain: (usize, usize),
    /// Nothing but closing marks and blanks lies between these bytes, and no such thing before the first of them, unless
    /// a sentence began there.
    tail: (usize, usize),
    /// Start of the sentence and place of the last break that was refused.
    refused: (usize, usize),
    /// True where no capital letter is to be expected where a sentence begins.
    pub(super) uncased: bool,
    tongue: Tongue<'t>,
}

impl<'t> Refiner<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let tongue = Tongue::of("");
        Self { text, chain: (0, 0), tail: (0, 0), refused: (usize::MAX, 0), uncased: false, tongue }
    }

    /// The breaks that follow lie in this window of the text.
    pub(super) fn enter(&mut self, window: &'t str, uncased: bool) {
        self.uncased = uncased;
        self.tongue = Tongue::of(window);
    }

    /// Returns the corrected place of a break at byte `at` of the text, the sentence having begun at byte `start`; `None`
    /// where there is no break, or none before byte `end`.
    pub(super) fn refine(&mut self, start: usize, at: usize, end: usize) -> Option<usize> {
        let at = self.past_closers(at);
        if at >= end || self.refused == (start, at) {
            return None;
        }
        let (text, uncased, mut tongue) = (self.text, self.uncased, self.tongue);
        let found = refine(text, (start, at), uncased, &mut tongue, |before| self.body_end(start, before));
        self.tongue = tongue;
        if found.is_none() {
            self.refused = (start, at);
        }
        found
    }

    /// A break in front of closing marks that stand alone (`. '' Then`, `. ) Then`: tokenised text) goes behind them.
    fn past_closers(&mut self, at: usize) -> usize {
        // The way on from a blank, or from behind one, does not depend on where it began.
        let (from, to) = self.chain;
        let blank = |c: Option<char>| c.is_some_and(char::is_whitespace);
        let on_the_way = blank(self.text[..at].chars().next_back()) || blank(self.text[at..].chars().next());
        if from <= at && at <= to && on_the_way {
            return to;
        }
        let to = past_closers(self.text, at);
        self.chain = (at, to);
        to
    }

    /// End of the sentence from byte `start` to byte `end`, the closing marks and blanks at its end left out.
    fn body_end(&mut self, start: usize, end: usize) -> usize {
        let mut at = end;
        while let Some(c) = self.text[start..at].chars().next_back() {
            if self.tail.0 < at && at <= self.tail.1 {
                at = self.tail.0.max(start);
                break;
            }
            if !is_closer(c) && !c.is_whitespace() {
                break;
            }
            at -= c.len_utf8();
            work::looked(c.len_utf8());
        }
        self.tail = (at, end);
        at
    }
}

/// The same for a place behind closing marks; `body_end` says where the sentence ends without them.
fn refine(
    text: &str,
    (start, at): (usize, usize),
    uncased: bool,
    tongue: &mut Tongue<'_>,
    body_end: impl FnOnce(usize) -> usize,
) -> Option<usize> {
    let after = work::trim_start(&text[at..]);
    let Some(next) = after.chars().next() else { return Some(at) };
    let before = text[start..at].trim_end();
    let gap = &text[start + before.len()..text.len() - after.len()];
    work::looked(gap.len());
    let body = quote_end(before).unwrap_or_else(|| &text[start..body_end(start + before.len())]);
    let Some(terminator) = body.chars().next_back() else { return Some(at) };
    if gap.contains('\n') && blank_line(gap) {
        return Some(at);
    }
    if is_wide_terminator(terminator) {
        let quoted = before[body.len()..].ends_with(['」', '』', '\u{201d}']);
        return (!(quoted && gap.is_empty() && goes_on_behind_quote(after))).then_some(at);
    }
    if ends_clause(terminator, gap, next) {
        return (before.len() >= CLAUSE).then_some(at);
    }
    // Breaks without white space ("v1.Beta", "Yahoo!7") are none, and neither are the ends of lines.
    if gap.is_empty() || !(is_terminator(terminator) || asks(body, next)) {
        return None;
    }
    // "What?" he asked. So ... he asked.
    let closed = body.len() < before.len();
    let trails = terminator == '…' || body.ends_with("..");
    let goes_on = is_small(next) && !stands_alone(before) && (closed || trails || !uncased);
    if goes_on || matches!(next, ',' | ';' | ':' | ')' | ']' | '}') || is_shad(next) || says_who(after, tongue) {
        return None;
    }
    if terminator == '.' && is_abbreviation(tail(body), (body.len() <= REACH, closed, uncased), after, tongue) {
        return None;
    }
    Some(at)
}

/// Hands `sink` the places in `text[from..to]` where a sentence may end though the crates do not say so: a terminator
/// and white space before a digit or a symbol, a terminator that stands alone before a word, in `uncased` text one before any
/// word, a full-width one before an opening quote, and what ends sentences in Greek and Tibetan.
pub(super) fn missed(text: &str, range: Range<usize>, uncased: bool, sink: &mut dyn FnMut(usize)) {
    let window = &text[range.clone()];
    // The first bytes of 。, ！ and ？, and those of Greek letters.
    let wide = memchr::memchr2(0xe3, 0xef, window.as_bytes()).is_some() && window.contains(is_wide_terminator);
    let greek = memchr::memchr2(0xce, 0xcf, window.as_bytes()).is_some() && window.contains(is_semicolon);
    let tibetan = memchr::memchr(0xe0, window.as_bytes()).is_some() && window.contains(is_shad);
    if wide || greek || tibetan {
        work::looked(window.len());
        let mut places = Vec::new();
        if wide {
            missed_quotes(window, range.start, &mut |at| places.push(at));
        }
        if greek || tibetan {
            missed_marks(text, range.clone(), &mut |at| places.push(at));
        }
        missed_here(text, range, uncased, &mut |at| places.push(at));
        places.sort_unstable();
        return places.into_iter().for_each(sink);
    }
    missed_here(text, range, uncased, sink);
}

/// The same without what quotes begin, and without Greek and Tibetan.
fn missed_here(text: &str, range: Range<usize>, uncased: bool, sink: &mut dyn FnMut(usize)) {
    let Range { start: from, end: to } = range;
    let window = &text[from..to];
    // The first byte of Thai and Lao letters, which others share.
    if memchr::memchr(0xe0, window.as_bytes()).is_some() && window.contains(is_thai_or_lao) {
        work::looked(window.len());
        return missed_clauses(text, from, to, sink);
    }
    for at in memchr::memchr3_iter(b'.', b'?', b'!', window.as_bytes()) {
        let end = from + at + 1;
        let rest = text[end..].trim_start_matches(is_closer);
        let body = work::trim_start(rest);
        work::looked(text.len() - end - rest.len());
        let Some(next) = body.chars().next().filter(|_| body.len() < rest.len()) else { continue };
        let symbol = next.is_ascii_digit() || matches!(next, '<' | '(' | '[' | '{' | '$' | '#' | '/' | '@' | '–' | '—');
        if symbol || (next.is_lowercase() && (uncased || stands_alone(&text[from..end]))) {
            sink(text.len() - body.len());
        }
    }
}

/// The same in Japanese and Chinese, where what is said begins right behind a full stop: by Unicode's rules an opening quote
/// belongs to the marks that close a sentence.
fn missed_quotes(window: &str, from: usize, sink: &mut dyn FnMut(usize)) {
    let mut ended = false;
    for (at, c) in window.char_indices() {
        if ended && is_wide_opener(c) {
            sink(from + at);
        }
        ended = is_wide_terminator(c) || (ended && is_closer(c));
    }
}

/// The same in Greek, which asks by a semicolon, and in Tibetan, whose mark ends clauses, too.
fn missed_marks(text: &str, range: Range<usize>, sink: &mut dyn FnMut(usize)) {
    for (at, mark) in text[range.clone()].match_indices(|c: char| is_semicolon(c) || is_shad(c)) {
        let end = range.start + at + mark.len();
        let body = work::trim_start(&text[end..]);
        if body.chars().next().is_some_and(|next| mark.starts_with(is_shad) || asks(&text[..end], next)) {
            sink(text.len() - body.len());
        }
    }
}

/// The same in Thai and Lao, where a space may end a sentence too.
fn missed_clauses(text: &str, from: usize, to: usize, sink: &mut dyn FnMut(usize)) {
    for (at, _) in text[from..to].match_indices([' ', '\n', '\u{a0}', '\u{3000}']) {
        let end = from + at;
        let body = work::trim_start(&text[end..]);
        let before = text[..end].chars().next_back();
        if before.is_some_and(|c| is_thai_or_lao(c) || is_terminator(c)) && !body.is_empty() {
            sink(text.len() - body.len());
        }
    }
}

/// True for white space between two words of Thai or Lao.
fn ends_clause(before: char, gap: &str, after: char) -> bool {
    is_thai_or_lao(before) && !gap.is_empty() && is_thai_or_lao(after)
}

/// Letters and signs of Thai and Lao.
fn is_thai_or_lao(c: char) -> bool {
    ('\u{e00}'..='\u{eff}').contains(&c)
}

/// True where the terminator at the end of `body` is a word of its own, as in tokenised text; not so in a spaced
/// ellipsis.
fn stands_alone(body: &str) -> bool {
    let mut before = body.chars().rev().skip(1);
    before.next() == Some(' ') && before.next().is_some_and(|c| !is_terminator(c))
}

/// Where closing marks that stand alone lead to from byte `at`.
fn past_closers(text: &str, at: usize) -> usize {
    let mut at = at;
    loop {
        let rest = &text[at..];
        let body = work::trim_start(rest);
        let marks = body.len() - body.trim_start_matches([')', ']', '\u{201d}', '\'', '"', '»']).len();
        work::looked(marks);
        let lone = marks > 0 && body[marks..].chars().next().is_none_or(char::is_whitespace);
        // A single straight quote is as likely an opening one.
        if !lone || matches!(&body[..marks], "'" | "\"") {
            return at;
        }
        at += rest.len() - body.len() + marks;
    }
}

/// What the German closing quote of a sentence closes: „Ja.“ Dann. »Ja.« Dann. In other languages these marks open what a blank does not
/// follow.
fn quote_end(before: &str) -> Option<&str> {
    before.strip_suffix(['\u{201c}', '«']).filter(|body| body.ends_with(is_terminator))
}

/// True where a dash leads to who says what the sentence says: «Иди!» — сказал он. In English a sentence ends there.
fn says_who(after: &str, tongue: &mut Tongue<'_>) -> bool {
    let Some(rest) = after.strip_prefix(['–', '—']) else { return false };
    let rest = rest.strip_prefix([' ', '\u{a0}']).unwrap_or(rest);
    let next = rest.chars().next().unwrap_or(' ');
    next.is_lowercase() && (!next.is_ascii() || tongue.is_foreign())
}

/// True for a letter that begins no sentence. The small letters of Georgian begin them, too.
fn is_small(c: char) -> bool {
    c.is_lowercase() && !('\u{10d0}'..='\u{10ff}').contains(&c)
}

/// The last [`REACH`] bytes.
fn tail(text: &str) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(REACH))..]
}

/// True where the full stop at the end of `body` belongs to its last word. `whole`: `body` is all of the sentence; `closed`: closing
/// marks follow it; `uncased`: a small letter may begin a sentence.
fn is_abbreviation(
    body: &str,
    (whole, closed, uncased): (bool, bool, bool),
    after: &str,
    tongue: &mut Tongue<'_>,
) -> bool {
    let stem = body.trim_end_matches('.');
    // An ellipsis ends what the words around it end: the crates have judged it by what follows.
    if body.len() - stem.len() > 1 || closed {
        return false;
    }
    let is_edge = |c: char| c.is_whitespace() || matches!(c, '(' | '[' | '{' | '"' | '\u{201c}' | '/' | '—');
    let word = stem.rsplit(is_edge).map(|w| w.trim_matches(['\'', '`', '*', '_', '\u{2018}'])).next().unwrap_or("");
    let next = after.chars().next().unwrap_or(' ');
    if never_final(word)
        || (next.is_ascii_digit() && before_numbers(word))
        || (matches!(next, '(' | '[') && before_brackets(word) && after[1..].starts_with(|c: char| c.is_ascii_digit()))
        || (uncased && next.is_lowercase() && within(word))
    {
        return true;
    }
    let next_word = after.split(|c: char| !c.is_alphabetic()).next().unwrap_or("");
    let before = stem.strip_suffix(word).unwrap_or("").trim_end();
    let previous = before.rsplit(is_edge).next().unwrap_or("");
    if foreign::is_abbreviation(Place { word, previous, after, next_word }, tongue) {
        return true;
    }
    if is_day(word) && is_month(next_word) {
        // English has the names of four of them, too: "I got 12. August was hot."
        let year = after[next_word.len()..].trim_start().starts_with(|c: char| c.is_ascii_digit());
        if year || !is_english_month(next_word) || before_days(previous) {
            return true;
        }
    }
    let mut letters = word.chars();
    let Some(first) = letters.next() else { return false };
    // The sentence so far is a number or a letter: "1. Open the lid", "A. Introduction".
    let alone = whole && word.len() == stem.trim_start().len();
    let number = word.chars().count() <= 3 && word.chars().all(char::is_numeric);
    if alone && (number || (is_roman(word) && tongue.is_foreign())) {
        return true;
    }
    if letters.next().is_none() {
        // "z. B.", "d. h.": small letters with full stops around another letter's.
        let spaced = is_letter(next_word) && after[next_word.len()..].starts_with('.')
            || before.strip_suffix('.').is_some_and(|before| is_letter(before.rsplit(is_edge).next().unwrap_or("")));
        if first.is_lowercase() {
            return (spaced && "dhisouvz".contains(first)) || (uncased && first != 'i');
        }
        // Initials: "J.", unless it is the pronoun, and "R.G."; Arabic has no capital letters.
        return (first.is_uppercase() && first != 'I') || ('\u{620}'..='\u{64a}').contains(&first);
    }
    if is_place(word) {
        // "410 U.S. 113 (1973)": a volume and a page.
        if word == "U.S" && is_report(previous, after) {
            return true;
        }
        return uncased || !next_word.is_empty() && !is_starter(next_word);
    }
    is_initials(word)
}

/// True for the number of a day in a month.
fn is_day(word: &str) -> bool {
    word.parse::<u8>().is_ok_and(|day| (1..=31).contains(&day)) && !word.starts_with('+')
}

/// True for one letter.
fn is_letter(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(char::is_alphabetic) && letters.next().is_none()
}

/// True for capital letters with full stops between them.
fn is_initials(word: &str) -> bool {
    let is_initial = |part: &str| is_letter(part) && part.starts_with(char::is_uppercase);
    word.contains('.') && word.split('.').all(is_initial)
}

/// True for the volume before and the page behind the name of law reports, which the year follows in brackets.
fn is_report(previous: &str, after: &str) -> bool {
    let (page, behind) = digits(after);
    let volume = digits(previous);
    !volume.0.is_empty() && volume.1.is_empty() && !page.is_empty() && behind.starts_with(" (")
}

/// True where the white space holds an empty line.
fn blank_line(gap: &str) -> bool {
    gap.bytes().filter(|&b| b == b'\n').nth(1).is_some()
}
