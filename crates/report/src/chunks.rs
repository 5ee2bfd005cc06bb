//! The page of documents cut into chunks, made piece by piece, so that the first document shows before the last is cut.

use maud::html;
use pericope_api::{Chunk, Document, joints};

use crate::kit::{Page, header};
use pericope_util::sound;

const STYLE: &str = include_str!("chunks.css");

/// The page of some documents' chunks: [`ChunksPage::begin`], then each [`ChunksPage::document`], then
/// [`ChunksPage::end`].
#[derive(Debug, Clone)]
pub struct ChunksPage {
    begin: String,
    end: String,
}

impl ChunksPage {
    /// Returns the page of documents that were cut by a segmenter of this spec.
    #[must_use]
    pub fn new(spec: &str) -> Self {
        let page = Page { title: "Chunks – Pericope", style: STYLE, ..Page::default() };
        let (begin, end) = page.around(&header(html! { "Cut by " code { (spec) } }, "Chunks", "", &[]));
        Self { begin, end }
    }

    /// Returns the page up to the first document.
    #[must_use]
    pub fn begin(&self) -> &str {
        &self.begin
    }

    /// Returns one document: a block a chunk, in which text that repeats the chunk before (overlap) is grey.
    #[must_use]
    pub fn document(&self, document: &Document, chunks: &[Chunk]) -> String {
        let mut blocks = Vec::with_capacity(chunks.len());
        for (chunk, joint) in chunks.iter().zip(joints(&document.source, chunks)) {
            let text = document.text(chunk.span);
            let (old, new) = text.split_at_checked(joint.overlap).unwrap_or(("", text));
            blocks.push((chunk, chunk.heading_path.join(" › "), old, new));
        }
        let block = html! {
            h2 { (document.title.as_deref().unwrap_or(&document.id)) }
            // Several documents may have one title.
            @if document.title.is_some() { p class="id" { code { (document.id) } } }
            @for (chunk, path, old, new) in blocks {
                section class="chunk" {
                    p class="meta" {
                        (chunk.ordinal) " · " (chunk.tokens) " tokens · bytes " (chunk.span.start) "–" (chunk.span.end)
                        @if !path.is_empty() { " · " (path) }
                    }
                    // A line end right after the start tag is no part of the text.
                    pre { "\n" @if !old.is_empty() { span class="repeat" { (old) } } (new) }
                }
                "\n"
            }
        };
        sound(&block.into_string()).into_owned()
    }

    /// Returns the rest of the page.
    #[must_use]
    pub fn end(&self) -> &str {
        &self.end
    }
}

#[cfg(test)]
mod tests {
    use super::ChunksPage;
    use pericope_api::{Chunk, Document, Span};

    #[test]
    fn text_is_escaped_and_repeats_are_marked() {
        let doc = Document::from_sentences("<d>", &["A <b>.", "C & d."]);
        let chunk = |ordinal, start, end| Chunk {
            document: doc.id.clone(),
            ordinal,
            span: Span::new(start, end),
            heading_path: vec![],
            tokens: 3,
            hash: 0,
            context: None,
        };
        let page = ChunksPage::new("fixed");
        let body = page.document(&doc, &[chunk(0, 0, 6), chunk(1, 0, 13)]);
        assert!(body.contains("<h2>&lt;d&gt;</h2>") && !body.contains("<code>"));
        let titled = page.document(&Document { title: Some("T".to_owned()), ..doc.clone() }, &[]);
        assert!(titled.contains("<h2>T</h2>") && titled.contains("<code>&lt;d&gt;</code>"), "{titled}");
        assert!(body.contains("<span class=\"repeat\">A &lt;b&gt;.</span>\nC &amp; d."), "{body}");
        assert!(
            page.begin()
                .contains("http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-")
        );
        assert!(page.begin().starts_with("<!DOCTYPE html>") && page.end().trim_end().ends_with("</html>"));
    }
}
