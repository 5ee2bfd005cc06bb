use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use pericope_api::SentenceEncoder;
use pericope_store::{
    Analyzer, ChunkId, ChunkRecord, EmbedderMeta, Highlighter, IndexSpec, Mode, Query, Ranked, Retriever, StoreError,
    StoreInfo, Terms, query_vector, query_words,
};
use tantivy::{Searcher, Term};

use crate::directory::{open_vectors, text_path};
use crate::engines::{TextIndex, VectorStore};
use crate::own::refuse_foreign;
use crate::search::{Candidate, Passing, best, bm25, dense, rrf};
use crate::{EnglishAnalyzer, IndexError, IndexMeta};

/// Each list that is fused is this many times longer than the answer,
const FUSION_FACTOR: usize = 10;
/// and at least this long.
const FUSION_DEPTH: usize = 100;

/// Searches an index directory. Cheap to share between threads.
///
/// The vectors are opened at the first dense search, and stay open until the reader is dropped; while they are, no
/// other process can open them (within this process, readers and the writer share them).
pub struct IndexReader {
    dir: PathBuf,
    meta: IndexMeta,
    text: Arc<TextIndex>,
    store: Mutex<Option<Arc<VectorStore>>>,
    encoder: Option<Arc<dyn SentenceEncoder>>,
    analyzer: Arc<dyn Analyzer>,
    about: StoreInfo,
}

impl IndexReader {
    /// Opens the index in `dir` for BM25, and for dense search by vectors that the caller brings.
    ///
    /// # Errors
    /// [`IndexError::NotAnIndex`], [`IndexError::Foreign`], [`IndexError::Format`] or [`IndexError::Corrupt`].
    pub fn open(dir: &Path) -> Result<Self, IndexError> {
        refuse_foreign(dir)?;
        let meta = IndexMeta::read(dir)?;
        let text = Arc::new(TextIndex::open(&text_path(dir))?);
        Ok(Self::sharing(dir, meta, text, None, None))
    }

    /// Opens the index in `dir` and checks that it was built with `spec`, whose encoder embeds the queries.
    ///
    /// # Errors
    /// As [`open`](Self::open), and [`IndexError::Mismatch`].
    pub fn open_expecting(dir: &Path, spec: &IndexSpec) -> Result<Self, IndexError> {
        let mut reader = Self::open(dir)?;
        reader.meta.expect(dir, spec)?;
        reader.encoder.clone_from(&spec.encoder);
        Ok(reader)
    }

    pub(crate) fn sharing(
        dir: &Path,
        meta: IndexMeta,
        text: Arc<TextIndex>,
        store: Option<Arc<VectorStore>>,
        encoder: Option<Arc<dyn SentenceEncoder>>,
    ) -> Self {
        let about = StoreInfo { name: dir.display().to_string(), meta: meta.built_with() };
        let analyzer = Arc::new(EnglishAnalyzer::default());
        Self { dir: dir.to_owned(), meta, text, store: Mutex::new(store), encoder, analyzer, about }
    }

    /// Returns the metadata of the index.
    #[must_use]
    pub fn meta(&self) -> &IndexMeta {
        &self.meta
    }

    /// Returns the number of documents that have a chunk.
    ///
    /// # Errors
    /// Where the full-text index cannot be read.
    pub fn documents(&self) -> Result<u64, IndexError> {
        self.text.documents()
    }

    /// Looks at the newest commit from now on.
    ///
    /// # Errors
    /// Where the full-text index cannot be read.
    pub fn reload(&self) -> Result<(), IndexError> {
        self.text.reload()
    }

    pub(crate) fn text(&self) -> &TextIndex {
        &self.text
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn vectors(&self) -> Result<Arc<VectorStore>, IndexError> {
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = store.as_ref() {
            return Ok(Arc::clone(store));
        }
        let Some(found) = open_vectors(&self.dir, &self.meta, &self.text, false)? else {
            return Err(IndexError::NoVectors { dir: self.dir.clone() });
        };
        Ok(Arc::clone(store.insert(found)))
    }

    /// The best chunks with their scores, and the searcher that they were found by.
    ///
    /// Dense search ranks every chunk by its cosine, exactly. Hybrid search fuses the two lists, each max(100, 10 k)
    /// long, by [reciprocal rank](crate::rrf).
    fn candidates(&self, query: &Query) -> Result<(Searcher, Vec<(Candidate, f64)>), StoreError> {
        let store = match query.mode {
            Mode::Bm25 => None,
            Mode::Dense | Mode::Hybrid => Some(self.vectors()?),
        };
        let searcher = self.text.searcher();
        if query.k == 0 {
            return Ok((searcher, Vec::new()));
        }
        let terms = Terms::parse(&query.text, self.analyzer.as_ref());
        let passing = Passing::new(&self.text, &searcher, &query.filter, self.analyzer.as_ref())?;
        let passing = passing.as_ref();
        let lexical = |depth| bm25(&self.text, &searcher, &terms, query, passing, depth);
        let semantic = |depth| -> Result<Vec<(Candidate, f64)>, StoreError> {
            let Some(store) = &store else { return Ok(Vec::new()) };
            let vector = query_vector(query, self.encoder.as_deref(), self.about.embedder())?;
            Ok(dense(&self.text, &searcher, store, &vector, passing, depth)?)
        };
        let ranked = match query.mode {
            Mode::Bm25 => lexical(query.k)?,
            Mode::Dense => semantic(query.k)?,
            Mode::Hybrid => {
                let depth = query.k.saturating_mul(FUSION_FACTOR).max(FUSION_DEPTH);
                let list = |scored: Vec<(Candidate, f64)>| -> Vec<Candidate> {
                    scored.into_iter().map(|(candidate, _)| candidate).collect()
                };
                best(rrf::fuse(&[list(lexical(depth)?), list(semantic(depth)?)], rrf::K), query.k)
            }
        };
        Ok((searcher, ranked))
    }
}

fn ranked(searcher: &Searcher, candidate: Candidate, score: f64) -> Result<Ranked, IndexError> {
    let (id, ordinal) = candidate.id_and_ordinal(searcher)?;
    Ok(Ranked { id, document: candidate.document, ordinal, score })
}

impl Retriever for IndexReader {
    fn about(&self) -> &StoreInfo {
        &self.about
    }

    fn chunks(&self) -> Result<u64, StoreError> {
        Ok(self.text.chunks())
    }

    fn set_encoder(&mut self, encoder: Arc<dyn SentenceEncoder>) -> Result<(), StoreError> {
        let Some(embedder) = &self.meta.embedder else {
            return Err(IndexError::NoVectors { dir: self.dir.clone() }.into());
        };
        let asked = EmbedderMeta::new(encoder.as_ref(), embedder.prefix_headings);
        if *embedder != asked {
            let (found, asked) = (embedder.to_string(), asked.to_string());
            return Err(IndexError::Mismatch { dir: self.dir.clone(), what: "embedder", found, asked }.into());
        }
        self.encoder = Some(encoder);
        Ok(())
    }

    fn rank(&self, query: &Query) -> Result<Vec<Ranked>, StoreError> {
        let (searcher, found) = self.candidates(query)?;
        Ok(found.into_iter().map(|(one, score)| ranked(&searcher, one, score)).collect::<Result<_, _>>()?)
    }

    fn fetch(&self, ids: &[ChunkId]) -> Result<Vec<Option<ChunkRecord>>, StoreError> {
        let searcher = self.text.searcher();
        let read = |id: &ChunkId| {
            let address = self.text.address_of(&searcher, *id)?;
            address.map(|address| self.text.record(&searcher, address)).transpose()
        };
        Ok(ids.iter().map(read).collect::<Result<_, IndexError>>()?)
    }

    fn neighbours(&self, of: &[Ranked], reach: usize) -> Result<Vec<Vec<ChunkRecord>>, StoreError> {
        let searcher = self.text.searcher();
        let window = |one: &Ranked| {
            let wanted = one.ordinal.saturating_sub(reach)..=one.ordinal.saturating_add(reach);
            let addresses = self.text.addresses_of(&searcher, &one.document, &wanted)?;
            let mut chunks: Vec<ChunkRecord> = addresses
                .into_iter()
                .map(|address| self.text.record(&searcher, address))
                .collect::<Result<_, IndexError>>()?;
            chunks.sort_by_key(|chunk| chunk.ordinal);
            Ok(chunks)
        };
        Ok(of.iter().map(window).collect::<Result<_, IndexError>>()?)
    }

    /// Weights the query's words by their rarity in the index.
    fn highlighter(&self, query: &str) -> Result<Highlighter, StoreError> {
        let searcher = self.text.searcher();
        let all = searcher.num_docs() as f64;
        let weight = |word: &str| {
            let term = Term::from_field_text(self.text.fields.text, word);
            let holders = self.text.frequency(&searcher, &term) as f64;
            (1.0 + (all - holders).max(0.0) / (holders + 0.5)).ln().max(1e-3)
        };
        let words = query_words(query, self.analyzer.as_ref()).into_iter();
        let weighted = words.map(|word| {
            let weight = weight(&word);
            (word, weight)
        });
        Ok(Highlighter::new(self.analyzer.clone(), weighted))
    }

    /// Ranks and reads in one snapshot of the index.
    fn find(&self, query: &Query) -> Result<Vec<(Ranked, ChunkRecord)>, StoreError> {
        let (searcher, found) = self.candidates(query)?;
        let read = |(one, score): (Candidate, f64)| {
            let chunk = self.text.record(&searcher, one.address)?;
            Ok((ranked(&searcher, one, score)?, chunk))
        };
        Ok(found.into_iter().map(read).collect::<Result<_, IndexError>>()?)
    }
}
