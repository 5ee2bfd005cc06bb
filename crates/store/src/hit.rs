use pericope_api::Span;
use serde::{Serialize, Serializer};

use crate::{ChunkId, ChunkRecord, Passage, Positions};

/// A chunk in a ranking: its identity and its score, without its text.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// The id of the chunk.
    pub id: ChunkId,
    /// The id of the document.
    pub document: String,
    /// The number of the chunk among the document's chunks, from 0.
    pub ordinal: usize,
    /// BM25, cosine or the fused score, by the mode, or a reranker's; comparable within one answer only.
    pub score: f64,
}

/// A chunk that was found, with its text.
///
/// In JSON the chunk's fields stand beside the others, the snippet is text, a highlight is a pair of bytes, and `lines` are
/// the first and the last line in the source, from 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The place in the answer, from 1.
    pub rank: usize,
    /// BM25, cosine or the fused score, by the mode, or a reranker's; comparable within one answer only.
    pub score: f64,
    /// The id of the chunk.
    pub id: ChunkId,
    /// The chunk itself.
    pub chunk: ChunkRecord,
    /// The piece of the text, about 240 characters, that shows most of the query's words.
    pub snippet: Span,
    /// The query's words in the text, in order, without overlap.
    pub highlights: Vec<Span>,
    /// The chunk with its neighbours; see [`Retriever::add_context`](crate::Retriever::add_context).
    pub context: Option<Passage>,
    /// The ids of all chunks that an expanded hit is made of, in the order of the document; empty for a hit that is one
    /// chunk. See [`Retriever::search_expanded`](crate::Retriever::search_expanded).
    pub chunks: Vec<ChunkId>,
}

impl Hit {
    /// Returns the number of tokens in what is shown: of the chunk, or of it and its context, by their share in bytes.
    #[must_use]
    pub fn shown_tokens(&self) -> usize {
        match &self.context {
            None => self.chunk.tokens,
            Some(context) => {
                (self.chunk.tokens * context.text.len()).div_ceil(self.chunk.text.len().max(1)).max(self.chunk.tokens)
            }
        }
    }

    /// Makes the numbers of a hit that is only shown characters of the source and of the text. An index of an earlier
    /// version does not know characters: its bytes stay.
    pub fn count_in_chars(&mut self) {
        let Some(chars) = self.chunk.chars() else { return };
        if let Some(context) = &mut self.context
            && let Some([begins, ends]) = context.positions(context.whole())
        {
            (context.start, context.end) = (begins.char, ends.char);
        }
        // Marks come in their order, so that the text is counted once.
        let mut positions = Positions::new(&self.chunk.text);
        for mark in &mut self.highlights {
            *mark = Span::new(positions.at(mark.start).char, positions.at(mark.end).char);
        }
        (self.chunk.start, self.chunk.end) = (chars.start, chars.end);
    }

    /// Returns the hit without its text.
    #[must_use]
    pub fn ranked(&self) -> Ranked {
        Ranked { id: self.id, document: self.chunk.document.clone(), ordinal: self.chunk.ordinal, score: self.score }
    }
}

/// Keeps those hits, in their order, whose texts together have at most `budget` tokens. A hit that does not fit is left
/// out, and the next may. A context counts by its share of the hit's tokens, in bytes. Gives the tokens of each that is left out, in their
/// order.
pub fn fit_budget(hits: &mut Vec<Hit>, budget: usize) -> Vec<usize> {
    let (mut left, mut out) = (budget, Vec::new());
    hits.retain(|hit| {
        let tokens = hit.shown_tokens();
        let fits = tokens <= left;
        if fits {
            left -= tokens;
        } else {
            out.push(tokens);
        }
        fits
    });
    out
}

#[derive(Serialize)]
struct Shape<'a> {
    rank: usize,
    score: f64,
    #[serde(flatten)]
    chunk: &'a ChunkRecord,
    snippet: &'a str,
    highlights: Vec<[usize; 2]>,
    id: ChunkId,
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<[usize; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<&'a Passage>,
    #[serde(skip_serializing_if = "<[ChunkId]>::is_empty")]
    chunks: &'a [ChunkId],
}

impl Serialize for Hit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let shape = Shape {
            rank: self.rank,
            score: self.score,
            chunk: &self.chunk,
            snippet: self.snippet.of(&self.chunk.text),
            highlights: self.highlights.iter().map(|found| [found.start, found.end]).collect(),
            id: self.id,
            lines: self.chunk.lines(),
            context: self.context.as_ref(),
            chunks: &self.chunks,
        };
        shape.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::Position;

    /// The shape of `pericope search --json`, which other programs read.
    #[test]
    fn the_shape_in_json_is_fixed() {
        let chunk = ChunkRecord {
            document: "a.md".into(),
            start: 2,
            end: 9,
            heading_path: vec!["Tides".into()],
            text: "A moon.".into(),
            file_type: "md".into(),
            ordinal: 1,
            tokens: 2,
            leading: " ".into(),
            begins: Some(Position { line: 3, char: 2 }),
            ..ChunkRecord::default()
        };
        let hit = Hit {
            rank: 1,
            score: 0.5,
            id: ChunkId::nil(),
            chunk,
            snippet: Span::new(2, 7),
            highlights: vec![Span::new(2, 6)],
            context: None,
            chunks: Vec::new(),
        };
        let expected = concat!(
            r#"{"rank":1,"score":0.5,"document":"a.md","start":2,"end":9,"heading_path":["Tides"],"text":"A moon.","#,
            r#""title":null,"anchor":null,"type":"md","ordinal":1,"tokens":2,"snippet":"moon.","highlights":[[2,6]],"#,
            r#""id":"00000000-0000-0000-0000-000000000000","lines":[3,3]}"#
        );
        assert_eq!(serde_json::to_string(&hit).unwrap(), expected);
        let of = |tokens| Hit { chunk: ChunkRecord { tokens, ..hit.chunk.clone() }, ..hit.clone() };
        let mut hits = vec![of(4), of(7), of(5)];
        assert_eq!(fit_budget(&mut hits, 9), [7]);
        assert_eq!(hits.iter().map(|hit| hit.chunk.tokens).collect::<Vec<_>>(), [4, 5]);
        let expanded = serde_json::to_value(Hit { chunks: vec![ChunkId::nil()], ..of(4) }).unwrap();
        assert_eq!(expanded["chunks"], serde_json::json!(["00000000-0000-0000-0000-000000000000"]));
        let context =
            Passage::of([ChunkRecord { start: 0, end: 9, text: "x A moon.".into(), ..ChunkRecord::default() }]);
        let hit = Hit { context, ..hit };
        // 9 bytes of context for 7 of text with 2 tokens.
        assert_eq!(hit.shown_tokens(), 3);
        let json = serde_json::to_value(hit).unwrap();
        assert_eq!(json["context"], serde_json::json!({ "start": 0, "end": 9, "text": "x A moon." }));
    }

    #[test]
    fn many_marks_of_a_long_text_are_counted_once() {
        const WORDS: usize = 400_000;
        let chunk = ChunkRecord { text: "ü ".repeat(WORDS), begins: Some(Position::START), ..ChunkRecord::default() };
        let highlights = (0..WORDS).map(|word| Span::new(3 * word, 3 * word + 2)).collect();
        let (snippet, id) = (Span::new(0, 0), ChunkId::nil());
        let mut hit = Hit { rank: 1, score: 1.0, id, chunk, snippet, highlights, context: None, chunks: Vec::new() };
        // From the beginning for each of them this would take minutes.
        hit.count_in_chars();
        assert!((0..WORDS).zip(&hit.highlights).all(|(word, mark)| *mark == Span::new(2 * word, 2 * word + 1)));
    }
}
