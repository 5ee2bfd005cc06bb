//! What the encoder reads of a chunk: its text, what places it in its document, and what stands above it.

use pericope_api::{Chunk, Document, Heading, Kind, Span};

use crate::late::within_document;
use crate::{Embedding, Encoded, StoreError};

/// The tokens that chunks leave free for their headings, where nobody names a limit.
pub const HEADING_TOKENS: usize = 32;
/// The tokens that chunks leave free for their contexts, where nobody names a limit.
pub const CONTEXT_TOKENS: usize = 64;
/// Bytes of a table in which its header is looked for.
const HEADER_BYTES: usize = 4096;

impl Embedding {
    /// Returns the text that the encoder reads of a chunk: the visible text. Its [context](Chunk::context) comes first, if it has
    /// one (a blank line follows). With `prefix_headings` the headings above it come next (`A > B`, a blank line), and before
    /// rows that continue a table the header of the table.
    ///
    /// A heading that the chunk begins with is not repeated. The whole of it fits the encoder's window wherever the text
    /// alone does: what does not fit is left out, outer headings first, then the header of the table, the last words of the
    /// context last.
    #[must_use]
    pub fn text(&self, document: &Document, chunk: &Chunk) -> String {
        let visible = document.visible(chunk.span);
        let context = chunk.context.as_deref().map(str::trim).filter(|context| !context.is_empty());
        if !self.prefix_headings && context.is_none() {
            return visible.into_owned();
        }
        let own = match self.tokenizer == self.encoder.name() {
            true => chunk.tokens,
            false => self.encoder.count_tokens(&visible).unwrap_or(chunk.tokens),
        };
        let room = self.encoder.max_tokens().saturating_sub(own);
        // No text has more tokens than bytes.
        let tokens = |text: &str| self.encoder.count_tokens(text).unwrap_or(text.len());
        let context = context.map(|context| beginning(context, |text| tokens(text) <= room)).unwrap_or_default();
        if !self.prefix_headings {
            return context + &visible;
        }
        let room = room.saturating_sub(if context.is_empty() { 0 } else { tokens(&context) });
        let fits = |text: &String| tokens(text) <= room;
        let header = table_header(document, chunk.span).map(|header| header + "\n").filter(fits).unwrap_or_default();
        let headings = headings_above(document, chunk);
        let candidates = (0..=headings.len()).map(|from| match headings.get(from..).unwrap_or_default() {
            [] => header.clone(),
            inner => format!("{}\n\n{header}", inner.join(" > ")),
        });
        let before = candidates.into_iter().find(fits).unwrap_or_default();
        context + &before + &visible
    }
}

impl Embedding {
    /// Returns what the encoder reads of each of a document's chunks, in their order: [`text`](Self::text), or with
    /// `late_chunking` the chunk within its document, from the first chunk to the last. A document of more than 256 KiB is read
    /// in parts of that size at most, which end where chunks do.
    ///
    /// # Errors
    /// [`StoreError::LateChunking`] where that meets heading prefixes, or a chunk with a context.
    pub fn encoded(&self, document: &Document, chunks: &[Chunk]) -> Result<Vec<Encoded>, StoreError> {
        if !self.late_chunking {
            return Ok(chunks.iter().map(|chunk| Encoded::Alone(self.text(document, chunk))).collect());
        }
        match self.prefix_headings || chunks.iter().any(|chunk| chunk.context.is_some()) {
            true => Err(StoreError::LateChunking),
            false => Ok(within_document(document, chunks)),
        }
    }
}

/// As many of the first words of a context as fit, and a blank line; nothing where not even one does.
fn beginning(context: &str, fits: impl Fn(&str) -> bool) -> String {
    let words: Vec<&str> = context.split_whitespace().collect();
    let first = |count: usize| words.get(..count).unwrap_or_default().join(" ");
    // More words never have fewer tokens.
    let (mut most, mut too_many) = (0, words.len() + 1);
    while most + 1 < too_many {
        let count = usize::midpoint(most, too_many);
        match fits(&first(count)) {
            true => most = count,
            false => too_many = count,
        }
    }
    if most == 0 { String::new() } else { format!("{}\n\n", first(most)) }
}

/// The headings above a chunk without the one that it begins with.
fn headings_above<'a>(document: &Document, chunk: &'a Chunk) -> &'a [Heading] {
    let first = document.sentences.get(document.sentence_at(chunk.span.start));
    let begins_with_one = first.is_some_and(|first| {
        matches!(first.kind, Kind::Heading(_))
            && first.span.start >= chunk.span.start
            && first.span.end <= chunk.span.end
    });
    let path = chunk.heading_path.as_slice();
    match path.split_last() {
        Some((_, above)) if begins_with_one => above,
        _ => path,
    }
}

/// The header of the table that a chunk begins within, behind its header: one line, as a person reads it.
fn table_header(document: &Document, chunk: Span) -> Option<String> {
    let table = document.sentences.get(document.sentence_at(chunk.start)).filter(|one| one.kind == Kind::Table)?.span;
    let text = document.text(table);
    let text = text.get(..text.floor_char_boundary(HEADER_BYTES))?;
    let row = if text.starts_with('<') { html_row(text) } else { line_row(text) }?;
    let row = Span::new(table.start + row.start, table.start + row.end);
    let header = document.visible(row).split_whitespace().collect::<Vec<_>>().join(" ");
    (row.end <= chunk.start && !header.is_empty()).then_some(header)
}

/// The first row of a table in HTML.
fn html_row(text: &str) -> Option<Span> {
    text.to_ascii_lowercase().find("</tr").map(|end| Span::new(0, end))
}

/// The first row of a table in a markup of lines: the first line with a letter or a digit that is no directive and no
/// option, and in a table that is a list, all of the first item.
fn line_row(text: &str) -> Option<Span> {
    let mut at = 0;
    let mut lines = text.split_inclusive('\n').map(|line| {
        at += line.len();
        (at - line.len(), line)
    });
    let is_row = |line: &str| {
        let bare = line.trim_start();
        line.contains(char::is_alphanumeric) && !["..", ":", "[", "|=="].iter().any(|mark| bare.starts_with(mark))
    };
    let (start, first) = lines.find(|(_, line)| is_row(line))?;
    let mut end = start + first.len();
    if first.trim_start().starts_with("* -") {
        let rest = lines.take_while(|(_, line)| !line.trim_start().starts_with("* -"));
        end = rest.last().map_or(end, |(at, line)| at + line.len());
    }
    Some(Span::new(start, end))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use pericope_api::{Embeddings, EncodeError, Format, Sentence, SentenceEncoder};

    use super::*;

    /// An encoder that reads so many words.
    struct Words(usize);

    impl SentenceEncoder for Words {
        fn name(&self) -> &str {
            "words"
        }

        fn fingerprint(&self) -> String {
            String::new()
        }

        fn dimension(&self) -> usize {
            1
        }

        fn max_tokens(&self) -> usize {
            self.0
        }

        fn count_tokens(&self, text: &str) -> Option<usize> {
            Some(text.split_whitespace().count())
        }

        fn encode(&self, _: &[&str]) -> Result<Embeddings, EncodeError> {
            Err(EncodeError::Model("it only counts".into()))
        }
    }

    /// A document of one sentence of each kind, below the headings `Pumps` and `Errors`.
    fn document(parts: &[(&str, Kind)]) -> Document {
        let texts: Vec<&str> = parts.iter().map(|(text, _)| *text).collect();
        let mut document = Document::from_sentences("d", &texts);
        document.format = Format::Markdown;
        document.sections = vec![vec!["Pumps".into(), "Errors".into()]];
        let kinds = parts.iter().map(|(_, kind)| *kind);
        let sentences = document.sentences.iter().zip(kinds);
        document.sentences = sentences.map(|(sentence, kind)| Sentence { kind, ..*sentence }).collect();
        document
    }

    fn read(document: &Document, from: &str, window: usize) -> String {
        let start = document.source.find(from).unwrap();
        let span = Span::new(start, document.source.len());
        let text = document.text(span);
        let chunk = Chunk {
            document: "d".into(),
            ordinal: 0,
            span,
            heading_path: document.sections[0].clone(),
            tokens: text.split_whitespace().count(),
            hash: 0,
            context: None,
        };
        let embedding = Embedding {
            encoder: Arc::new(Words(window)),
            prefix_headings: true,
            late_chunking: false,
            tokenizer: "words".into(),
        };
        let plain = Embedding { prefix_headings: false, ..embedding.clone() };
        assert_eq!(plain.text(document, &chunk), text);
        let read = embedding.text(document, &chunk);
        assert!(read.ends_with(text) && read.split_whitespace().count() <= window.max(chunk.tokens), "{read}");
        read
    }

    #[test]
    fn headings_come_first_as_far_as_they_fit() {
        let prose = document(&[("It hums.", Kind::Prose)]);
        assert_eq!(read(&prose, "It", 100), "Pumps > Errors\n\nIt hums.");
        assert_eq!(read(&prose, "It", 5), "Pumps > Errors\n\nIt hums.");
        assert_eq!(read(&prose, "It", 4), "Errors\n\nIt hums.", "the innermost says most");
        assert_eq!(read(&prose, "It", 2), "It hums.");
        assert_eq!(read(&prose, "It", 1), "It hums.", "it does not fit by itself");
        let headed = document(&[("Errors", Kind::Heading(2)), ("It hums.", Kind::Prose)]);
        assert_eq!(read(&headed, "Errors", 100), "Pumps\n\nErrors\nIt hums.");
        assert_eq!(read(&headed, "It", 100), "Pumps > Errors\n\nIt hums.");
    }

    #[test]
    fn a_context_comes_first_as_far_as_it_fits() {
        let prose = document(&[("It hums.", Kind::Prose)]);
        let of = |context: Option<&str>, prefix_headings, window| {
            let span = Span::new(0, prose.source.len());
            let heading_path = prose.sections[0].clone();
            let context = context.map(str::to_owned);
            let chunk = Chunk { document: "d".into(), ordinal: 0, span, heading_path, tokens: 2, hash: 0, context };
            Embedding {
                encoder: Arc::new(Words(window)),
                prefix_headings,
                late_chunking: false,
                tokenizer: "words".into(),
            }
            .text(&prose, &chunk)
        };
        let context = Some("Repair of garden\n pumps.");
        assert_eq!(of(context, false, 100), "Repair of garden pumps.\n\nIt hums.");
        assert_eq!(of(context, false, 6), "Repair of garden pumps.\n\nIt hums.");
        assert_eq!(of(context, false, 5), "Repair of garden\n\nIt hums.");
        assert_eq!(of(context, false, 3), "Repair\n\nIt hums.");
        assert_eq!(of(context, false, 2), "It hums.");
        // Headings have what it leaves.
        assert_eq!(of(context, true, 100), "Repair of garden pumps.\n\nPumps > Errors\n\nIt hums.");
        assert_eq!(of(context, true, 7), "Repair of garden pumps.\n\nErrors\n\nIt hums.");
        assert_eq!(of(context, true, 6), "Repair of garden pumps.\n\nIt hums.");
        for nothing in [None, Some(" \n")] {
            assert_eq!(of(nothing, false, 100), "It hums.");
            assert_eq!(of(nothing, true, 5), "Pumps > Errors\n\nIt hums.");
        }
    }

    #[test]
    fn late_chunking_goes_with_nothing_before_the_text() {
        let prose = document(&[("It hums.", Kind::Prose)]);
        let span = Span::new(0, prose.source.len());
        let heading_path = prose.sections[0].clone();
        let chunk = Chunk { document: "d".into(), ordinal: 0, span, heading_path, tokens: 2, hash: 0, context: None };
        let late = Embedding {
            encoder: Arc::new(Words(100)),
            prefix_headings: false,
            late_chunking: true,
            tokenizer: "words".into(),
        };
        let read = late.encoded(&prose, std::slice::from_ref(&chunk)).unwrap();
        assert_eq!((read.len(), read[0].as_str()), (1, "It hums."));
        let prefixed = Embedding { prefix_headings: true, ..late.clone() };
        assert!(matches!(prefixed.encoded(&prose, std::slice::from_ref(&chunk)), Err(StoreError::LateChunking)));
        let placed = Chunk { context: Some("On pumps.".into()), ..chunk };
        assert!(matches!(late.encoded(&prose, &[placed]), Err(StoreError::LateChunking)));
    }

    #[test]
    fn rows_that_continue_a_table_come_behind_its_header() {
        let table = |text: &str, from: &str, window| {
            let read = read(&document(&[(text, Kind::Table)]), from, window);
            read.strip_suffix(&text[text.find(from).unwrap()..]).unwrap().to_owned()
        };
        let markdown = "| Code | Means |\n| --- | --- |\n| E1 | dry |\n| E2 | hot |";
        assert_eq!(table(markdown, "| E2", 100), "Pumps > Errors\n\n| Code | Means |\n");
        assert_eq!(table(markdown, "| E2", 12), "Errors\n\n| Code | Means |\n");
        assert_eq!(table(markdown, "| E2", 10), "| Code | Means |\n", "rows need it more than headings");
        assert_eq!(table(markdown, "| E2", 8), "Pumps > Errors\n\n");
        assert_eq!(table(markdown, "| Code", 100), "Pumps > Errors\n\n", "it is there");
        let grid = "+------+-------+\n| Code | Means |\n+======+=======+\n| E1   | dry   |\n+------+-------+";
        assert_eq!(table(grid, "| E1", 100), "Pumps > Errors\n\n| Code | Means |\n");
        let simple = "====  =====\nCode  Means\n====  =====\nE1    dry\n====  =====";
        assert_eq!(table(simple, "E1", 100), "Pumps > Errors\n\nCode Means\n");
        let list = ".. list-table::\n   :header-rows: 1\n\n   * - Code\n     - Means\n   * - E1\n     - dry";
        assert_eq!(table(list, "* - E1", 100), "Pumps > Errors\n\n* - Code - Means\n");
        let ascii = "[%header,cols=\"1,1\"]\n|===\n|Code |Means\n\n|E1 |dry\n|===";
        assert_eq!(table(ascii, "|E1", 100), "Pumps > Errors\n\n|Code |Means\n");
        let html = "<table><tr>\n<th>Code</th>\n<th>Means</th>\n</tr>\n<tr><td>E1</td><td>dry</td></tr></table>";
        assert!(
            table(html, "<td>E1", 100).contains("<th>Code</th> <th>Means</th>"),
            "tags stay where no reader took them"
        );
        // Neither a cut within the header nor prose has one.
        assert_eq!(table(html, "<th>Means", 100), "Pumps > Errors\n\n");
        assert_eq!(read(&document(&[("One two three.", Kind::Prose)]), "three", 100), "Pumps > Errors\n\nthree.");
    }
}
