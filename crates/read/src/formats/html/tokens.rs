//! A scanner for HTML that keeps byte ranges: linear, and content with any input.

use memchr::{memchr, memchr3, memmem};
use pericope_api::Span;

use crate::work;

/// A piece of HTML. The spans of consecutive tokens touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// Characters, entities not decoded.
    Text(Span),
    /// A tag; `name` as written.
    Tag { name: &'a str, closing: bool, span: Span },
    /// What nobody sees: comments, declarations, an element whose content is not text. For `title`, `inner` is the
    /// title.
    Hidden { name: &'a str, inner: Span, span: Span },
}

impl Token<'_> {
    /// All of its bytes.
    pub(super) fn span(&self) -> Span {
        let (Token::Text(span) | Token::Tag { span, .. } | Token::Hidden { span, .. }) = *self;
        span
    }
}

/// Elements whose content is not markup, or not text that a page shows.
const RAW: &[&str] = &["script", "style", "title", "textarea", "template", "iframe", "noembed", "noframes", "xmp"];

/// The tokens of `source[at..end]`.
pub(super) struct Tokens<'a> {
    source: &'a str,
    at: usize,
    end: usize,
    /// A tag's quotes were not closed before the end: from here on, tags end at the first `>`.
    plain_quotes: bool,
    /// No `>` is left, so there is no further tag.
    no_tags: bool,
    /// In the text of a CDATA section: where that ends.
    section: Option<usize>,
    /// No `]]>` is left.
    no_sections: bool,
    /// The source is XHTML; looked up where that matters.
    xhtml: Option<bool>,
}

const SECTION: &str = "<![CDATA[";
const SECTION_END: &str = "]]>";

/// Bytes at the beginning of a page that say whether it is XHTML.
const XHTML_HEAD: usize = 1024;

impl<'a> Tokens<'a> {
    pub(super) fn new(source: &'a str, span: Span) -> Self {
        Self {
            source,
            at: span.start,
            end: span.end,
            plain_quotes: false,
            no_tags: false,
            section: None,
            no_sections: false,
            xhtml: None,
        }
    }

    fn rest(&self, from: usize) -> &'a str {
        self.source.get(from..self.end).unwrap_or("")
    }

    /// What begins with the `<` at byte `at`, if that is markup.
    fn markup(&mut self, at: usize) -> Option<Token<'a>> {
        let rest = self.rest(at);
        let second = *rest.as_bytes().get(1)?;
        if let Some(comment) = rest.strip_prefix("<!--") {
            let len = memmem::find(comment.as_bytes(), b"-->").map_or(comment.len(), |at| at + 3);
            return Some(self.hidden("", at, at + 4 + len));
        }
        if rest.starts_with(SECTION)
            && let Some(section) = self.section(at)
        {
            return Some(section);
        }
        if second == b'!' || second == b'?' {
            let len = memchr(b'>', rest.as_bytes()).map_or(rest.len(), |at| at + 1);
            return Some(self.hidden("", at, at + len));
        }
        let closing = second == b'/';
        let name_start = at + 1 + usize::from(closing);
        let name = self.rest(name_start);
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || self.no_tags {
            return None;
        }
        let name_len = name
            .bytes()
            .inspect(|_| work::looked(1))
            .position(|b| b.is_ascii_whitespace() || b == b'/' || b == b'>' || b == b'<');
        let name = name.get(..name_len?)?;
        let end = self.tag_end(name_start + name.len())?;
        let span = Span::new(at, end);
        let raw = !closing && RAW.iter().any(|raw| raw.eq_ignore_ascii_case(name));
        if raw && !self.source[at..end].ends_with("/>") {
            let raw = self.raw(name, span);
            work::looked(raw.span().len());
            return Some(raw);
        }
        Some(Token::Tag { name, closing, span })
    }

    /// What the CDATA section at byte `at` begins with, if it ends. In XHTML that is its mark, and text follows. In HTML it
    /// is a comment: all of the section, though by the standard only up to its first `>`.
    fn section(&mut self, at: usize) -> Option<Token<'a>> {
        if self.no_sections {
            return None;
        }
        let start = at + SECTION.len();
        let found = work::find(self.rest(start), SECTION_END);
        self.no_sections = found.is_none();
        let end = start + found?;
        let source = self.source;
        if *self.xhtml.get_or_insert_with(|| is_xhtml(source)) {
            self.section = Some(end);
            return Some(self.hidden("", at, start));
        }
        Some(self.hidden("", at, end + SECTION_END.len()))
    }

    fn hidden(&self, name: &'a str, start: usize, end: usize) -> Token<'a> {
        Token::Hidden { name, inner: Span::new(end, end), span: Span::new(start, end) }
    }

    /// One past the `>` of a tag whose attributes begin at byte `from`; quoted values may hold a `>`.
    fn tag_end(&mut self, from: usize) -> Option<usize> {
        if !self.plain_quotes {
            let end = self.tag_end_with_quotes(from);
            work::looked(end.unwrap_or(self.end) - from);
            if end.is_some() {
                return end;
            }
        }
        self.plain_quotes = true;
        let found = work::memchr(b'>', &self.source.as_bytes()[from..self.end]);
        self.no_tags = found.is_none();
        found.map(|found| from + found + 1)
    }

    /// The same where every quote is closed.
    fn tag_end_with_quotes(&self, from: usize) -> Option<usize> {
        let bytes = &self.source.as_bytes()[..self.end];
        let mut at = from;
        loop {
            at += memchr3(b'>', b'"', b'\'', &bytes[at..])?;
            let mark = bytes[at];
            at += 1;
            if mark == b'>' {
                return Some(at);
            }
            // A quote that no `=` comes before is part of a name.
            if bytes[from..at - 1].iter().rev().find(|b| !b.is_ascii_whitespace()) == Some(&b'=') {
                at += memchr(mark, &bytes[at..])? + 1;
            }
        }
    }

    /// A raw element whose start tag is `tag`: up to its end tag, or to the end.
    fn raw(&self, name: &'a str, tag: Span) -> Token<'a> {
        let bytes = &self.source.as_bytes()[..self.end];
        let mut at = tag.end;
        while let Some(found) = memmem::find(&bytes[at..], b"</") {
            let start = at + found;
            at = start + 2;
            let after = bytes.get(at..at + name.len()).filter(|n| n.eq_ignore_ascii_case(name.as_bytes()));
            let ends = bytes.get(at + name.len()).is_none_or(|b| b.is_ascii_whitespace() || matches!(b, b'>' | b'/'));
            if after.is_some() && ends {
                let end = memchr(b'>', &bytes[at..]).map_or(self.end, |found| at + found + 1);
                return Token::Hidden { name, inner: Span::new(tag.end, start), span: Span::new(tag.start, end) };
            }
        }
        Token::Hidden { name, inner: Span::new(tag.end, self.end), span: Span::new(tag.start, self.end) }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        if self.at >= self.end {
            return None;
        }
        let start = self.at;
        if let Some(end) = self.section {
            if start < end {
                self.at = end;
                return Some(Token::Text(Span::new(start, end)));
            }
            self.section = None;
            self.at = end + SECTION_END.len();
            return Some(self.hidden("", start, self.at));
        }
        if let Some(token) = self.source[start..].starts_with('<').then(|| self.markup(start)).flatten() {
            self.at = token.span().end;
            return Some(token);
        }
        // A `<` that begins no markup is text.
        let text = &self.source.as_bytes()[start + 1..self.end];
        self.at = memchr(b'<', text).map_or(self.end, |found| start + 1 + found);
        Some(Token::Text(Span::new(start, self.at)))
    }
}

/// True for a page that says it is XML, as far as browsers ever took it for that.
fn is_xhtml(source: &str) -> bool {
    let head = &source[..source.floor_char_boundary(XHTML_HEAD)];
    work::looked(head.len());
    let head = head.trim_start_matches('\u{feff}').trim_start().to_ascii_lowercase();
    head.starts_with("<?xml") || head.contains("//dtd xhtml") || head.contains("http://www.w3.org/1999/xhtml")
}

#[cfg(test)]
mod tests {
    use super::{Token, Tokens};
    use crate::work;
    use pericope_api::Span;

    fn tokens(source: &str) -> Vec<String> {
        let tokens = Tokens::new(source, Span::new(0, source.len()));
        tokens
            .map(|token| match token {
                Token::Text(span) => format!("text {}", span.of(source)),
                Token::Tag { name, closing: false, span } => format!("{name} {}", span.of(source)),
                Token::Tag { name, closing: true, span } => format!("/{name} {}", span.of(source)),
                Token::Hidden { name, inner, .. } => format!("hidden {name} {}", inner.of(source)),
            })
            .collect()
    }

    #[test]
    fn tags_comments_and_raw_elements() {
        assert_eq!(tokens("<P a='>' b=\">\">x</P >"), ["P <P a='>' b=\">\">", "text x", "/P </P >"]);
        assert_eq!(tokens("a < b <3 </ <"), ["text a ", "text < b ", "text <3 ", "text </ ", "text <"]);
        assert_eq!(tokens("<!-- <b> --><!doctype html><?x?>y"), ["hidden  ", "hidden  ", "hidden  ", "text y"]);
        assert_eq!(tokens("<script>a</b></scripts></SCRIPT >z"), ["hidden script a</b></scripts>", "text z"]);
        assert_eq!(tokens("<title>T &amp; U</title>"), ["hidden title T &amp; U"]);
        assert_eq!(tokens("<style>never"), ["hidden style never"]);
        // A character of two bytes at the beginning of a text.
        assert_eq!(tokens("<p>é</p>¶<b>"), ["p <p>", "text é", "/p </p>", "text ¶", "b <b>"]);
    }

    #[test]
    fn sections_of_characters_are_text_in_xhtml_alone() {
        let page = "a<![CDATA[ b > <i> ]]> c";
        assert_eq!(tokens(page), ["text a", "hidden  ", "text  c"]);
        for head in ["<?xml version='1.0'?>", "<html xmlns=\"http://www.w3.org/1999/xhtml\">"] {
            let found = tokens(&format!("{head}{page}<![CDATA[]]>"));
            assert_eq!(
                found[1..],
                ["text a", "hidden  ", "text  b > <i> ", "hidden  ", "text  c", "hidden  ", "hidden  "]
            );
        }
        // What never ends hides no more than it did.
        assert_eq!(tokens("a<![CDATA[ b > c"), ["text a", "hidden  ", "text  c"]);
    }

    #[test]
    fn broken_tags_end_somewhere() {
        assert_eq!(tokens("<a b=\"c>d"), ["a <a b=\"c>", "text d"]);
        assert_eq!(tokens("<a it's>x"), ["a <a it's>", "text x"]);
        assert_eq!(tokens("x <y and more"), ["text x ", "text <y and more"]);
        assert_eq!(tokens("<!-- open"), ["hidden  "]);
    }

    #[test]
    fn hostile_input_takes_linear_time() {
        for unit in [
            "<a =\">\" <a =\"",
            "<a ",
            "<",
            "<!-",
            "</",
            "<a b='",
            "<script>",
            "<a ' ",
            "<!--",
            "<x>",
            "&",
            "<![CDATA[",
            "<![CDATA[]]>",
        ] {
            let source = unit.repeat(40_000);
            work::take();
            let span = Span::new(0, source.len());
            let mut at = 0;
            for token in Tokens::new(&source, span) {
                assert_eq!(token.span().start, at);
                at = token.span().end;
            }
            assert_eq!(at, source.len());
            let looked = work::take();
            assert!(looked <= 4 * source.len(), "{unit:?}: {looked} bytes for {}", source.len());
        }
    }
}
