use pericope_api::{Span, TokenMap};

use crate::breaks::{self, Level};
use crate::chars::{floor, is_cjk, next, skip_blank, trim_end};

/// The cost of every cut; the authors' code has 4 too.
pub const CUT: u64 = 4;
/// What a cut costs beside that behind the end of a sentence.
pub const STOP: u64 = 1;
/// The same behind a comma.
pub const COMMA: u64 = 2;
/// The same at other white space.
pub const SPACE: u64 = 8;
/// The same inside a run without white space.
pub const INSIDE: u64 = 16;

/// Marks that may stand between the end of a sentence and white space.
const CLOSING: &[char] = &['"', '\'', ')', ']', '}', '»', '”', '’', '」', '』', '）'];

/// A place where a text may be cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// The end of what stands before it, in bytes: no white space is there.
    pub at: usize,
    /// Tokens of the text that end up to here.
    pub tokens: usize,
    /// What a cut here costs beside [`CUT`].
    pub cost: u64,
}

/// The places at which a text may be cut, in order; the last is its end, at no cost. None lies inside one of `whole`, which are in
/// order. Places inside a run without white space are there where it holds more than `limit` tokens.
pub(super) fn places(text: &str, tokens: &TokenMap, limit: usize, whole: &[Span]) -> Vec<Place> {
    let mut found = Vec::new();
    let mut whole = whole.iter().peekable();
    let mut add = |at: usize, cost: u64| {
        while whole.next_if(|span| span.end <= at).is_some() {}
        if whole.peek().is_none_or(|span| at <= span.start) {
            found.push(Place { at, tokens: tokens.index_after(at), cost });
        }
    };
    let mut start = skip_blank(text, 0);
    while start < text.len() {
        let end = text[start..].find(char::is_whitespace).map_or(text.len(), |length| start + length);
        if tokens.count(Span::new(start, end)) > limit {
            inside(text, Span::new(start, end), tokens, limit, &mut add);
        }
        let after = skip_blank(text, end);
        if after == text.len() {
            add(end, 0);
        } else {
            add(end, behind(&text[start..end], &text[end..after]));
        }
        start = after;
    }
    found
}

/// What a cut costs behind a run and the white space after it.
fn behind(run: &str, white: &str) -> u64 {
    if white.contains(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']) {
        return 0;
    }
    run.trim_end_matches(CLOSING).chars().next_back().and_then(mark).unwrap_or(SPACE)
}

/// What a cut costs behind a character; none where that is no mark.
fn mark(last: char) -> Option<u64> {
    match last {
        '.' | '?' | '!' | '。' | '？' | '！' | '।' | '۔' => Some(STOP),
        ',' | '，' | '、' | '،' => Some(COMMA),
        _ => None,
    }
}

/// The places inside a run without white space: beside marks and characters of scripts without spaces, and where these are more
/// than `limit` tokens apart, between grapheme clusters.
fn inside(text: &str, run: Span, tokens: &TokenMap, limit: usize, add: &mut impl FnMut(usize, u64)) {
    let in_word = |c: char| c.is_alphanumeric() && !is_cjk(c);
    let mut from = run.start;
    let mut before: Option<char> = None;
    // The last character before that closes nothing.
    let mut open: Option<char> = None;
    for (offset, c) in run.of(text).char_indices() {
        let at = run.start + offset;
        let parts = before.is_some_and(|before| !(in_word(before) && in_word(c)));
        if parts && breaks::is_grapheme_boundary(text, from, at) {
            apart(text, Span::new(from, at), tokens, limit, add);
            let own = open.and_then(mark);
            // `3.14` and `a,b` are no ends: only marks of scripts without spaces are.
            add(at, own.filter(|_| before.is_some_and(|b| !b.is_ascii())).unwrap_or(INSIDE));
            from = at;
        }
        before = Some(c);
        if !CLOSING.contains(&c) {
            open = before;
        }
    }
    apart(text, Span::new(from, run.end), tokens, limit, add);
}

/// Places between grapheme clusters, in a stretch that has more than `limit` tokens and no better ones.
fn apart(text: &str, stretch: Span, tokens: &TokenMap, limit: usize, add: &mut impl FnMut(usize, u64)) {
    let mut from = stretch.start;
    while tokens.count(Span::new(from, stretch.end)) > limit {
        let last = tokens.index_after(from) + limit;
        let reach = tokens.ends().get(last.saturating_sub(1)).map_or(stretch.end, |&end| floor(text, end));
        let at = breaks::best(text, from, reach.max(next(text, from)), &[Level::Grapheme]);
        let at = trim_end(text, from, at).max(next(text, from));
        if at >= stretch.end {
            return;
        }
        add(at, INSIDE);
        from = at;
    }
}
