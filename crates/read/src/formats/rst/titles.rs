//! Section titles: a line of text over a line of punctuation, or between two.

use pericope_api::Span;
use unicode_width::UnicodeWidthStr;

use super::blocks::Rst;
use crate::formats::lines::adornment;
use crate::inline::Inline;
use crate::limits;

/// Deepest heading that a document knows.
const DEEPEST: usize = 6;

impl Rst<'_, '_> {
    /// Reads the title with an overline that begins at line `i`; answers how many lines it has, 0 where there is none.
    pub(super) fn overlined(&mut self, i: usize, to: usize) -> usize {
        let [Some(over), Some(title), Some(under)] = [0, 1, 2].map(|n| self.line(i + n, to)) else { return 0 };
        let text = over.of(self.source);
        let Some(c) = adornment(text) else { return 0 };
        let same = under.indent == over.indent && under.of(self.source) == text;
        if title.is_blank() || !same || !fits(title.of(self.source), text) {
            return 0;
        }
        self.title(Span::new(over.start, under.end), Span::new(title.start, title.end), (c, true));
        3
    }

    /// Reads the title with nothing but an underline that begins at line `i`; answers how many lines it has.
    pub(super) fn underlined(&mut self, i: usize, to: usize) -> usize {
        let [Some(title), Some(under)] = [0, 1].map(|n| self.line(i + n, to)) else { return 0 };
        let text = under.of(self.source);
        let Some(c) = adornment(text).filter(|_| under.indent == 0) else { return 0 };
        if title.is_blank() || !fits(title.of(self.source), text) {
            return 0;
        }
        self.title(Span::new(title.start, under.end), Span::new(title.start, title.end), (c, false));
        2
    }

    /// Levels are in the order in which the styles of titles are met.
    fn title(&mut self, extent: Span, text: Span, style: (u8, bool)) {
        // The id is made before substitutions are.
        let mut bare = Inline::default();
        super::inline::parse(self.source, text, None, &mut bare);
        let mut inline = Inline::default();
        super::inline::parse(self.source, text, Some(&mut self.substitutions), &mut inline);
        if !limits::is_heading(&bare, self.source) || !limits::is_heading(&inline, self.source) {
            let start = self.lead(extent.start);
            return self.builder.text(Span::new(start, extent.end), &inline, self.kind());
        }
        let level = self.styles.iter().position(|known| *known == style).unwrap_or_else(|| {
            self.styles.push(style);
            self.styles.len() - 1
        });
        let level = u8::try_from((level + 1).min(DEEPEST)).unwrap_or(1);
        let id = self.ids.section(&bare.visible(self.source));
        let (target, header) = (self.target.take(), self.in_header);
        let start = self.lead(extent.start);
        self.builder.heading(Span::new(start, extent.end), &inline, level, target.or(Some(id)));
        // The fields below the title of a document are its metadata.
        self.in_header = header;
    }
}

/// A line under a title is at least as long as the title; one of four characters or more is taken for it all the same.
fn fits(title: &str, line: &str) -> bool {
    line.len() >= 4 || title.width() <= line.len()
}
