//! Puts a document together: readers hand over blocks in reading order, the builder splits them into sentences, keeps
//! account of the bytes that are covered and of those that a reader of the page does not see.

use std::cell::Cell;
use std::sync::Arc;

use pericope_api::{Document, Format, Heading, Kind, Rewrite, Sentence, Span};

use crate::inline::{Inline, Layout};
use crate::limits::{self, LONGEST_ANCHOR, LONGEST_LABEL};
use crate::split::SentenceSplitter;
use crate::work;

/// Deepest level of a heading, and so the length of the longest heading path.
const DEEPEST: u8 = 6;

/// A heading that the current place is under.
struct Above {
    level: u8,
    text: Heading,
    anchor: Option<Arc<str>>,
}

/// A document in the making.
pub(crate) struct Builder<'a> {
    pub(crate) source: &'a str,
    splitter: &'a dyn SentenceSplitter,
    sentences: Vec<Sentence>,
    sections: Vec<Vec<Heading>>,
    /// The anchors of the sections, beside `sections`.
    anchors: Vec<Option<Arc<str>>>,
    rewrites: Vec<Rewrite>,
    /// Headings in force, outermost first.
    headings: Vec<Above>,
    /// End of the last sentence: what lies before is dealt with.
    covered: usize,
    /// Only blanks lie between `covered` and this byte. What has been looked at once is not looked at again.
    blank_to: Cell<usize>,
    paragraph: u32,
    /// The sentence where the labels begin that a heading would begin with: nothing that shows came since.
    label: Option<usize>,
    layout: Layout,
    pub(crate) title: Option<String>,
}

impl<'a> Builder<'a> {
    pub(crate) fn new(source: &'a str, splitter: &'a dyn SentenceSplitter) -> Self {
        Self {
            source,
            splitter,
            sentences: Vec::new(),
            sections: vec![Vec::new()],
            anchors: vec![None],
            rewrites: Vec::new(),
            headings: Vec::new(),
            covered: 0,
            blank_to: Cell::new(0),
            paragraph: 0,
            label: None,
            layout: Layout::default(),
            title: None,
        }
    }

    /// The document, once every block has been handed over.
    pub(crate) fn finish(mut self, id: &str, format: Format, source: Arc<str>) -> Document {
        let rest = self.gap(source.len());
        self.hidden(rest);
        self.byte_order_mark();
        if self.anchors.iter().all(Option::is_none) {
            self.anchors.clear();
        }
        Document {
            id: id.to_owned(),
            title: self.title.map(limits::title),
            format,
            source,
            sentences: self.sentences,
            sections: self.sections,
            anchors: self.anchors,
            encoding: None,
            rewrites: self.rewrites,
        }
    }

    /// End of the last sentence.
    pub(crate) fn covered(&self) -> usize {
        self.covered
    }

    /// Number of sentences so far, without the labels that a heading may still take.
    pub(crate) fn len(&self) -> usize {
        self.label.unwrap_or(self.sentences.len())
    }

    /// Returns the source between the last sentence and byte `to`, without the blanks around it; may be empty.
    pub(crate) fn gap(&self, to: usize) -> Span {
        let from = self.covered.max(self.blank_to.get());
        let start = if from < to { to - work::trim_start(Span::new(from, to).of(self.source)).len() } else { to };
        if start >= to {
            self.blank_to.set(from.max(to));
            return Span::new(self.covered, self.covered);
        }
        self.blank_to.set(start);
        Span::new(start, to).trimmed(self.source)
    }

    /// A block that is one sentence: `body` with what leads up to it from `start` on (a list marker, an opening tag).
    pub(crate) fn whole(&mut self, start: usize, body: Span, kind: Kind) {
        let body = body.trimmed(self.source);
        if !body.is_empty() {
            let extent = Span::new(start, body.end).trimmed(self.source);
            self.lead(extent.start, body.start);
            self.push(extent, kind);
            self.paragraph += 1;
        }
    }

    /// A block that nobody sees: front matter, a script, a link definition.
    pub(crate) fn hidden(&mut self, span: Span) {
        let span = span.trimmed(self.source);
        if !span.is_empty() {
            self.lead(span.start, span.end);
            self.push(span, Kind::Markup);
            self.paragraph += 1;
        }
    }

    /// The block before, which nobody sees, was a label: a heading that follows begins with it.
    pub(crate) fn label(&mut self) {
        if let Some(last) = self.sentences.len().checked_sub(1)
            && self.sentences[last].kind == Kind::Markup
        {
            self.label.get_or_insert(last);
        }
    }

    /// Takes the labels before the heading at `extent`, and what stands between, back for it; answers where it begins then.
    fn take_label(&mut self, extent: Span) -> Span {
        let Some(first) = self.label.take() else { return extent };
        let start = self.sentences[first].span.start;
        if extent.start < start || extent.start - start > LONGEST_LABEL {
            return extent;
        }
        self.sentences.truncate(first);
        let kept = self.rewrites.partition_point(|rewrite| rewrite.span.start < start);
        self.rewrites.truncate(kept);
        self.covered = start;
        Span::new(start, extent.end)
    }

    /// A block of text, split into sentences. `extent` covers the text and the markup around it; where there is nothing
    /// to see, the whole of it is hidden.
    pub(crate) fn text(&mut self, extent: Span, inline: &Inline<'_>, kind: Kind) {
        let extent = extent.trimmed(self.source);
        if extent.is_empty() {
            return;
        }
        if inline.is_blank(self.source) {
            return self.hidden(extent);
        }
        let mut layout = std::mem::take(&mut self.layout);
        self.hide_around(extent, inline);
        if matches!(kind, Kind::Heading(_)) {
            self.push(extent, kind);
        } else {
            layout.split(self.source, extent, inline, self.splitter, &mut |span| self.push(span, kind));
        }
        self.layout = layout;
        self.paragraph += 1;
    }

    /// A heading: begins a section and is its first sentence. `anchor` is what a link to it ends with; without one, links
    /// lead to the heading above it. A heading that is too long is text.
    pub(crate) fn heading(&mut self, extent: Span, inline: &Inline<'_>, level: u8, anchor: Option<String>) {
        self.heading_called(inline, extent, inline, level, anchor);
    }

    /// A heading of which more shows than what its section is called.
    pub(crate) fn heading_called(
        &mut self,
        name: &Inline<'_>,
        extent: Span,
        inline: &Inline<'_>,
        level: u8,
        anchor: Option<String>,
    ) {
        if inline.is_blank(self.source) {
            return self.hidden(extent);
        }
        if !limits::is_heading(inline, self.source) {
            return self.text(extent, inline, Kind::Prose);
        }
        let extent = self.take_label(extent);
        let level = level.clamp(1, DEEPEST);
        let text = name.visible(self.source);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if level == 1 && self.title.is_none() {
            self.title = Some(text.clone());
        }
        let text = Heading::from(text);
        let anchor = anchor.filter(|anchor| anchor.len() <= LONGEST_ANCHOR).map(Arc::from);
        while self.headings.last().is_some_and(|above| above.level >= level) {
            self.headings.pop();
        }
        let anchor = anchor.or_else(|| self.headings.last().and_then(|above| above.anchor.clone()));
        self.anchors.push(anchor.clone());
        self.headings.push(Above { level, text, anchor });
        self.sections.push(self.headings.iter().map(|above| above.text.clone()).collect());
        self.text(extent, inline, Kind::Heading(level));
    }

    /// Lets the last sentence reach to byte `end`; what it gains is hidden. Only blanks or markup may lie between.
    pub(crate) fn extend(&mut self, end: usize) {
        let gained = self.gap(end);
        if let Some(last) = self.sentences.last_mut()
            && !gained.is_empty()
        {
            last.span.end = gained.end;
            self.covered = gained.end;
            let with = self.behind(gained.end);
            self.rewrites.push(Rewrite { span: gained, with: with.into() });
        }
    }

    /// What a block's closing tag, which ends at byte `end`, reads as. Text may follow at once, as in `</p>text`; what begins
    /// with a tag gets its own line by that.
    pub(crate) fn behind(&self, end: usize) -> &'static str {
        let text_follows = self.source[end..].starts_with(|c: char| !c.is_whitespace() && c != '<');
        if text_follows { "\n" } else { "" }
    }

    /// `span` reads as `with`.
    pub(crate) fn rewrite(&mut self, span: Span, with: &str) {
        let after_the_last = self.rewrites.last().is_none_or(|last| last.span.end <= span.start);
        if !span.is_empty() && after_the_last {
            self.rewrites.push(Rewrite { span, with: with.into() });
        }
    }

    /// Hides the markup that leads up to a block; blocks without white space between them read as lines.
    fn lead(&mut self, start: usize, end: usize) {
        let shown = if self.is_glued(start) { "\n" } else { "" };
        self.rewrite(Span::new(start, end), shown);
    }

    /// True where a character that shows touches byte `start` from the left.
    pub(crate) fn is_glued(&self, start: usize) -> bool {
        self.source[..start].chars().next_back().is_some_and(|c| !c.is_whitespace() && c != BYTE_ORDER_MARK)
    }

    /// True where what is rewritten before byte `start` reads as the end of a line.
    fn ends_line(&self, start: usize) -> bool {
        self.rewrites.last().is_some_and(|last| last.span.end == start && last.with.ends_with('\n'))
    }

    /// Rewrites everything in `extent` but the pieces that show as they are, and the blanks at its two ends.
    fn hide_around(&mut self, extent: Span, inline: &Inline<'_>) {
        let mut at = extent.start;
        for piece in inline.pieces().iter().filter(|piece| piece.span.end > extent.start) {
            let seen = if piece.shown.is_some() { piece.span } else { piece.span.trimmed(self.source) };
            if at == extent.start && !seen.is_empty() {
                self.lead(at, seen.start);
            } else if piece.span.start > at {
                self.hide(at, piece.span.start);
            }
            if let Some(shown) = &piece.shown {
                // A picture that begins a block has no markup before it that could read as the end of a line.
                let begins = at == extent.start && piece.span.start == at && !shown.starts_with(char::is_whitespace);
                if begins && self.is_glued(at) && !self.ends_line(at) {
                    self.rewrite(piece.span, &format!("\n{shown}"))
                } else {
                    self.rewrite(piece.span, shown)
                }
            }
            at = at.max(piece.span.end);
        }
        self.hide(at, extent.end);
    }

    fn hide(&mut self, start: usize, end: usize) {
        let span = Span::new(start, end);
        if !span.of(self.source).trim().is_empty() {
            self.rewrite(span, "");
        }
    }

    fn push(&mut self, span: Span, kind: Kind) {
        let section = u32::try_from(self.sections.len() - 1).unwrap_or(u32::MAX);
        if kind != Kind::Markup {
            self.label = None;
        }
        self.sentences.push(Sentence { span, kind, paragraph: self.paragraph, section });
        self.covered = span.end;
    }

    /// A byte order mark is no blank to Unicode, so it belongs to the first sentence, where nobody sees it.
    fn byte_order_mark(&mut self) {
        let mark = Span::new(0, BYTE_ORDER_MARK.len_utf8());
        if !self.source.starts_with(BYTE_ORDER_MARK) {
            return;
        }
        match self.sentences.first_mut() {
            Some(first) => first.span.start = 0,
            None => self.push(mark, Kind::Markup),
        }
        self.rewrites.insert(0, Rewrite { span: mark, with: "".into() });
    }

    /// The source is taken as read up to its byte order mark, if it has one; answers where the text begins.
    pub(crate) fn skip_byte_order_mark(&mut self) -> usize {
        if self.source.starts_with(BYTE_ORDER_MARK) {
            self.covered = BYTE_ORDER_MARK.len_utf8();
        }
        self.covered
    }
}

const BYTE_ORDER_MARK: char = '\u{feff}';
