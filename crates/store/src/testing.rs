//! A store for the tests of this crate.

use std::sync::Arc;

use pericope_api::{SentenceEncoder, Span};
use pericope_language::Language;

use crate::{
    Analyzer, ChunkId, ChunkRecord, DocumentSummary, Freshness, Highlighter, Position, Query, Ranked, Retriever,
    StoreError, StoreInfo, Word,
};

struct Blanks;

impl Analyzer for Blanks {
    fn name(&self) -> &str {
        "blanks"
    }

    fn analyze(&self, text: &str, _: Language, found: &mut dyn FnMut(Word<'_>)) {
        let mut at = 0;
        for word in text.split_inclusive(' ') {
            let bare = word.trim();
            found(Word { text: bare, span: Span::new(at, at + bare.len()), position: at });
            at += word.len();
        }
    }
}

/// Chunks that are ranked in an order of their own.
pub(crate) struct Shelf(Vec<(ChunkId, ChunkRecord)>, Vec<usize>);

/// The text of each document.
pub(crate) const SOURCE: &str = "one two\n\nthree\nfour five\nsix";

impl Shelf {
    /// Two documents `a` and `b` of the same text in four chunks each, the last three below a heading.
    pub(crate) fn new(order: &[usize]) -> Self {
        let spans = [(0, 7, ""), (9, 14, "\n\n"), (15, 24, "\n"), (25, 28, "\n")];
        let chunks = ["a", "b"].into_iter().flat_map(|document| {
            spans.into_iter().enumerate().map(move |(ordinal, (start, end, leading))| ChunkRecord {
                document: document.to_owned(),
                start,
                end,
                heading_path: if ordinal == 0 { vec![] } else { vec!["H".into()] },
                text: SOURCE[start..end].to_owned(),
                ordinal,
                tokens: 2,
                leading: leading.to_owned(),
                begins: Some(Position::START.behind(&SOURCE[..start])),
                ..ChunkRecord::default()
            })
        });
        let chunks = chunks.enumerate().map(|(at, chunk)| (ChunkId::from_u128(at as u128), chunk));
        Self(chunks.collect(), order.to_vec())
    }
}

impl Retriever for Shelf {
    fn about(&self) -> &StoreInfo {
        unreachable!()
    }

    fn chunks(&self) -> Result<u64, StoreError> {
        Ok(self.0.len() as u64)
    }

    fn documents(&self) -> Result<u64, StoreError> {
        Ok(2)
    }

    fn list(&self, _: &str, _: Option<&str>, _: usize) -> Result<Vec<DocumentSummary>, StoreError> {
        Ok(Vec::new())
    }

    fn chunks_of(&self, document: &str) -> Result<Vec<(ChunkId, ChunkRecord)>, StoreError> {
        Ok(self.0.iter().filter(|(_, chunk)| chunk.document == document).cloned().collect())
    }

    fn refresh(&self) -> Result<Freshness, StoreError> {
        Ok(Freshness::Same)
    }

    fn set_encoder(&mut self, _: Arc<dyn SentenceEncoder>) -> Result<(), StoreError> {
        Ok(())
    }

    fn rank(&self, query: &Query) -> Result<Vec<Ranked>, StoreError> {
        let ranked = self.1.iter().take(query.k).map(|&at| {
            let (id, chunk) = &self.0[at % self.0.len()];
            // Beyond all chunks: one that went meanwhile.
            let id = if at < self.0.len() { *id } else { ChunkId::max() };
            Ranked { id, document: chunk.document.clone(), ordinal: chunk.ordinal, score: 1.0 / (at + 1) as f64 }
        });
        Ok(ranked.collect())
    }

    fn fetch(&self, ids: &[ChunkId]) -> Result<Vec<Option<ChunkRecord>>, StoreError> {
        let chunk = |id: &ChunkId| self.0.iter().find(|(known, _)| known == id).map(|(_, chunk)| chunk.clone());
        Ok(ids.iter().map(chunk).collect())
    }

    fn neighbours(&self, _: &[Ranked], _: usize) -> Result<Vec<Vec<ChunkRecord>>, StoreError> {
        Ok(Vec::new())
    }

    fn highlighter(&self, query: &str) -> Result<Highlighter, StoreError> {
        Ok(Highlighter::new(Arc::new(Blanks), [(query.to_owned(), 1.0)]))
    }
}
