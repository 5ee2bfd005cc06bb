//! What belongs to no heading: signs that link to it, and characters that take no room.

use crate::inline::{Inline, Piece};

/// True for the text of a link in a heading that leads to the heading itself: a sign, or nothing that shows.
pub(super) fn is_sign(text: &str) -> bool {
    let shown = text.trim_matches(is_unseen);
    matches!(shown, "¶" | "#" | "§" | "🔗" | "\u{f0c1}") || shown.is_empty() && text.contains(is_zero_width)
}

/// A heading without the characters of no width at its two ends.
pub(super) fn without_ends<'a>(inline: Inline<'a>, source: &'a str) -> Inline<'a> {
    let visible = inline.visible(source);
    let visible = visible.trim();
    if !visible.starts_with(is_zero_width) && !visible.ends_with(is_zero_width) {
        return inline;
    }
    let pieces = inline.pieces();
    let shows = |piece: &Piece<'_>| !piece.text(source).chars().all(is_unseen);
    let (Some(first), Some(last)) = (pieces.iter().position(shows), pieces.iter().rposition(shows)) else {
        return Inline::default();
    };
    let mut out = Inline::default();
    for (i, piece) in pieces.iter().enumerate().take(last + 1).skip(first) {
        let (mut span, text) = (piece.span, piece.span.of(source));
        if let Some(shown) = &piece.shown {
            out.shown(span, shown.clone());
            continue;
        }
        if i == first {
            span.start += text.len() - text.trim_start_matches(is_unseen).len();
        }
        if i == last {
            span.end -= text.len() - text.trim_end_matches(is_unseen).len();
        }
        out.plain(source, span);
    }
    out
}

fn is_unseen(c: char) -> bool {
    c.is_whitespace() || is_zero_width(c)
}

/// Zero-width space, word joiner, and the same as a byte order mark. Joiners of letters and of emoji do show.
fn is_zero_width(c: char) -> bool {
    matches!(c, '\u{200b}' | '\u{2060}' | '\u{feff}')
}
