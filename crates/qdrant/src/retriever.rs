//! A collection that is searched in plain language.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pericope_api::SentenceEncoder;
use pericope_store::{
    Analyzer, ChunkId, ChunkRecord, DocumentSummary, Freshness, Highlighter, Language, Mode, Query, Ranked, Retriever,
    StoreError, StoreInfo, query_vector, query_words,
};

use crate::{Collection, Error, Target, VectorQuery, term_index};

/// How long the languages of a collection are taken to be the same.
const LANGUAGES_FOR: Duration = Duration::from_secs(60);

/// Searches a collection: makes terms and vectors of queries, and marks their words.
pub struct QdrantRetriever {
    about: StoreInfo,
    collection: Collection,
    analyzer: Arc<dyn Analyzer>,
    encoder: Option<Arc<dyn SentenceEncoder>>,
    /// Those of the chunks, and when they were asked for.
    languages: Mutex<Option<(Instant, Vec<Language>)>>,
}

impl QdrantRetriever {
    /// Opens a collection. `analyzer` must be the one that it was built with.
    ///
    /// # Errors
    /// As [`Collection::open`]; [`Error::Mismatch`] for another analyzer.
    pub fn open(target: &Target, analyzer: Arc<dyn Analyzer>) -> Result<Self, Error> {
        let collection = Collection::open(target)?;
        let found = &collection.record().analyzer;
        if found != analyzer.name() {
            return Err(mismatch(&collection, "analyzer", found.clone(), analyzer.name().to_owned()));
        }
        let about = StoreInfo { name: target.to_string(), meta: collection.record().built_with() };
        Ok(Self { about, collection, analyzer, encoder: None, languages: Mutex::default() })
    }

    /// The languages in which queries are read; those of chunks that were put lately may be missing for a minute.
    fn languages(&self) -> Result<Vec<Language>, Error> {
        let mut known = self.languages.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, languages)) = known.as_ref().filter(|(asked, _)| asked.elapsed() < LANGUAGES_FOR) {
            return Ok(languages.clone());
        }
        let languages = self.collection.languages()?;
        *known = Some((Instant::now(), languages.clone()));
        Ok(languages)
    }

    /// Returns the query in the server's terms.
    fn translate(&self, query: &Query) -> Result<VectorQuery, StoreError> {
        let mut asked = VectorQuery::new(query.mode, query.k);
        asked.depth = asked.depth.max(query.k.saturating_mul(10));
        let words = query_words(&query.text, self.analyzer.as_ref(), &self.languages()?);
        asked.sparse = words.iter().map(|word| (term_index(word), 1.0)).collect();
        asked.sparse.sort_unstable_by_key(|(index, _)| *index);
        asked.sparse.dedup_by_key(|(index, _)| *index);
        if query.mode != Mode::Bm25 {
            if self.about.meta.embedder.is_none() {
                return Err(Error::NoVectors { collection: self.collection.name().to_owned() }.into());
            }
            asked.vector = Some(query_vector(query, self.encoder.as_deref(), self.about.embedder())?);
        }
        asked.filter = query.filter.clone();
        Ok(asked)
    }
}

fn mismatch(collection: &Collection, what: &str, found: String, asked: String) -> Error {
    Error::Mismatch { collection: collection.name().to_owned(), what: what.to_owned(), found, asked }
}

impl Retriever for QdrantRetriever {
    fn about(&self) -> &StoreInfo {
        &self.about
    }

    fn chunks(&self) -> Result<u64, StoreError> {
        Ok(self.collection.count_searched()?)
    }

    fn documents(&self) -> Result<u64, StoreError> {
        Ok(self.collection.count_documents()?)
    }

    /// Reads a few fields of the first chunk of every document: the server has no order by ids.
    fn list(&self, prefix: &str, after: Option<&str>, limit: usize) -> Result<Vec<DocumentSummary>, StoreError> {
        Ok(self.collection.list(prefix, after, limit)?)
    }

    fn chunks_of(&self, document: &str) -> Result<Vec<(ChunkId, ChunkRecord)>, StoreError> {
        let chunks = self.collection.searched_chunks_of(document)?;
        // While a document is replaced, its chunks are there in two revisions: the one of which there is more is shown.
        let mut found: BTreeMap<&str, usize> = BTreeMap::new();
        for one in &chunks {
            *found.entry(&one.revision).or_default() += 1;
        }
        let shown = found.into_iter().max_by_key(|(_, count)| *count).map(|(revision, _)| revision.to_owned());
        let shown = chunks.into_iter().filter(|one| Some(&one.revision) == shown.as_ref());
        Ok(shown.map(|one| (one.id, one.chunk)).collect())
    }

    fn refresh(&self) -> Result<Freshness, StoreError> {
        Ok(if self.collection.is_replaced()? { Freshness::Replaced } else { Freshness::Same })
    }

    fn set_encoder(&mut self, encoder: Arc<dyn SentenceEncoder>) -> Result<(), StoreError> {
        let Some(embedder) = &self.about.meta.embedder else {
            return Err(Error::NoVectors { collection: self.collection.name().to_owned() }.into());
        };
        let asked = embedder.by(encoder.as_ref());
        if *embedder != asked {
            return Err(mismatch(&self.collection, "embedder", embedder.to_string(), asked.to_string()).into());
        }
        self.encoder = Some(encoder);
        Ok(())
    }

    fn rank(&self, query: &Query) -> Result<Vec<Ranked>, StoreError> {
        Ok(self.collection.rank(&self.translate(query)?)?)
    }

    fn fetch(&self, ids: &[ChunkId]) -> Result<Vec<Option<ChunkRecord>>, StoreError> {
        let found = self.collection.chunks(ids)?;
        Ok(ids.iter().map(|id| found.get(id).cloned()).collect())
    }

    fn neighbours(&self, of: &[Ranked], reach: usize) -> Result<Vec<Vec<ChunkRecord>>, StoreError> {
        let windows = self.collection.neighbours(of, reach)?.into_iter();
        Ok(windows.map(|window| window.into_iter().map(|one| one.chunk).collect()).collect())
    }

    /// All words weigh the same: how rare they are, the server alone knows.
    fn highlighter(&self, query: &str) -> Result<Highlighter, StoreError> {
        let words = query_words(query, self.analyzer.as_ref(), &self.languages()?);
        Ok(Highlighter::new(Arc::clone(&self.analyzer), words.into_iter().map(|word| (word, 1.0))))
    }

    /// Ranks and reads in one call.
    fn find(&self, query: &Query) -> Result<Vec<(Ranked, ChunkRecord)>, StoreError> {
        let found = self.collection.search(&self.translate(query)?)?;
        Ok(found.into_iter().map(|one| (one.ranked(), one.chunk)).collect())
    }
}
