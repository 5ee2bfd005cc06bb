use std::collections::HashMap;
use std::sync::Arc;

use pericope_api::SentenceEncoder;
use serde::Serialize;

use crate::expand::{self, Shape};
use crate::{
    ChunkId, ChunkRecord, Expand, Expansion, Group, Highlighter, Hit, Passage, Query, Ranked, StoreError, StoreMeta,
};

/// Chunks are asked for until there are groups enough, so many times as many at first.
const DEPTH: usize = 4;

/// The facts about a store that is searched.
#[derive(Debug, Clone, PartialEq)]
pub struct StoreInfo {
    /// The name for messages: a folder, or an address without its key.
    pub name: String,
    /// The ingredients that the store was built with.
    pub meta: StoreMeta,
}

impl StoreInfo {
    /// Returns the name of the embedder that made the vectors; `None` for a store without vectors.
    #[must_use]
    pub fn embedder(&self) -> Option<&str> {
        self.meta.embedder.as_ref().map(|embedder| embedder.name.as_str())
    }
}

/// A document as a store lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DocumentSummary {
    /// The id of the document.
    pub id: String,
    /// The title of the document.
    pub title: Option<String>,
    /// The kind of file that it is; see [`file_type`](crate::file_type()).
    #[serde(rename = "type")]
    pub file_type: String,
    /// The number of its chunks.
    pub chunks: u64,
    /// The tokens of its chunks together; `None` where the store would have to read all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
}

/// What has become of a store since it was opened or looked at last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freshness {
    /// Nothing that this reader would see.
    Same,
    /// There was a newer commit, which is seen from now on.
    Newer,
    /// Another one has taken its place, maybe with other ingredients. This reader still answers from the old one: open the
    /// store anew.
    Replaced,
}

/// Searches a store. All methods block and may be called from many threads.
///
/// A store implements the ranking, the reading of chunks and the marking of words; searching, grouping and context are
/// made of these.
pub trait Retriever: Send + Sync {
    /// Returns the facts about the store.
    fn about(&self) -> &StoreInfo;

    /// Returns the number of chunks.
    ///
    /// # Errors
    /// Where the store cannot be read. So with the other methods.
    fn chunks(&self) -> Result<u64, StoreError>;

    /// Returns the number of documents that have a chunk.
    ///
    /// # Errors
    /// As [`chunks`](Self::chunks).
    fn documents(&self) -> Result<u64, StoreError>;

    /// Returns the documents whose ids begin with `prefix` and come after `after`, in the order of their ids, `limit` at
    /// most.
    ///
    /// # Errors
    /// As [`chunks`](Self::chunks).
    fn list(&self, prefix: &str, after: Option<&str>, limit: usize) -> Result<Vec<DocumentSummary>, StoreError>;

    /// Returns all chunks of a document, in their order; none where it is not there.
    ///
    /// # Errors
    /// As [`chunks`](Self::chunks).
    fn chunks_of(&self, document: &str) -> Result<Vec<(ChunkId, ChunkRecord)>, StoreError>;

    /// Returns the number of the commit that is seen, where the store counts its commits; it only grows until another store
    /// takes its place.
    fn commit(&self) -> Option<u64> {
        None
    }

    /// Sees the newest commit from now on, where there is one. A query that is running still sees the old one. It costs
    /// the reading of a small file where nothing is new. A server's answers are always the newest.
    ///
    /// # Errors
    /// As [`chunks`](Self::chunks).
    fn refresh(&self) -> Result<Freshness, StoreError>;

    /// Embeds queries with `encoder` from now on, which must be the one that the store was built with.
    ///
    /// # Errors
    /// [`ErrorKind::Mismatch`](crate::ErrorKind::Mismatch) for another encoder,
    /// [`ErrorKind::NoVectors`](crate::ErrorKind::NoVectors) for a store without vectors.
    fn set_encoder(&mut self, encoder: Arc<dyn SentenceEncoder>) -> Result<(), StoreError>;

    /// Ranks the best `query.k` chunks, best first; fewer where fewer match. Equal scores are ordered by document and
    /// place. No text is loaded and nothing is highlighted.
    ///
    /// # Errors
    /// [`ErrorKind::NoVectors`](crate::ErrorKind::NoVectors) for dense and hybrid search in a store without vectors,
    /// [`StoreError::NoEncoder`] without an encoder and a vector for the query.
    fn rank(&self, query: &Query) -> Result<Vec<Ranked>, StoreError>;

    /// Reads chunks, in the order of the ids; `None` for a chunk that is not there (any more).
    ///
    /// # Errors
    /// As [`chunks`](Self::chunks).
    fn fetch(&self, ids: &[ChunkId]) -> Result<Vec<Option<ChunkRecord>>, StoreError>;

    /// Returns for each chunk those of its document that are at most `reach` places away, in order, itself among them.
    /// A chunk that is not there any more has no neighbours.
    ///
    /// # Errors
    /// As [`chunks`](Self::chunks).
    fn neighbours(&self, of: &[Ranked], reach: usize) -> Result<Vec<Vec<ChunkRecord>>, StoreError>;

    /// Returns what marks the words of a query in texts.
    ///
    /// # Errors
    /// As [`chunks`](Self::chunks).
    fn highlighter(&self, query: &str) -> Result<Highlighter, StoreError>;

    /// Ranks as [`rank`](Self::rank) and reads the chunks. A store may do both at once, in one snapshot or one call.
    ///
    /// # Errors
    /// As [`rank`](Self::rank).
    fn find(&self, query: &Query) -> Result<Vec<(Ranked, ChunkRecord)>, StoreError> {
        let ranked = self.rank(query)?;
        let ids: Vec<ChunkId> = ranked.iter().map(|one| one.id).collect();
        let records = self.fetch(&ids)?;
        Ok(ranked.into_iter().zip(records).filter_map(|(one, record)| Some((one, record?))).collect())
    }

    /// Returns the best `query.k` chunks with their texts, the query's words marked in them.
    ///
    /// # Errors
    /// As [`rank`](Self::rank).
    fn search(&self, query: &Query) -> Result<Vec<Hit>, StoreError> {
        let found = self.find(query)?;
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let highlighter = self.highlighter(&query.text)?;
        Ok((1..).zip(found).map(|(rank, (one, chunk))| hit(rank, &one, chunk, &highlighter)).collect())
    }

    /// Returns the `query.k` documents with the best chunks, each with its `per_document` best, in the order of their
    /// best ones.
    ///
    /// # Errors
    /// As [`rank`](Self::rank).
    fn search_grouped(&self, query: &Query, per_document: usize) -> Result<Vec<Group>, StoreError> {
        let mut depth = query.k.saturating_mul(DEPTH);
        let ranked = loop {
            let ranked = self.rank(&Query { k: depth, ..query.clone() })?;
            let mut documents: Vec<&str> = ranked.iter().map(|one| one.document.as_str()).collect();
            documents.sort_unstable();
            documents.dedup();
            if ranked.len() < depth || documents.len() >= query.k {
                break ranked;
            }
            depth = depth.saturating_mul(DEPTH);
        };
        let mut taken: HashMap<&str, usize> = HashMap::new();
        let mut chosen: Vec<(usize, &Ranked)> = Vec::new();
        for (rank, one) in (1..).zip(&ranked) {
            let is_new = !taken.contains_key(one.document.as_str());
            if is_new && taken.len() == query.k {
                continue;
            }
            let count = taken.entry(&one.document).or_default();
            if *count < per_document.max(1) {
                *count += 1;
                chosen.push((rank, one));
            }
        }
        let ids: Vec<ChunkId> = chosen.iter().map(|(_, one)| one.id).collect();
        let records = self.fetch(&ids)?;
        let highlighter = self.highlighter(&query.text)?;
        let hits = chosen.into_iter().zip(records);
        Ok(Group::gather(
            hits.filter_map(|((rank, one), record)| Some(hit(rank, one, record?, &highlighter))).collect(),
        ))
    }

    /// Returns the best `query.k` hits as an [`Expansion`] gives them back: each a run of chunks of its document, with the id
    /// and the score of its best chunk. Hits that are in one run are one. Where hits collapse, others from further down
    /// follow.
    ///
    /// # Errors
    /// As [`rank`](Self::rank).
    fn search_expanded(&self, query: &Query, expansion: Expansion) -> Result<Vec<Hit>, StoreError> {
        match expansion.expand {
            Expand::None => self.search(query),
            _ => expand::search(self, query, expansion, Shape::Hits),
        }
    }

    /// As [`search_grouped`](Self::search_grouped), of the hits of [`search_expanded`](Self::search_expanded).
    ///
    /// # Errors
    /// As [`rank`](Self::rank).
    fn search_grouped_expanded(
        &self,
        query: &Query,
        per_document: usize,
        expansion: Expansion,
    ) -> Result<Vec<Group>, StoreError> {
        match expansion.expand {
            Expand::None => self.search_grouped(query, per_document),
            _ => Ok(Group::gather(expand::search(self, query, expansion, Shape::Documents(per_document))?)),
        }
    }

    /// Gives each hit up to `reach` chunks before it and as many after it, joined as they are in the source.
    ///
    /// # Errors
    /// As [`neighbours`](Self::neighbours).
    fn add_context(&self, hits: &mut [Hit], reach: usize) -> Result<(), StoreError> {
        let ranked: Vec<Ranked> = hits.iter().map(Hit::ranked).collect();
        for (hit, window) in hits.iter_mut().zip(self.neighbours(&ranked, reach)?) {
            hit.context = Passage::of(window).or_else(|| Passage::of([hit.chunk.clone()]));
        }
        Ok(())
    }
}

fn hit(rank: usize, ranked: &Ranked, chunk: ChunkRecord, highlighter: &Highlighter) -> Hit {
    let (snippet, highlights) = highlighter.mark(&chunk.text, chunk.language);
    Hit { rank, score: ranked.score, id: ranked.id, chunk, snippet, highlights, context: None, chunks: Vec::new() }
}
