use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use pericope_api::SentenceEncoder;
use rayon::prelude::*;

use crate::directory::{open_vectors, text_path};
use crate::embed::encode_checked;
use crate::search::{Candidate, Highlighter, Passing, Terms, bm25, dense, hits, rank, rrf};
use crate::sinks::{TextIndex, VectorStore};
use crate::{Hit, IndexError, IndexMeta, IndexSpec, Mode, Query};

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
}

impl IndexReader {
    /// Opens the index in `dir` for BM25, and for dense search by vectors that the caller brings.
    ///
    /// # Errors
    /// [`IndexError::NotAnIndex`], [`IndexError::Format`] or [`IndexError::Corrupt`].
    pub fn open(dir: &Path) -> Result<Self, IndexError> {
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

    /// Embeds queries with `encoder`, which must be the one that the index was built with.
    ///
    /// # Errors
    /// [`IndexError::Mismatch`] where it is another one, [`IndexError::NoVectors`] where the index has no vectors.
    pub fn with_encoder(mut self, encoder: Arc<dyn SentenceEncoder>) -> Result<Self, IndexError> {
        if self.meta.embedder.is_none() {
            return Err(IndexError::NoVectors { dir: self.dir });
        }
        let spec = IndexSpec {
            segmenter: self.meta.segmenter.clone(),
            segmenter_fingerprint: self.meta.segmenter_fingerprint.clone(),
            tokenizer: self.meta.tokenizer.clone(),
            encoder: Some(encoder),
            prefix_headings: self.meta.embedder.as_ref().is_some_and(|e| e.prefix_headings),
            reference: self.meta.reference.clone(),
        };
        self.meta.expect(&self.dir, &spec)?;
        self.encoder = spec.encoder;
        Ok(self)
    }

    pub(crate) fn sharing(
        dir: &Path,
        meta: IndexMeta,
        text: Arc<TextIndex>,
        store: Option<Arc<VectorStore>>,
        encoder: Option<Arc<dyn SentenceEncoder>>,
    ) -> Self {
        Self { dir: dir.to_owned(), meta, text, store: Mutex::new(store), encoder }
    }

    /// What the index was built with.
    #[must_use]
    pub fn meta(&self) -> &IndexMeta {
        &self.meta
    }

    /// Number of documents that have a chunk.
    ///
    /// # Errors
    /// Where the full-text index cannot be read.
    pub fn documents(&self) -> Result<u64, IndexError> {
        self.text.documents()
    }

    /// Number of chunks.
    #[must_use]
    pub fn chunks(&self) -> u64 {
        self.text.chunks()
    }

    /// Looks at the newest commit from now on.
    ///
    /// # Errors
    /// Where the full-text index cannot be read.
    pub fn reload(&self) -> Result<(), IndexError> {
        self.text.reload()
    }

    /// The best `query.k` chunks, best first; fewer where fewer match. Equal scores are ordered by document, then by
    /// place, so that the answer depends on the index's contents alone.
    ///
    /// Dense search ranks every chunk by its cosine, exactly. Hybrid search fuses the two lists, each
    /// max(100, 10 k) long, by [reciprocal rank](crate::rrf).
    ///
    /// # Errors
    /// [`IndexError::NoVectors`] for dense and hybrid search on an index without vectors, [`IndexError::NoEncoder`]
    /// where there is neither an encoder nor a vector for the query, and what the engines report.
    pub fn search(&self, query: &Query) -> Result<Vec<Hit>, IndexError> {
        let store = match query.mode {
            Mode::Bm25 => None,
            Mode::Dense | Mode::Hybrid => Some(self.vectors()?),
        };
        if query.k == 0 {
            return Ok(Vec::new());
        }
        let searcher = self.text.searcher();
        let terms = Terms::parse(&query.text);
        let passing = Passing::new(&self.text, &searcher, &query.filter)?;
        let passing = passing.as_ref();
        let lexical = |depth| bm25(&self.text, &searcher, &terms, query, passing, depth);
        let semantic = |depth| match &store {
            Some(store) => dense(&self.text, &searcher, store, &self.vector(query)?, passing, depth),
            None => Ok(Vec::new()),
        };
        let ranked = match query.mode {
            Mode::Bm25 => lexical(query.k)?,
            Mode::Dense => semantic(query.k)?,
            Mode::Hybrid => {
                let depth = query.k.saturating_mul(FUSION_FACTOR).max(FUSION_DEPTH);
                let list = |scored: Vec<(Candidate, f64)>| -> Vec<Candidate> {
                    scored.into_iter().map(|(candidate, _)| candidate).collect()
                };
                rank(rrf::fuse(&[list(lexical(depth)?), list(semantic(depth)?)], rrf::K), query.k)
            }
        };
        hits(&self.text, &searcher, ranked, &mut Highlighter::new(&self.text, &searcher, &terms))
    }

    /// Answers many queries: their texts are embedded in one batch, and the searches run on all cores.
    ///
    /// # Errors
    /// That of the first query, in their order, that fails.
    pub fn search_all(&self, queries: &[Query]) -> Result<Vec<Vec<Hit>>, IndexError> {
        let needs = |query: &Query| query.mode != Mode::Bm25 && query.vector.is_none();
        let texts: Vec<&str> = queries.iter().filter(|q| needs(q)).map(|q| q.text.as_str()).collect();
        if texts.is_empty() {
            return queries.par_iter().map(|query| self.search(query)).collect();
        }
        self.vectors()?;
        let vectors = encode_checked(self.encoder()?, &texts)?;
        let mut rows = vectors.rows();
        let embedded = queries.iter().map(|query| match needs(query) {
            true => query.clone().with_vector(rows.next().unwrap_or(&[]).to_vec()),
            false => query.clone(),
        });
        embedded.collect::<Vec<_>>().par_iter().map(|query| self.search(query)).collect()
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

    fn encoder(&self) -> Result<&dyn SentenceEncoder, IndexError> {
        self.encoder.as_deref().ok_or_else(|| IndexError::NoEncoder {
            name: self.meta.embedder.as_ref().map_or_else(|| "none".to_owned(), |e| e.name.clone()),
        })
    }

    fn vector(&self, query: &Query) -> Result<Vec<f32>, IndexError> {
        if let Some(vector) = &query.vector {
            return Ok(vector.clone());
        }
        Ok(encode_checked(self.encoder()?, &[&query.text])?.values().to_vec())
    }
}
