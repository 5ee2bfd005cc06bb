use serde::Serialize;

use crate::ChunkRecord;

/// Neighbouring chunks as one piece of the source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Passage {
    /// The first byte in the document's source.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// The source under `start..end`. A blank line stands for text that is in no chunk and not blank.
    pub text: String,
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
        let mut passage = Self { start: first.start, end: first.end, text: first.text };
        for chunk in chunks {
            if chunk.start >= passage.end {
                let gap = chunk.start - passage.end;
                passage.text.push_str(if chunk.leading.len() == gap { &chunk.leading } else { "\n\n" });
                passage.text.push_str(&chunk.text);
            } else {
                passage.text.push_str(chunk.text.get(passage.end - chunk.start..).unwrap_or(""));
            }
            passage.end = passage.end.max(chunk.end);
        }
        Some(passage)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn chunk(source: &str, start: usize, end: usize, leading: &str) -> ChunkRecord {
        ChunkRecord { start, end, leading: leading.into(), text: source[start..end].into(), ..ChunkRecord::default() }
    }

    #[test]
    fn pieces_become_the_source_again() {
        let source = "One. Two.\n\n\tThree. Four.";
        let cut = [chunk(source, 0, 4, ""), chunk(source, 5, 9, " "), chunk(source, 12, 18, "\n\n\t")];
        let passage = Passage::of(cut).unwrap();
        assert_eq!((passage.start, passage.end, passage.text.as_str()), (0, 18, &source[..18]));
        // The second repeats the end of the first, the third lies within it.
        let overlapping = [chunk(source, 0, 9, ""), chunk(source, 5, 18, ""), chunk(source, 12, 18, "")];
        assert_eq!(Passage::of(overlapping).unwrap().text, source[..18]);
        // Text that is in no chunk.
        let apart = [chunk(source, 0, 4, ""), chunk(source, 12, 18, "")];
        assert_eq!(Passage::of(apart).unwrap().text, "One.\n\nThree.");
        assert_eq!(Passage::of([]), None);
    }
}
