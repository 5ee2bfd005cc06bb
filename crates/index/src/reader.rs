use std::path::{Path, PathBuf};
use std::sync::Arc;

use pericope_api::SentenceEncoder;
use pericope_store::{
    Analyzer, ChunkId, ChunkRecord, DocumentSummary, Freshness, Highlighter, IndexSpec, Mode, Query, Ranked, Retriever,
    StoreError, StoreInfo, Terms, query_vector, query_words,
};
use tantivy::Term;

use crate::build::home;
use crate::engines::{Snapshot, Snapshots, TextIndex};
use crate::guard::guarded;
use crate::own::refuse_foreign;
use crate::search::{Candidate, Passing, best, bm25, dense, rrf};
use crate::vectors::VectorSet;
use crate::{IndexError, IndexMeta, LanguageAnalyzer, analyzer_named, directory};

/// Each list that is fused is this many times longer than the answer,
const FUSION_FACTOR: usize = 10;
/// and at least this long.
const FUSION_DEPTH: usize = 100;

/// Searches an index directory. Cheap to share between threads.
///
/// It sees one commit, words and vectors of the same, until [`reload`](Self::reload). It takes no lock and writes nothing:
/// any number of processes may read while one writes, and the index may be on a disk that cannot be written. The codes of
/// the vectors (see the [crate's documentation](crate)) are read at the first dense search, and stay in memory.
pub struct IndexReader {
    dir: PathBuf,
    /// Where its words, vectors and manifest are.
    home: PathBuf,
    meta: IndexMeta,
    snapshots: Arc<Snapshots>,
    encoder: Option<Arc<dyn SentenceEncoder>>,
    analyzer: Arc<dyn Analyzer>,
    about: StoreInfo,
}

impl IndexReader {
    /// Opens the index in `dir` for BM25, and for dense search by vectors that the caller brings.
    ///
    /// # Errors
    /// [`IndexError::NotAnIndex`], [`IndexError::Foreign`], [`IndexError::Unfinished`], [`IndexError::Format`],
    /// [`IndexError::Missing`] or [`IndexError::Corrupt`].
    pub fn open(dir: &Path) -> Result<Self, IndexError> {
        refuse_foreign(dir)?;
        let (meta, snapshots) = Self::open_serving(dir)?;
        Ok(Self::sharing(dir, meta, Arc::new(snapshots), None))
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

    /// Opens the build that is searched: another one, where a rebuild takes its place meanwhile.
    fn open_serving(dir: &Path) -> Result<(IndexMeta, Snapshots), IndexError> {
        let mut meta = IndexMeta::read(dir)?;
        loop {
            match directory::open(&home(dir, meta.build), &meta) {
                Err(IndexError::Missing { path }) => {
                    let now = IndexMeta::read(dir)?;
                    if now.build == meta.build {
                        // The metadata comes first: without a chunk in it, the words were never there.
                        return Err(match meta.chunks {
                            0 => IndexError::Unfinished { dir: dir.to_owned() },
                            _ => IndexError::Missing { path },
                        });
                    }
                    meta = now;
                }
                opened => return Ok((meta, opened?)),
            }
        }
    }

    pub(crate) fn sharing(
        dir: &Path,
        meta: IndexMeta,
        snapshots: Arc<Snapshots>,
        encoder: Option<Arc<dyn SentenceEncoder>>,
    ) -> Self {
        let about = StoreInfo { name: dir.display().to_string(), meta: meta.built_with() };
        // Metadata with another name is not read.
        let analyzer = analyzer_named(&meta.text_analyzer).unwrap_or_else(|| Arc::new(LanguageAnalyzer::default()));
        let home = home(dir, meta.build);
        Self { dir: dir.to_owned(), home, meta, snapshots, encoder, analyzer, about }
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
        let snapshot = self.snapshot();
        guarded(&self.text().path, || self.text().documents(&snapshot.searcher))
    }

    /// Looks at the newest commit from now on, where there is a newer one.
    ///
    /// # Errors
    /// Where the index cannot be read.
    pub fn refresh(&self) -> Result<Freshness, IndexError> {
        let is_replaced = || {
            let now = IndexMeta::read(&self.dir)?;
            Ok::<_, IndexError>((now.build, now.id) != (self.meta.build, self.meta.id))
        };
        if is_replaced()? {
            return Ok(Freshness::Replaced);
        }
        let look = || {
            let newest = guarded(&self.text().path, || self.text().committed())?;
            if newest == self.snapshot().committed {
                return Ok(Freshness::Same);
            }
            self.reload()?;
            Ok(Freshness::Newer)
        };
        match look() {
            // A rebuild took its place just now.
            Err(_) if is_replaced()? => Ok(Freshness::Replaced),
            looked => looked,
        }
    }

    /// Looks at the newest commit from now on.
    ///
    /// # Errors
    /// Where the full-text index cannot be read.
    pub fn reload(&self) -> Result<(), IndexError> {
        self.snapshots.reload()
    }

    pub(crate) fn text(&self) -> &TextIndex {
        &self.snapshots.text
    }

    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshots.current()
    }

    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    pub(crate) fn vectors(&self, snapshot: &Snapshot) -> Result<VectorSet, IndexError> {
        self.snapshots.vectors(snapshot)?.ok_or_else(|| IndexError::NoVectors { dir: self.dir.clone() })
    }

    /// Does work with the full-text index.
    fn guarded<T>(&self, work: impl FnOnce() -> Result<T, IndexError>) -> Result<T, StoreError> {
        Ok(guarded(&self.text().path, work)?)
    }

    /// The commit that a query looks at.
    fn ask(&self, query: &Query) -> Result<Asked, StoreError> {
        let snapshot = self.snapshot();
        let semantic = match query.mode {
            Mode::Bm25 => None,
            Mode::Dense | Mode::Hybrid => {
                let store = self.vectors(&snapshot)?;
                match query.k {
                    0 => None,
                    _ => Some((store, query_vector(query, self.encoder.as_deref(), self.about.embedder())?)),
                }
            }
        };
        Ok(Asked { snapshot, semantic })
    }

    /// The best chunks with their scores.
    ///
    /// Dense search ranks every chunk by its cosine, exactly. Hybrid search fuses the two lists, each max(100, 10 k)
    /// long, by [reciprocal rank](crate::rrf).
    fn candidates(&self, query: &Query, asked: &Asked) -> Result<Vec<(Candidate, f64)>, IndexError> {
        if query.k == 0 {
            return Ok(Vec::new());
        }
        let (text, searcher) = (self.text(), &asked.snapshot.searcher);
        let languages = text.languages(searcher)?;
        let terms = Terms::parse(&query.text, self.analyzer.as_ref(), &languages);
        let passing = Passing::new(text, searcher, &query.filter, self.analyzer.as_ref(), &languages)?;
        let passing = passing.as_ref();
        let lexical = |depth| bm25(text, &asked.snapshot, &terms, query, passing, depth);
        let semantic = |depth| match &asked.semantic {
            Some((store, vector)) => dense(text, &asked.snapshot, store, vector, passing, depth),
            None => Ok(Vec::new()),
        };
        match query.mode {
            Mode::Bm25 => lexical(query.k),
            Mode::Dense => semantic(query.k),
            Mode::Hybrid => {
                let depth = query.k.saturating_mul(FUSION_FACTOR).max(FUSION_DEPTH);
                let list = |scored: Vec<(Candidate, f64)>| -> Vec<Candidate> {
                    scored.into_iter().map(|(candidate, _)| candidate).collect()
                };
                Ok(best(rrf::fuse(&[list(lexical(depth)?), list(semantic(depth)?)], rrf::K), query.k))
            }
        }
    }
}

/// What a query looks at.
struct Asked {
    snapshot: Arc<Snapshot>,
    /// The vectors and the query's own, where the mode asks for them.
    semantic: Option<(VectorSet, Vec<f32>)>,
}

fn ranked(snapshot: &Snapshot, candidate: &Candidate, score: f64) -> Result<Ranked, IndexError> {
    let (id, ordinal) = snapshot.columns.id_and_ordinal(&snapshot.searcher, candidate.address)?;
    Ok(Ranked { id, document: candidate.document.to_string(), ordinal, score })
}

impl Retriever for IndexReader {
    fn about(&self) -> &StoreInfo {
        &self.about
    }

    fn chunks(&self) -> Result<u64, StoreError> {
        Ok(self.snapshot().chunks())
    }

    fn documents(&self) -> Result<u64, StoreError> {
        Ok(Self::documents(self)?)
    }

    fn list(&self, prefix: &str, after: Option<&str>, limit: usize) -> Result<Vec<DocumentSummary>, StoreError> {
        let (snapshot, text) = (self.snapshot(), self.text());
        self.guarded(|| text.list(&snapshot.searcher, prefix, after, limit))
    }

    fn chunks_of(&self, document: &str) -> Result<Vec<(ChunkId, ChunkRecord)>, StoreError> {
        let (snapshot, text) = (self.snapshot(), self.text());
        self.guarded(|| {
            let addresses = text.addresses_of(&snapshot.searcher, document, &(0..=usize::MAX))?.into_iter();
            let mut chunks = addresses
                .map(|address| {
                    Ok((text.point_of(&snapshot.searcher, address)?, text.record(&snapshot.searcher, address)?))
                })
                .collect::<Result<Vec<_>, IndexError>>()?;
            chunks.sort_by_key(|(_, chunk)| chunk.ordinal);
            Ok(chunks)
        })
    }

    fn commit(&self) -> Option<u64> {
        Some(self.snapshot().committed.sequence)
    }

    fn refresh(&self) -> Result<Freshness, StoreError> {
        Ok(Self::refresh(self)?)
    }

    fn set_encoder(&mut self, encoder: Arc<dyn SentenceEncoder>) -> Result<(), StoreError> {
        let Some(embedder) = &self.meta.embedder else {
            return Err(IndexError::NoVectors { dir: self.dir.clone() }.into());
        };
        let asked = embedder.by(encoder.as_ref());
        if *embedder != asked {
            let (found, asked) = (embedder.to_string(), asked.to_string());
            return Err(IndexError::Mismatch { dir: self.dir.clone(), what: "embedder", found, asked }.into());
        }
        self.encoder = Some(encoder);
        Ok(())
    }

    fn rank(&self, query: &Query) -> Result<Vec<Ranked>, StoreError> {
        let asked = self.ask(query)?;
        self.guarded(|| {
            let found = self.candidates(query, &asked)?.into_iter();
            found.map(|(one, score)| ranked(&asked.snapshot, &one, score)).collect()
        })
    }

    fn fetch(&self, ids: &[ChunkId]) -> Result<Vec<Option<ChunkRecord>>, StoreError> {
        let (snapshot, text) = (self.snapshot(), self.text());
        let read = |id: &ChunkId| {
            let address = text.address_of(&snapshot.searcher, *id)?;
            address.map(|address| text.record(&snapshot.searcher, address)).transpose()
        };
        self.guarded(|| ids.iter().map(read).collect())
    }

    fn neighbours(&self, of: &[Ranked], reach: usize) -> Result<Vec<Vec<ChunkRecord>>, StoreError> {
        let (snapshot, text) = (self.snapshot(), self.text());
        let window = |one: &Ranked| {
            let wanted = one.ordinal.saturating_sub(reach)..=one.ordinal.saturating_add(reach);
            let addresses = text.addresses_of(&snapshot.searcher, &one.document, &wanted)?;
            let mut chunks: Vec<ChunkRecord> = addresses
                .into_iter()
                .map(|address| text.record(&snapshot.searcher, address))
                .collect::<Result<_, IndexError>>()?;
            chunks.sort_by_key(|chunk| chunk.ordinal);
            Ok(chunks)
        };
        self.guarded(|| of.iter().map(window).collect())
    }

    /// Weights the query's words by their rarity in the index.
    fn highlighter(&self, query: &str) -> Result<Highlighter, StoreError> {
        let (snapshot, text) = (self.snapshot(), self.text());
        let all = snapshot.chunks() as f64;
        let weight = |word: &str| {
            let term = Term::from_field_text(text.fields.searched(), word);
            let holders = text.frequency(&snapshot.searcher, &term) as f64;
            (1.0 + (all - holders).max(0.0) / (holders + 0.5)).ln().max(1e-3)
        };
        self.guarded(|| {
            let languages = text.languages(&snapshot.searcher)?;
            let words = query_words(query, self.analyzer.as_ref(), &languages).into_iter();
            let weighted = words.map(|word| {
                let weight = weight(&word);
                (word, weight)
            });
            Ok(Highlighter::new(self.analyzer.clone(), weighted))
        })
    }

    /// Ranks and reads in one snapshot of the index.
    fn find(&self, query: &Query) -> Result<Vec<(Ranked, ChunkRecord)>, StoreError> {
        let asked = self.ask(query)?;
        let searcher = &asked.snapshot.searcher;
        self.guarded(|| {
            let read = |(one, score): (Candidate, f64)| {
                let chunk = self.text().record(searcher, one.address)?;
                Ok((ranked(&asked.snapshot, &one, score)?, chunk))
            };
            self.candidates(query, &asked)?.into_iter().map(read).collect()
        })
    }
}
