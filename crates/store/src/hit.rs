use pericope_api::Span;
use serde::{Serialize, Serializer};

use crate::{ChunkId, ChunkRecord, Passage};

/// A chunk in a ranking: its identity and its score, without its text.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// The id of the chunk.
    pub id: ChunkId,
    /// The id of the document.
    pub document: String,
    /// The number of the chunk among the document's chunks, from 0.
    pub ordinal: usize,
    /// BM25, cosine or the fused score, by the mode; comparable within one answer only.
    pub score: f64,
}

/// A chunk that was found, with its text.
///
/// In JSON the chunk's fields stand beside the others, the snippet is text, and a highlight is a pair of bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The place in the answer, from 1.
    pub rank: usize,
    /// BM25, cosine or the fused score, by the mode; comparable within one answer only.
    pub score: f64,
    /// The id of the chunk; not part of the JSON.
    pub id: ChunkId,
    /// The chunk itself.
    pub chunk: ChunkRecord,
    /// The piece of the text, about 240 characters, that shows most of the query's words.
    pub snippet: Span,
    /// The query's words in the text, in order, without overlap.
    pub highlights: Vec<Span>,
    /// The chunk with its neighbours; see [`Retriever::add_context`](crate::Retriever::add_context).
    pub context: Option<Passage>,
}

impl Hit {
    /// Returns the hit without its text.
    #[must_use]
    pub fn ranked(&self) -> Ranked {
        Ranked { id: self.id, document: self.chunk.document.clone(), ordinal: self.chunk.ordinal, score: self.score }
    }
}

#[derive(Serialize)]
struct Shape<'a> {
    rank: usize,
    score: f64,
    #[serde(flatten)]
    chunk: &'a ChunkRecord,
    snippet: &'a str,
    highlights: Vec<[usize; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<&'a Passage>,
}

impl Serialize for Hit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let shape = Shape {
            rank: self.rank,
            score: self.score,
            chunk: &self.chunk,
            snippet: self.snippet.of(&self.chunk.text),
            highlights: self.highlights.iter().map(|found| [found.start, found.end]).collect(),
            context: self.context.as_ref(),
        };
        shape.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

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
        };
        let expected = concat!(
            r#"{"rank":1,"score":0.5,"document":"a.md","start":2,"end":9,"heading_path":["Tides"],"text":"A moon.","#,
            r#""title":null,"anchor":null,"type":"md","ordinal":1,"tokens":2,"snippet":"moon.","highlights":[[2,6]]}"#
        );
        assert_eq!(serde_json::to_string(&hit).unwrap(), expected);
        let context = Some(Passage { start: 0, end: 9, text: "x A moon.".into() });
        let json = serde_json::to_value(Hit { context, ..hit }).unwrap();
        assert_eq!(json["context"], serde_json::json!({ "start": 0, "end": 9, "text": "x A moon." }));
    }
}
