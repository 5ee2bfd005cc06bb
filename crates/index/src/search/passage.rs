//! A chunk with what stands around it.

use serde::Serialize;
use tantivy::schema::{IndexRecordOption, Value};
use tantivy::{DocAddress, DocSet, TERMINATED, TantivyDocument, Term};

use super::Hit;
use crate::{IndexError, IndexReader};

/// Neighbouring chunks as one piece of the source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Passage {
    /// First byte in the document's source.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// The source under `start..end`. Where the chunks leave out text that is not blank, a blank line stands for it.
    pub text: String,
}

/// A chunk as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// First byte in the document's source.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// The source between the chunk before and this one, where it is blank; see [`Entry::lead`](crate::Entry::lead).
    pub lead: String,
    /// The source under `start..end`.
    pub text: String,
}

impl Passage {
    /// The chunks of one document, in the order of their places, as one piece; nothing where there are none. What chunks
    /// have in common is not repeated.
    #[must_use]
    pub fn of(pieces: impl IntoIterator<Item = Piece>) -> Option<Self> {
        let mut pieces = pieces.into_iter();
        let first = pieces.next()?;
        let mut passage = Self { start: first.start, end: first.end, text: first.text };
        for piece in pieces {
            if piece.start >= passage.end {
                let gap = piece.start - passage.end;
                passage.text.push_str(if piece.lead.len() == gap { &piece.lead } else { "\n\n" });
                passage.text.push_str(&piece.text);
            } else {
                passage.text.push_str(piece.text.get(passage.end - piece.start..).unwrap_or(""));
            }
            passage.end = passage.end.max(piece.end);
        }
        Some(passage)
    }
}

impl IndexReader {
    /// A hit with up to `neighbours` chunks before it and as many after it, joined as they are in the source; chunks that
    /// overlap are not repeated.
    ///
    /// # Errors
    /// Where the full-text index cannot be read.
    pub fn passage(&self, hit: &Hit, neighbours: usize) -> Result<Passage, IndexError> {
        let wanted = hit.ordinal.saturating_sub(neighbours)..=hit.ordinal.saturating_add(neighbours);
        let mut pieces = self.pieces(&hit.document, &wanted)?;
        pieces.sort_by_key(|piece| (piece.start, piece.end));
        Ok(Passage::of(pieces).unwrap_or_else(|| Passage { start: hit.start, end: hit.end, text: hit.text.clone() }))
    }

    fn pieces(&self, document: &str, wanted: &std::ops::RangeInclusive<usize>) -> Result<Vec<Piece>, IndexError> {
        let (text, fields) = (self.text(), self.text().fields);
        let searcher = text.searcher();
        let term = Term::from_field_text(fields.document, document);
        let mut pieces = Vec::new();
        for (ord, segment) in (0..).zip(searcher.segment_readers()) {
            let inverted = segment.inverted_index(fields.document)?;
            let postings =
                inverted.read_postings(&term, IndexRecordOption::Basic).map_err(IndexError::io(&text.path))?;
            let Some(mut postings) = postings else { continue };
            let ordinals = segment.fast_fields().u64("ordinal")?;
            while postings.doc() != TERMINATED {
                let doc = postings.doc();
                postings.advance();
                let ordinal = usize::try_from(ordinals.first(doc).unwrap_or(0)).unwrap_or(usize::MAX);
                if !wanted.contains(&ordinal) || segment.alive_bitset().is_some_and(|alive| !alive.is_alive(doc)) {
                    continue;
                }
                let stored: TantivyDocument = searcher.doc(DocAddress::new(ord, doc))?;
                let string = |field| stored.get_first(field).and_then(|v| v.as_str()).unwrap_or("").to_owned();
                let number = |field| {
                    let value = stored.get_first(field).and_then(|v| v.as_u64());
                    usize::try_from(value.unwrap_or(0)).unwrap_or(usize::MAX)
                };
                pieces.push(Piece {
                    start: number(fields.start),
                    end: number(fields.end),
                    lead: string(fields.lead),
                    text: string(fields.text),
                });
            }
        }
        Ok(pieces)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn piece(source: &str, start: usize, end: usize, lead: &str) -> Piece {
        Piece { start, end, lead: lead.into(), text: source[start..end].into() }
    }

    #[test]
    fn pieces_become_the_source_again() {
        let source = "One. Two.\n\n\tThree. Four.";
        let cut = [piece(source, 0, 4, ""), piece(source, 5, 9, " "), piece(source, 12, 18, "\n\n\t")];
        let passage = Passage::of(cut).unwrap();
        assert_eq!((passage.start, passage.end, passage.text.as_str()), (0, 18, &source[..18]));
        // The second repeats the end of the first, the third lies within it.
        let overlapping = [piece(source, 0, 9, ""), piece(source, 5, 18, ""), piece(source, 12, 18, "")];
        assert_eq!(Passage::of(overlapping).unwrap().text, source[..18]);
        // Text that is in no chunk.
        let apart = [piece(source, 0, 4, ""), piece(source, 12, 18, "")];
        assert_eq!(Passage::of(apart).unwrap().text, "One.\n\nThree.");
        assert_eq!(Passage::of([]), None);
    }
}
