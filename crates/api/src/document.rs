use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Heading, Span};

/// The format of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Format {
    /// Plain text: paragraphs end at blank lines.
    Plain,
    /// Markdown (CommonMark with GitHub's tables).
    Markdown,
    /// HTML.
    Html,
    /// reStructuredText, as docutils and Sphinx read it.
    Rst,
    /// AsciiDoc.
    Asciidoc,
}

/// The kind of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Kind {
    /// A heading of level 1 (outermost) to 6.
    Heading(u8),
    /// A sentence of running text.
    Prose,
    /// A sentence, or a part of one, in a list item.
    ListItem,
    /// A whole code block: never cut inside where it fits the size limit.
    Code,
    /// A whole table: never cut inside where it fits the size limit.
    Table,
    /// Bytes that a reader of the page does not see as text: front matter, tags, scripts.
    Markup,
}

impl Kind {
    /// True for code blocks and tables, which are kept whole where they fit.
    #[must_use]
    pub fn is_atomic(self) -> bool {
        matches!(self, Kind::Code | Kind::Table)
    }

    /// True for what a person would read as language: prose, list items and headings.
    #[must_use]
    pub fn is_language(self) -> bool {
        matches!(self, Kind::Prose | Kind::ListItem | Kind::Heading(_))
    }
}

/// The smallest unit that segmenters reason about: a sentence, a heading, or a whole code block or table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sentence {
    /// Byte range; starts and ends with a non-blank character.
    pub span: Span,
    /// The kind.
    pub kind: Kind,
    /// Index of the paragraph (block) that it belongs to; never decreases from sentence to sentence.
    pub paragraph: u32,
    /// Index into the document's heading paths; 0 is the path above the first heading.
    pub section: u32,
}

/// A piece of source that reads as something else: a tag as nothing, an entity as its character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewrite {
    /// The bytes that are replaced.
    pub span: Span,
    /// The text that a reader sees instead.
    pub with: Box<str>,
}

/// A source text, kept byte for byte, and what a reader found in it.
///
/// Invariants (checked by [`Document::check`]): sentences are in order, do not overlap, start and end with non-blank
/// characters, and cover every non-blank byte of the source.
#[derive(Debug, Clone)]
pub struct Document {
    /// The id, unique in its corpus: the path of a file, the id of a JSON line.
    pub id: String,
    /// The title; `None` for formats or documents without one.
    pub title: Option<String>,
    /// The format of the source.
    pub format: Format,
    /// The text, unchanged.
    pub source: Arc<str>,
    /// The sentences in reading order.
    pub sentences: Vec<Sentence>,
    /// Heading paths, outermost heading first; `Sentence::section` points into this list, whose first entry is the
    /// (usually empty) path above the first heading.
    pub sections: Vec<Vec<Heading>>,
    /// The targets of links to the sections, one for each of `sections`: the fragment (without `#`) of its innermost
    /// heading that has one. Empty where the format has none, or none is known.
    pub anchors: Vec<Option<Arc<str>>>,
    /// The encoding that the source was decoded from, by its name in the Encoding Standard (`windows-1252`), or `CESU-8`,
    /// with what was replaced in it; `None` for UTF-8, whose bytes are the source as they are. Byte ranges are those of the
    /// decoded text.
    pub encoding: Option<String>,
    /// Pieces that read differently from their bytes, in order, without overlap.
    pub rewrites: Vec<Rewrite>,
}

impl Document {
    /// A document made of given sentences, joined by line ends; blank sentences get no entry, so give none where the
    /// numbering matters. Every sentence is a paragraph of its own.
    #[must_use]
    pub fn from_sentences<S: AsRef<str>>(id: &str, sentences: &[S]) -> Self {
        let mut source = String::with_capacity(sentences.iter().map(|s| s.as_ref().len() + 1).sum());
        let mut found = Vec::with_capacity(sentences.len());
        for sentence in sentences {
            if !source.is_empty() {
                source.push('\n');
            }
            let start = source.len();
            source.push_str(sentence.as_ref());
            let span = Span::new(start, source.len()).trimmed(&source);
            if !span.is_empty() {
                let paragraph = u32::try_from(found.len()).unwrap_or(u32::MAX);
                found.push(Sentence { span, kind: Kind::Prose, paragraph, section: 0 });
            }
        }
        Self {
            id: id.to_owned(),
            title: None,
            format: Format::Plain,
            source: source.into(),
            sentences: found,
            sections: vec![Vec::new()],
            anchors: Vec::new(),
            encoding: None,
            rewrites: Vec::new(),
        }
    }

    /// The same with these paragraphs: one ends after each of these sentences (1-based numbers, ascending), and after the last
    /// sentence.
    ///
    /// ```
    /// let document = pericope_api::Document::from_sentences("d", &["One.", "Two.", "Three."]).with_paragraphs(&[2]);
    /// let paragraphs: Vec<u32> = document.sentences.iter().map(|sentence| sentence.paragraph).collect();
    /// assert_eq!(paragraphs, [0, 0, 1]);
    /// ```
    #[must_use]
    pub fn with_paragraphs(mut self, ends: &[usize]) -> Self {
        let mut ends = ends.iter().peekable();
        let mut paragraph = 0;
        for (number, sentence) in (1..).zip(&mut self.sentences) {
            sentence.paragraph = paragraph;
            paragraph += u32::from(ends.next_if_eq(&&number).is_some());
        }
        self
    }

    /// The number of sentences.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sentences.len()
    }

    /// True where the source has no non-blank byte.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sentences.is_empty()
    }

    /// True where a reader of the page sees some text. A page of front matter, comments or tags alone has none.
    ///
    /// ```
    /// use pericope_api::{Document, Kind};
    ///
    /// let mut page = Document::from_sentences("d", &["title: Pumps", "Prime it."]);
    /// page.sentences[0].kind = Kind::Markup;
    /// assert!(page.has_text());
    /// page.sentences.pop();
    /// assert!(!page.has_text());
    /// ```
    #[must_use]
    pub fn has_text(&self) -> bool {
        self.sentences.iter().any(|s| s.kind != Kind::Markup && self.shows(s.span))
    }

    /// True where a reader of the page sees some of a span: tags, scripts and hidden parts alone show nothing.
    #[must_use]
    pub fn shows(&self, span: Span) -> bool {
        self.pieces(span).any(|piece| !piece.trim_start().is_empty())
    }

    /// The source under a span.
    #[must_use]
    pub fn text(&self, span: Span) -> &str {
        span.of(&self.source)
    }

    /// The source of sentence `i` (0-based); empty where there is none.
    #[must_use]
    pub fn sentence(&self, i: usize) -> &str {
        self.sentences.get(i).map_or("", |s| self.text(s.span))
    }

    /// From the first byte of sentence `range.start` to the last of sentence `range.end - 1`.
    ///
    /// # Panics
    /// For a range that is empty or reaches beyond the sentences.
    #[must_use]
    pub fn span_of(&self, range: std::ops::Range<usize>) -> Span {
        self.sentences[range.start].span.hull(&self.sentences[range.end - 1].span)
    }

    /// The headings above sentence `i`, outermost first; a heading's own path ends with itself.
    #[must_use]
    pub fn heading_path(&self, i: usize) -> &[Heading] {
        self.sentences.get(i).and_then(|s| self.sections.get(s.section as usize)).map_or(&[], Vec::as_slice)
    }

    /// Returns the target of a link to a chunk that starts at byte `start`: the fragment (without `#`) of the section of
    /// its first sentence; a heading's section is its own. `None` where no link is known.
    ///
    /// ```
    /// let mut document = pericope_api::Document::from_sentences("d", &["Pumps", "Prime it."]);
    /// document.sections.push(vec!["Pumps".into()]);
    /// document.anchors = vec![None, Some("pumps".into())];
    /// document.sentences[1].section = 1;
    /// assert_eq!(document.anchor_at(0), None);
    /// assert_eq!(document.anchor_at(6), Some("pumps"));
    /// ```
    #[must_use]
    pub fn anchor_at(&self, start: usize) -> Option<&str> {
        let section = self.sentences.get(self.sentence_at(start))?.section;
        self.anchors.get(section as usize)?.as_deref()
    }

    /// Index of the first sentence that ends after byte `offset`; `len()` where there is none.
    #[must_use]
    pub fn sentence_at(&self, offset: usize) -> usize {
        self.sentences.partition_point(|s| s.span.end <= offset)
    }

    /// The span as a person reads it: tags gone, entities as characters. Borrowed where nothing is rewritten.
    #[must_use]
    pub fn visible(&self, span: Span) -> Cow<'_, str> {
        match self.rewrites_in(span).next() {
            Some(_) => Cow::Owned(self.pieces(span).collect()),
            None => Cow::Borrowed(self.text(span)),
        }
    }

    /// Returns the words of a span's visible text that do not stand in the source as they are: with characters that are
    /// written otherwise (`f&uuml;nf`), or with markup between their parts (`**im**portant`). A word is what stands between
    /// blanks and punctuation.
    #[must_use]
    pub fn rewritten_words(&self, span: Span) -> Vec<String> {
        if self.rewrites_in(span).next().is_none() {
            return Vec::new();
        }
        let (mut visible, mut changed) = (String::new(), Vec::new());
        for (before, with) in self.rewritten(span) {
            visible.push_str(before);
            changed.push(Span::new(visible.len(), visible.len() + with.len()));
            visible.push_str(with);
        }
        let mut words: Vec<Span> = Vec::new();
        for change in changed {
            // Part of the word before, which is taken whole.
            if words.last().is_some_and(|last| change.start < last.end) {
                continue;
            }
            let before = Span::new(0, change.start).of(&visible);
            let behind = Span::new(change.end, visible.len()).of(&visible);
            let is_within = |c: Option<char>| c.is_some_and(|c| !ends_word(c));
            let joins = is_within(before.chars().next_back()) && is_within(behind.chars().next());
            let is_written_otherwise = change.of(&visible).contains(|c| !ends_word(c));
            if !is_written_otherwise && (!change.is_empty() || !joins) {
                continue;
            }
            let start = before.char_indices().rfind(|(_, c)| ends_word(*c)).map_or(0, |(at, c)| at + c.len_utf8());
            let end = change.end + behind.find(ends_word).unwrap_or(behind.len());
            words.push(Span::new(start, end));
        }
        words.into_iter().map(|word| word.of(&visible).to_owned()).collect()
    }

    /// The rewrites that touch a span.
    fn rewrites_in(&self, span: Span) -> impl Iterator<Item = &Rewrite> {
        let first = self.rewrites.partition_point(|r| r.span.end <= span.start);
        self.rewrites[first..].iter().take_while(move |r| r.span.start < span.end)
    }

    /// What a person reads of a span, piece by piece.
    fn pieces(&self, span: Span) -> impl Iterator<Item = &str> {
        self.rewritten(span).flat_map(|(before, with)| [before, with])
    }

    /// What stands before each rewrite in a span and what that is read as; in the end the rest, and nothing behind it.
    fn rewritten(&self, span: Span) -> impl Iterator<Item = (&str, &str)> {
        let end = (Span::new(span.end, span.end), "");
        let mut at = span.start;
        self.rewrites_in(span).map(|r| (r.span, &*r.with)).chain([end]).map(move |(place, with)| {
            let before = if place.start > at { self.text(Span::new(at, place.start)) } else { "" };
            at = place.end.max(at);
            (before, with)
        })
    }

    /// Checks the invariants that readers promise; the message names the first sentence that breaks one.
    ///
    /// # Errors
    /// A sentence for people, where an invariant does not hold.
    pub fn check(&self) -> Result<(), String> {
        let mut at = 0;
        let (mut paragraph, mut section) = (0, 0);
        for (i, sentence) in self.sentences.iter().enumerate() {
            let Span { start, end } = sentence.span;
            let Some(text) = self.source.get(start..end) else {
                return Err(format!("sentence {i}: {start}..{end} is no character range of the source"));
            };
            if text.is_empty() || text.trim() != text {
                return Err(format!("sentence {i}: {text:?} is blank or has blank ends"));
            }
            match self.source.get(at..start) {
                None => return Err(format!("sentence {i} overlaps the one before it")),
                Some(between) if !between.trim().is_empty() => {
                    return Err(format!("no sentence covers {between:?} before sentence {i}"));
                }
                Some(_) => {}
            }
            if sentence.paragraph < paragraph || sentence.section < section {
                return Err(format!("sentence {i}: paragraph or section goes back"));
            }
            if sentence.section as usize >= self.sections.len() {
                return Err(format!("sentence {i}: there is no section {}", sentence.section));
            }
            (paragraph, section) = (sentence.paragraph, sentence.section);
            at = end;
        }
        match self.source.get(at..) {
            Some(rest) if !rest.trim().is_empty() => Err("the end of the source is not covered".into()),
            _ => Ok(()),
        }
    }
}

/// True for blanks and punctuation; marks and what is not seen (soft hyphens, joiners) belong to the word around them.
fn ends_word(c: char) -> bool {
    c.is_whitespace()
        || c.is_ascii_punctuation()
        || matches!(c, '\u{a1}'..='\u{a7}' | '\u{ab}' | '\u{b6}' | '\u{b7}' | '\u{bb}' | '\u{bf}'
            | '\u{200b}' | '\u{2010}'..='\u{205e}' | '\u{3000}'..='\u{303f}' | '\u{ff01}'..='\u{ff0f}')
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::{Document, Rewrite};
    use crate::Span;

    #[test]
    fn sentences_cover_the_source() {
        let document = Document::from_sentences("d", &["One.", "  Two. ", "", "Three."]);
        assert_eq!(document.len(), 3);
        assert_eq!(document.sentence(1), "Two.");
        assert_eq!(document.check(), Ok(()));
        assert_eq!(document.sentence_at(4), 1);
    }

    #[test]
    fn a_gap_in_the_sentences_is_found() {
        let mut document = Document::from_sentences("d", &["One.", "Two.", "Three."]);
        document.sentences.remove(1);
        assert!(document.check().is_err());
    }

    #[test]
    fn visible_text_has_no_tags() {
        let mut document = Document::from_sentences("d", &["<b>fish</b> &amp; chips"]);
        let rewrite = |start, end, with: &str| Rewrite { span: Span::new(start, end), with: with.into() };
        document.rewrites = vec![rewrite(0, 3, ""), rewrite(7, 11, ""), rewrite(12, 17, "&")];
        assert_eq!(document.visible(Span::new(0, document.source.len())), "fish & chips");
        assert_eq!(document.visible(Span::new(18, 23)), "chips");
    }

    #[test]
    fn words_that_are_written_otherwise_are_known() {
        let mut document = Document::from_sentences("d", &["**im**portant f&uuml;nf [API](x/y.md) caf**&eacute;** é"]);
        let source = document.source.clone();
        let rewrite = |text: &str, from: usize, with: &str| {
            let start = from + source[from..].find(text).unwrap();
            Rewrite { span: Span::new(start, start + text.len()), with: with.into() }
        };
        document.rewrites = vec![
            rewrite("**", 0, ""),
            rewrite("**", 2, ""),
            rewrite("&uuml;", 0, "ü"),
            rewrite("[", 0, ""),
            rewrite("](x/y.md)", 0, ""),
            rewrite("**", 20, ""),
            rewrite("&eacute;", 0, "é"),
            rewrite("**", source.rfind("**").unwrap(), ""),
        ];
        let whole = Span::new(0, source.len());
        assert_eq!(document.visible(whole), "important fünf API café é");
        assert_eq!(document.rewritten_words(whole), ["important", "fünf", "café"]);
        let link = source.find('[').unwrap();
        assert_eq!(document.rewritten_words(Span::new(link, link + 14)), [""; 0]);
        // Marks and soft hyphens belong to words.
        let mut document = Document::from_sentences("d", &["con&shy;gress Mu\u{308}**hl**e &rsquo;"]);
        let source = document.source.clone();
        let stars = source.find("**").unwrap();
        let entity = source.find("&rsquo;").unwrap();
        document.rewrites = [(3, 5, "\u{ad}"), (stars, 2, ""), (stars + 4, 2, ""), (entity, 7, "\u{2019}")]
            .map(|(start, length, with)| Rewrite { span: Span::new(start, start + length), with: with.into() })
            .into();
        let words = document.rewritten_words(Span::new(0, source.len()));
        assert_eq!(words, ["con\u{ad}gress", "Mu\u{308}hle"]);
        assert_eq!(document.rewritten_words(Span::new(0, 1)), [""; 0]);
    }
}
