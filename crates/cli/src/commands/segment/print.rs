//! What documents are cut into, on standard output.

use std::collections::HashSet;
use std::io::{self, Write};

use pericope_api::{Chunk, Document, Heading, SegmentTree, joints};
use pericope_report::chunks::ChunksPage;
use serde::Serialize;

use super::args::OutputFormat;
use crate::terminal::{Line as Shown, Output, Style, counted, name};

/// One line of `--format json`.
#[derive(Serialize)]
struct Line<'a> {
    document: &'a str,
    ordinal: usize,
    start: usize,
    end: usize,
    tokens: usize,
    heading_path: &'a [Heading],
    text: &'a str,
    /// Bytes at the beginning of `text` that chunks before it have too.
    overlap: usize,
    /// The source before the first chunk, and between this one and the next: all of it, with `text` from `overlap` on.
    before: &'a str,
    after: &'a str,
}

/// One line of `--format tree`.
#[derive(Serialize)]
struct TreeLine<'a> {
    document: &'a str,
    tree: &'a SegmentTree,
}

/// What a document is cut into.
pub(super) enum Parts {
    Chunks(Vec<Chunk>),
    Tree(SegmentTree),
}

/// A document with its parts, or a line that says why there are none.
pub(super) type Cut = (Document, Result<Parts, String>);

/// Prints documents as they are cut.
pub(super) struct Printer<W: Write> {
    out: Output<W>,
    format: OutputFormat,
    page: ChunksPage,
    /// The documents so far.
    ids: HashSet<String>,
    /// Why nothing more can be written.
    failure: Option<io::Error>,
}

impl<W: Write> Printer<W> {
    /// Begins to print what a segmenter of this spec cuts.
    pub(super) fn begin(mut out: Output<W>, format: OutputFormat, spec: &str) -> io::Result<Self> {
        let page = ChunksPage::new(spec);
        if format == OutputFormat::Html {
            out.raw(page.begin())?;
        }
        Ok(Self { out, format, page, ids: HashSet::new(), failure: None })
    }

    /// Whether all could be written so far.
    pub(super) fn goes_on(&self) -> bool {
        self.failure.is_none()
    }

    /// Prints a document, or returns a line that says why it is left out.
    pub(super) fn print(&mut self, cut: Cut) -> Option<String> {
        match cut {
            // Chunks are told by their document's id and their number.
            (document, Ok(_)) if !self.ids.insert(document.id.clone()) => {
                Some(format!("{}: another document of this id was cut before: left out", document.id))
            }
            (document, Ok(parts)) => {
                // Flushed document by document: the first chunks show at once, and a closed pipe is noticed.
                if let Err(e) = self.write(&document, &parts).and_then(|()| self.out.flush()) {
                    self.failure.get_or_insert(e);
                }
                None
            }
            (_, Err(problem)) => Some(problem),
        }
    }

    /// Writes what comes last.
    ///
    /// # Errors
    /// Where anything could not be written.
    pub(super) fn end(mut self) -> io::Result<()> {
        if let Some(error) = self.failure {
            return Err(error);
        }
        if self.format == OutputFormat::Html {
            self.out.raw(self.page.end())?;
        }
        self.out.flush()
    }

    fn write(&mut self, document: &Document, parts: &Parts) -> io::Result<()> {
        let Self { out, format, page, .. } = self;
        let chunks = match parts {
            Parts::Chunks(chunks) => chunks,
            Parts::Tree(tree) => {
                out.json(&serde_json::to_string(&TreeLine { document: &document.id, tree })?)?;
                return out.raw("\n");
            }
        };
        match format {
            OutputFormat::Text => chunks.iter().try_for_each(|chunk| text(out, document, chunk)),
            OutputFormat::Html => out.raw(&page.document(document, chunks)),
            OutputFormat::Json | OutputFormat::Tree => {
                for (chunk, joint) in chunks.iter().zip(joints(&document.source, chunks)) {
                    let line = Line {
                        document: &chunk.document,
                        ordinal: chunk.ordinal,
                        start: chunk.span.start,
                        end: chunk.span.end,
                        tokens: chunk.tokens,
                        heading_path: &chunk.heading_path,
                        text: document.text(chunk.span),
                        overlap: joint.overlap,
                        before: joint.before,
                        after: joint.after,
                    };
                    out.json(&serde_json::to_string(&line)?)?;
                    out.raw("\n")?;
                }
                Ok(())
            }
        }
    }
}

/// For people: a rule with the chunk's figures above the chunk.
fn text<W: Write>(out: &mut Output<W>, document: &Document, chunk: &Chunk) -> io::Result<()> {
    let mut rule = format!("── {} #{} · {}", document.id, chunk.ordinal, counted(chunk.tokens as u64, "token"));
    if !chunk.heading_path.is_empty() {
        rule.push_str(&format!(" · {}", chunk.heading_path.join(" › ")));
    }
    out.line(Shown::styled(Style::Soft, name(&rule)))?;
    out.document(document.text(chunk.span))?;
    out.raw("\n")
}
