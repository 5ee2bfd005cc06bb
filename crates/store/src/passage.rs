use pericope_api::Span;
use serde::{Deserialize, Serialize};

use crate::{ChunkRecord, Position};

/// What stands in a passage for text that is in no chunk.
const LEFT_OUT: &str = "\n\n";

/// Neighbouring chunks as one piece of the source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Passage {
    /// The first byte in the document's source.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// The source under `start..end`. A blank line stands for text that is in no chunk and not blank.
    pub text: String,
    /// Where the bytes of the text stand in the source.
    #[serde(skip)]
    pub places: Places,
}

impl Passage {
    /// Joins chunks of one document as they are in the source; `None` without a chunk. Text that chunks have in common
    /// is not repeated.
    #[must_use]
    pub fn of(chunks: impl IntoIterator<Item = ChunkRecord>) -> Option<Self> {
        let mut chunks: Vec<ChunkRecord> = chunks.into_iter().collect();
        chunks.sort_by_key(|chunk| (chunk.start, chunk.end));
        let mut chunks = chunks.into_iter();
        let first = chunks.next()?;
        let mut piece = Piece { text: 0, source: first.start, length: first.text.len(), begins: first.begins };
        let (start, mut end, mut text, mut pieces) = (first.start, first.end, first.text, Vec::new());
        for chunk in chunks {
            if chunk.start < end {
                text.push_str(chunk.text.get(end - chunk.start..).unwrap_or(""));
            } else {
                if chunk.leading.len() == chunk.start - end {
                    text.push_str(&chunk.leading);
                } else {
                    text.push_str(LEFT_OUT);
                    let next = Piece { text: text.len(), source: chunk.start, length: 0, begins: chunk.begins };
                    pieces.push(std::mem::replace(&mut piece, next));
                }
                text.push_str(&chunk.text);
            }
            piece.length = text.len() - piece.text;
            end = end.max(chunk.end);
        }
        pieces.push(piece);
        Some(Self { start, end, text, places: Places(pieces) })
    }

    /// Returns the range of the text, in bytes, that stands under a range of the source; empty where none does.
    #[must_use]
    pub fn in_text(&self, source: Span) -> Span {
        let Places(pieces) = &self.places;
        let starts = pieces.iter().find(|piece| piece.source + piece.length > source.start);
        let start = starts
            .map_or(self.text.len(), |piece| piece.text + source.start.saturating_sub(piece.source).min(piece.length));
        let ends = pieces.iter().rfind(|piece| piece.source < source.end);
        let end = ends.map_or(0, |piece| piece.text + (source.end - piece.source).min(piece.length));
        Span::new(start, end.max(start))
    }

    /// Returns the range of the text, in bytes, that stands in lines of the source, from 1. In a store of an earlier version,
    /// which knows no lines, the text counts as the beginning of the source.
    #[must_use]
    pub fn in_lines(&self, first: usize, last: usize) -> Span {
        let Places(pieces) = &self.places;
        let lines = |piece: &Piece| {
            let begins =
                piece.begins.unwrap_or_else(|| Position::START.behind(Span::new(0, piece.text).of(&self.text)));
            begins.lines(piece.of(&self.text))
        };
        let at = |piece: &Piece, lines: usize| piece.text + beginning(piece.of(&self.text), lines);
        let start = (pieces.iter())
            .find_map(|piece| {
                let [from, to] = lines(piece);
                (to >= first).then(|| at(piece, first.saturating_sub(from)))
            })
            .unwrap_or(self.text.len());
        let end = pieces.iter().rev().find_map(|piece| {
            let [from, _] = lines(piece);
            (from <= last).then(|| at(piece, (last - from).saturating_add(1)))
        });
        Span::new(start, end.unwrap_or(0).max(start))
    }

    /// Returns the range of the source, in bytes, under a range of the text.
    #[must_use]
    pub fn in_source(&self, text: Span) -> Span {
        let places = &self.places;
        let start = places.first(text.start).map_or(self.start, |(piece, at)| piece.source + at);
        let end = places.last(text.end).map_or(self.end, |(piece, at)| piece.source + at);
        Span::new(start, end.max(start))
    }

    /// Returns where a range of the text begins and ends in the lines and characters of the source; `None` in a store of an
    /// earlier version.
    #[must_use]
    pub fn positions(&self, text: Span) -> Option<[Position; 2]> {
        let ((first, from), (last, to)) = (self.places.first(text.start)?, self.places.last(text.end)?);
        let start = first.begins?.behind(first.of(&self.text).get(..from)?);
        Some([start, last.begins?.behind(last.of(&self.text).get(..to)?).max(start)])
    }

    /// Returns the lines of the source, from 1, in which the first and the last character of a range of the text are; `None`
    /// in a store of an earlier version.
    #[must_use]
    pub fn lines(&self, text: Span) -> Option<[usize; 2]> {
        let end = text.end - usize::from(text.of(&self.text).ends_with('\n'));
        self.positions(Span::new(text.start, end)).map(|[first, last]| [first.line, last.line])
    }

    /// Returns the whole range of the text.
    #[must_use]
    pub fn whole(&self) -> Span {
        Span::new(0, self.text.len())
    }

    /// Returns a range of the text as a passage of its own.
    #[must_use]
    pub fn part(&self, text: Span) -> Self {
        let Span { start, end } = self.in_source(text);
        let kept = self.places.0.iter().filter_map(|piece| {
            let common = Span::new(piece.text, piece.text + piece.length).intersection(&text)?;
            let before = Span::new(piece.text, common.start).of(&self.text);
            Some(Piece {
                text: common.start - text.start,
                source: piece.source + before.len(),
                length: common.len(),
                begins: piece.begins.map(|begins| begins.behind(before)),
            })
        });
        Self { start, end, text: text.of(&self.text).to_owned(), places: Places(kept.collect()) }
    }
}

/// Where the bytes of a text stand in the source of a document: all in one piece, or with gaps between the pieces.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Places(Vec<Piece>);

/// A part of a text that stands in the source as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Piece {
    /// The first byte in the text.
    text: usize,
    /// The first byte in the source.
    source: usize,
    length: usize,
    /// Where it begins in lines and characters; `None` in a store of an earlier version.
    begins: Option<Position>,
}

impl Piece {
    fn of(self, text: &str) -> &str {
        Span::new(self.text, self.text + self.length).of(text)
    }
}

impl Places {
    /// The piece in which a range of the text begins, and the byte within it.
    fn first(&self, start: usize) -> Option<(Piece, usize)> {
        let piece = self.0.iter().find(|piece| piece.text + piece.length > start).or(self.0.last())?;
        Some((*piece, start.saturating_sub(piece.text).min(piece.length)))
    }

    /// The piece in which a range of the text ends, and the byte within it.
    fn last(&self, end: usize) -> Option<(Piece, usize)> {
        let piece = self.0.iter().rfind(|piece| piece.text < end).or(self.0.first())?;
        Some((*piece, end.saturating_sub(piece.text).min(piece.length)))
    }
}

/// The byte at which the line begins that has so many before it; the end where there are fewer.
fn beginning(text: &str, lines: usize) -> usize {
    match lines {
        0 => 0,
        _ => memchr::memchr_iter(b'\n', text.as_bytes()).nth(lines - 1).map_or(text.len(), |at| at + 1),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::Positions;

    fn chunk(source: &str, start: usize, end: usize, leading: &str) -> ChunkRecord {
        let begins = Some(Positions::new(source).at(start));
        let text = source[start..end].into();
        ChunkRecord { start, end, leading: leading.into(), text, begins, ..ChunkRecord::default() }
    }

    #[test]
    fn pieces_become_the_source_again() {
        let source = "One. Two.\n\n\tThree. Four.";
        let cut = [chunk(source, 0, 4, ""), chunk(source, 5, 9, " "), chunk(source, 12, 18, "\n\n\t")];
        let passage = Passage::of(cut).unwrap();
        assert_eq!((passage.start, passage.end, passage.text.as_str()), (0, 18, &source[..18]));
        assert_eq!(passage.places.0.len(), 1);
        // The second repeats the end of the first, the third lies within it.
        let overlapping = [chunk(source, 0, 9, ""), chunk(source, 5, 18, ""), chunk(source, 12, 18, "")];
        assert_eq!(Passage::of(overlapping).unwrap().text, source[..18]);
        // Text that is in no chunk.
        let apart = [chunk(source, 0, 4, ""), chunk(source, 12, 18, "")];
        assert_eq!(Passage::of(apart).unwrap().text, "One.\n\nThree.");
        assert_eq!(Passage::of([]), None);
    }

    #[test]
    fn every_byte_of_a_passage_with_gaps_has_its_place_in_the_source() {
        let source = "é One.\nTwo.\n<nav>\nhidden\n</nav>\nThree ü.\nFour.\n<hr>\nFive.";
        let at = |text: &str| source.find(text).unwrap();
        let (three, four, five) = (at("Three"), at("Four."), at("Five."));
        let cut = [
            chunk(source, 0, at("<nav>"), ""),
            chunk(source, three, four - 1, ""),
            chunk(source, four, four + 5, "\n"),
            chunk(source, five, source.len(), ""),
        ];
        let passage = Passage::of(cut).unwrap();
        let text = passage.text.as_str();
        assert_eq!(text, "é One.\nTwo.\n\n\nThree ü.\nFour.\n\nFive.");
        assert_eq!((passage.start, passage.end), (0, source.len()));
        for (start, _) in text.char_indices() {
            for end in (start + 1..=text.len()).filter(|end| text.is_char_boundary(*end)) {
                let shown = Span::new(start, end);
                let there = passage.in_source(shown);
                let words = shown.of(text).trim();
                // The same words stand there, but for what is left out between them.
                let found = there.of(source).trim();
                assert!(found.ends_with(words.rsplit('\n').next().unwrap()), "{shown:?}");
                assert!(
                    text[start..].starts_with('\n') || found.starts_with(words.split('\n').next().unwrap()),
                    "{shown:?}"
                );
                let mut positions = Positions::new(source);
                let expected = [positions.at(there.start), positions.at(there.end)];
                assert_eq!(passage.positions(shown), Some(expected), "{shown:?}");
                let part = passage.part(shown);
                assert_eq!((part.start, part.end, part.text.as_str()), (there.start, there.end, shown.of(text)));
                assert_eq!(part.in_source(part.whole()), there, "{shown:?}");
                if !words.is_empty() && !text[start..].starts_with('\n') && !text[..end].ends_with('\n') {
                    assert_eq!(passage.in_text(there), shown);
                }
            }
        }
        // A range of the source that is in no chunk, and one that begins and ends in such.
        let hidden = at("hidden");
        assert!(passage.in_text(Span::new(hidden, hidden + 6)).is_empty());
        assert_eq!(passage.in_text(Span::new(hidden, five - 2)).of(text), "Three ü.\nFour.");
        assert_eq!(passage.in_text(Span::new(0, usize::MAX)).of(text), text);
        assert_eq!(passage.in_text(Span::new(source.len(), usize::MAX)).of(text), "");
        // Lines of the source.
        let in_lines = |first, last| passage.in_lines(first, last).of(text);
        assert_eq!(in_lines(2, 6), "Two.\n\n\nThree ü.\n");
        assert_eq!(in_lines(4, 4), "");
        assert_eq!(in_lines(4, 7), "Three ü.\nFour.");
        assert_eq!(in_lines(9, usize::MAX), "Five.");
        assert_eq!(in_lines(30, 40), "");
        assert_eq!(passage.lines(passage.whole()), Some([1, 9]));
        assert_eq!(passage.lines(passage.in_lines(2, 6)), Some([2, 6]));
    }
}
