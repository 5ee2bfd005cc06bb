use std::sync::Arc;

use pericope_api::{Document, Format, Kind, Span};

use super::reader::Reader;
use crate::builder::Builder;
use crate::error::ReadError;
use crate::inline::Inline;
use crate::options::ReadOptions;

/// Plain text: paragraphs end at blank lines.
pub(super) struct Plain;

impl Reader for Plain {
    fn name(&self) -> &'static str {
        "plain"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["txt", "text"]
    }

    fn read(
        &self,
        id: &str,
        source: Arc<str>,
        options: &ReadOptions,
        sink: &mut dyn FnMut(Result<Document, ReadError>),
    ) {
        let mut builder = Builder::new(&source, options.splitter.as_ref());
        let from = builder.skip_byte_order_mark();
        for span in paragraphs(&source, from) {
            let mut inline = Inline::default();
            inline.plain(&source, span);
            builder.text(span, &inline, Kind::Prose);
        }
        let document = builder.finish(id, Format::Plain, source.clone());
        sink(Ok(document));
    }
}

/// Runs of non-blank lines, trimmed.
fn paragraphs(source: &str, from: usize) -> impl Iterator<Item = Span> + '_ {
    let mut at = from;
    std::iter::from_fn(move || {
        at += source[at..].len() - source[at..].trim_start().len();
        let start = at;
        for line in source[start..].split_inclusive('\n') {
            if line.trim().is_empty() {
                break;
            }
            at += line.len();
        }
        (at > start).then(|| Span::new(start, at).trimmed(source))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use crate::{ReadOptions, read_text};

    #[test]
    fn paragraphs_end_at_blank_lines_whatever_ends_the_lines() {
        let source = "\u{feff}First one. Second\r\none.\r\n \t\r\n\r\nThird one.  \r\n";
        let document = read_text("d", "txt", source, &ReadOptions::default()).unwrap();
        assert_eq!(document.check(), Ok(()));
        let texts: Vec<_> = (0..document.len()).map(|i| document.sentence(i)).collect();
        assert_eq!(texts, ["\u{feff}First one.", "Second\r\none.", "Third one."]);
        assert_eq!(document.visible(document.sentences[0].span), "First one.");
        let paragraphs: Vec<_> = document.sentences.iter().map(|s| s.paragraph).collect();
        assert_eq!(paragraphs, [0, 0, 1]);
    }

    #[test]
    fn nothing_gives_nothing() {
        for source in ["", " \n\t\n", "\u{2003}"] {
            let document = read_text("d", "plain", source, &ReadOptions::default()).unwrap();
            assert!(document.is_empty() && document.check() == Ok(()));
        }
        let mark = read_text("d", "plain", "\u{feff}\n", &ReadOptions::default()).unwrap();
        assert_eq!((mark.len(), mark.check()), (1, Ok(())));
    }
}
