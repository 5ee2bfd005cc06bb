//! The text of a block as a person reads it, and the way back from there to the source.
//!
//! Sentences are split on what shows (`Note.` rather than `**Note.**`), and their ends carried back to the bytes they
//! came from; nothing is ever searched for.

use std::borrow::Cow;

use pericope_api::Span;

use crate::split::SentenceSplitter;

/// A piece of source that shows.
#[derive(Debug)]
pub(crate) struct Piece<'a> {
    pub(crate) span: Span,
    /// The text that it shows as, where that differs from its bytes.
    pub(crate) shown: Option<Cow<'a, str>>,
    /// Inline code: no sentence ends in it.
    code: bool,
    /// End of the closing markup before this piece: a sentence that ends here ends behind that.
    closed: usize,
}

/// The pieces of one block, in order.
#[derive(Debug, Default)]
pub(crate) struct Inline<'a> {
    pieces: Vec<Piece<'a>>,
    closed: usize,
}

impl<'a> Inline<'a> {
    pub(crate) fn pieces(&self) -> &[Piece<'a>] {
        &self.pieces
    }

    /// Bytes that show as they are.
    pub(crate) fn plain(&mut self, source: &str, span: Span) {
        let span = self.clamp(span);
        // Blanks between two pieces (the indentation of a line) join them, so that most blocks are a single piece.
        if let Some(last) = self.pieces.last_mut()
            && last.shown.is_none()
            && !last.code
            && source[last.span.end..span.start].trim().is_empty()
        {
            last.span.end = span.end;
            return;
        }
        self.push(span, None, false);
    }

    /// Inline code: shows as it is, but no sentence ends in it.
    pub(crate) fn code(&mut self, span: Span) {
        let span = self.clamp(span);
        self.push(span, None, true);
    }

    /// Bytes that show as something else.
    pub(crate) fn shown(&mut self, span: Span, shown: impl Into<Cow<'a, str>>) {
        let span = self.clamp(span);
        self.push(span, Some(shown.into()), false);
    }

    /// Markup that closes what lies before it ends at byte `end`.
    pub(crate) fn close(&mut self, end: usize) {
        self.closed = end;
    }

    /// End of the last piece or closing markup, if there is any piece.
    pub(crate) fn end(&self) -> Option<usize> {
        self.pieces.last().map(|piece| piece.span.end.max(self.closed))
    }

    /// True where nothing shows but blanks.
    pub(crate) fn is_blank(&self, source: &str) -> bool {
        self.pieces.iter().all(|piece| piece.text(source).trim().is_empty())
    }

    /// The text as it shows.
    pub(crate) fn visible(&self, source: &str) -> String {
        self.pieces.iter().map(|piece| piece.text(source)).collect()
    }

    /// The characters as they show.
    pub(crate) fn chars<'t>(&'t self, source: &'t str) -> impl Iterator<Item = char> + 't {
        self.pieces.iter().flat_map(move |piece| piece.text(source).chars())
    }

    /// Pieces never go back, whatever a parser says.
    fn clamp(&self, span: Span) -> Span {
        let from = self.pieces.last().map_or(0, |piece| piece.span.end);
        Span::new(span.start.max(from), span.end.max(from))
    }

    fn push(&mut self, span: Span, shown: Option<Cow<'a, str>>, code: bool) {
        if !span.is_empty() {
            self.pieces.push(Piece { span, shown, code, closed: self.closed });
        }
    }
}

impl Piece<'_> {
    /// The text that it shows as.
    pub(crate) fn text<'s>(&'s self, source: &'s str) -> &'s str {
        self.shown.as_deref().unwrap_or_else(|| self.span.of(source))
    }
}

/// Buffers for one block at a time.
#[derive(Default)]
pub(crate) struct Layout {
    text: String,
    /// The offset of each piece in `text`.
    starts: Vec<usize>,
    ends: Vec<usize>,
}

impl Layout {
    /// Splits a block into sentences: ranges of source that tile `extent` but for blanks.
    pub(crate) fn split(
        &mut self,
        source: &str,
        extent: Span,
        inline: &Inline<'_>,
        splitter: &dyn SentenceSplitter,
        sink: &mut dyn FnMut(Span),
    ) {
        self.ends.clear();
        let ends = &mut self.ends;
        if let [Piece { span, shown: None, code: false, .. }] = inline.pieces() {
            splitter.split(span.of(source), &mut |found| ends.push(span.start + found.end));
        } else {
            self.text.clear();
            self.starts.clear();
            for piece in inline.pieces() {
                self.starts.push(self.text.len());
                let from = self.text.len();
                self.text.push_str(piece.text(source));
                if piece.code {
                    mask(&mut self.text, from);
                }
            }
            let starts = &self.starts;
            splitter.split(&self.text, &mut |found| ends.push(to_source(inline, starts, found.end)));
        }
        // The last sentence takes what is left, closing markup included.
        self.ends.pop();
        let mut at = extent.start;
        for end in self.ends.iter().copied().chain(std::iter::once(extent.end)) {
            let span = Span::new(at, end.clamp(at, extent.end)).trimmed(source);
            if !span.is_empty() {
                sink(span);
                at = span.end;
            }
        }
    }
}

/// The byte of the source at which a sentence ends that ends at byte `end` of the visible text.
fn to_source(inline: &Inline<'_>, starts: &[usize], end: usize) -> usize {
    let pieces = inline.pieces();
    let i = starts.partition_point(|&start| start <= end).saturating_sub(1);
    let (Some(piece), Some(&start)) = (pieces.get(i), starts.get(i)) else { return end };
    if end > start {
        // Inside a piece that shows as something else there is no byte to point at: it belongs to the sentence.
        return if piece.shown.is_some() {
            piece.span.end
        } else {
            (piece.span.start + end - start).min(piece.span.end)
        };
    }
    // Between two pieces: behind the markup that closes, before the markup that opens.
    let before = i.checked_sub(1).and_then(|i| pieces.get(i)).map_or(0, |piece| piece.span.end);
    before.max(piece.closed).min(piece.span.start)
}

/// Takes the sentence ends out of inline code, and lets it begin with a capital: a sentence may begin with a name in
/// small letters (`cargo`), and a small letter would say that it does not.
fn mask(text: &mut String, from: usize) {
    let code = &text[from..];
    if code.starts_with(|c: char| c.is_ascii_lowercase()) || code.contains(['.', '!', '?']) {
        let mut masked = code.replace(['.', '!', '?'], "_");
        if let Some(first) = masked.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        text.truncate(from);
        text.push_str(&masked);
    }
}
