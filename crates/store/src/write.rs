use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use pericope_api::{Chunk, Document, Embeddings};
use pericope_language::LanguageChoice;
use serde::Serialize;

use crate::{
    ChunkEntry, DocumentHeader, EmbedCounts, Embedding, Encoded, Known, SourceRecord, StoreError, VectorCache,
    encode_checked, prepare,
};

/// The time after which a store commits by itself, after a document: what a crash can cost, beside the documents that are
/// being embedded.
pub const COMMIT_EVERY: Duration = Duration::from_secs(30);

/// The facts about a store that is written.
#[derive(Clone, Default)]
pub struct DestinationInfo {
    /// The name for messages: a folder, or an address without its key.
    pub name: String,
    /// A word without spaces that changes whenever the same source could become other chunks or vectors (by another
    /// segmenter, embedder, tokenizer or reader). A source that was written under another one is read again.
    pub fingerprint: String,
    /// The way in which chunks are embedded; `None` for a store without vectors.
    pub embedding: Option<Embedding>,
    /// The language of the documents.
    pub language: LanguageChoice,
    /// The vectors that the store holds already, and that need not be computed again.
    pub vectors: Option<Arc<dyn VectorCache>>,
}

/// Takes documents in the form of chunks with their vectors, and remembers their sources.
///
/// A document replaces all that was there under its id. Nothing counts before [`commit`](Self::commit), which a store may
/// also call by itself after a document. A run that breaks off anywhere, and is repeated, must end where an unbroken run
/// does.
pub trait Destination: Send {
    /// Returns the facts about the store.
    fn about(&self) -> &DestinationInfo;

    /// Returns the sources that were recorded, as of the last commit. By default none: every run writes everything.
    ///
    /// # Errors
    /// Where the store cannot be read.
    fn known(&mut self) -> Result<Known, StoreError> {
        Ok(Known::default())
    }

    /// Replaces all chunks of a document by these, which are in order. `vectors` has one row a chunk, or none at all
    /// without an embedder.
    ///
    /// # Errors
    /// Where the store fails; nothing more is committed then. So with the other methods.
    fn put(
        &mut self,
        document: &DocumentHeader,
        chunks: Vec<ChunkEntry>,
        vectors: Embeddings,
    ) -> Result<(), StoreError>;

    /// Removes a document; returns whether there was any chunk of it.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    fn remove(&mut self, document: &str) -> Result<bool, StoreError>;

    /// Records a source, all of whose documents have been written, or forgets it (`None`). By default nothing is kept.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    fn record(&mut self, source: &str, record: Option<SourceRecord>) -> Result<(), StoreError> {
        let _ = (source, record);
        Ok(())
    }

    /// Makes all of this durable and visible.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    fn commit(&mut self) -> Result<(), StoreError>;

    /// Commits, tidies up, and publishes a store that was built anew.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    fn finish(self: Box<Self>, run: &RunSummary<'_>) -> Result<Finished, StoreError>;

    /// Cuts nothing and reads nothing: embeds the chunks of one document and puts them. A pipeline is faster for many.
    ///
    /// # Errors
    /// [`StoreError::BadChunk`] for a chunk that does not fit the document; the encoder's errors; as [`put`](Self::put).
    fn add(&mut self, document: &Document, chunks: &[Chunk]) -> Result<(), StoreError> {
        let embedding = self.about().embedding.clone();
        let prepared = prepare(document, chunks, embedding.as_ref(), self.about().language)?;
        let vectors = match &embedding {
            Some(embedding) => {
                let texts: Vec<&Encoded> = prepared.iter().map(|one| &one.encoded).collect();
                encode_checked(embedding.encoder.as_ref(), &texts)?
            }
            None => Embeddings::default(),
        };
        let entries = prepared.into_iter().map(|one| one.entry).collect();
        self.put(&DocumentHeader::new(document), entries, vectors)
    }
}

/// The outcome of a run over the sources, by which a store decides whether it is whole. The default is a run that met no
/// sources and failed nowhere.
#[derive(Clone, Copy, Default)]
pub struct RunSummary<'a> {
    /// Whether the run was ended early.
    pub interrupted: bool,
    /// The names of the sources that were met, read or not.
    pub met: Option<&'a HashSet<String>>,
    /// The names of the sources of which some part failed, and the ids of the documents that came from no source and
    /// failed.
    pub failed: Option<&'a HashSet<String>>,
    /// Returns true for a source, or a document of no source, that may be there, in a place where nobody could look. `None`
    /// if all places were seen.
    pub unseen: Option<&'a (dyn Fn(&str) -> bool + Sync)>,
    /// The effort that embedding took, for the statistics.
    pub embedded: EmbedCounts,
    /// The number of chunks whose end the encoder does not read.
    pub truncated: u64,
}

impl RunSummary<'_> {
    /// Returns true if the run met the source, or could not read or look for it. A document of no source is named by its
    /// id.
    #[must_use]
    pub fn may_hold(&self, source: &str) -> bool {
        self.met.is_some_and(|met| met.contains(source)) || self.missed(source)
    }

    /// Returns true if the run could not read the source, or could not look for it. A document of no source is named by its
    /// id.
    #[must_use]
    pub fn missed(&self, source: &str) -> bool {
        self.failed.is_some_and(|failed| failed.contains(source)) || self.unseen.is_some_and(|unseen| unseen(source))
    }

    /// Returns true if everything could be read.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.unseen.is_none() && self.failed.is_none_or(HashSet::is_empty)
    }
}

/// The result of [`Destination::finish`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Finished {
    /// The numbers.
    pub stats: IndexStats,
    /// The fate of what was written.
    pub publication: Publication,
}

/// The fate of what was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Publication {
    /// The store itself was changed; there was nothing to publish.
    #[default]
    InPlace,
    /// The store was built anew and has taken the place of the old one.
    Published,
    /// The store was built anew, and the old one still serves: the run could not read documents that the old one holds.
    KeptOld {
        /// The ids of these documents.
        lost: Vec<String>,
    },
    /// The store is being built anew, and the run was interrupted: the next run goes on with it.
    Unfinished,
}

/// The numbers of a finished run, and of what the store holds now.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct IndexStats {
    /// The number of documents in the store.
    pub documents: u64,
    /// The number of chunks in the store.
    pub chunks: u64,
    /// The number of documents that this run added or replaced.
    pub documents_written: u64,
    /// The number of chunks that this run wrote.
    pub chunks_written: u64,
    /// The number of documents that this run removed.
    pub documents_removed: u64,
    /// The size of the source texts that this run wrote, in bytes.
    pub bytes: u64,
    /// The number of texts that the encoder was given. Equal texts in a batch count once, known vectors not at all.
    pub texts_embedded: u64,
    /// The number of texts whose vectors were known already.
    pub texts_reused: u64,
    /// The number of texts that were embedded again since their known vectors were damaged.
    pub vectors_rejected: u64,
    /// The number of chunks that this run wrote whose end the encoder does not read.
    pub truncated: u64,
    /// The time in the encoder, in seconds.
    pub embed_seconds: f64,
    /// The time from opening to the end of `finish`, in seconds.
    pub seconds: f64,
}

impl IndexStats {
    /// Adds the effort of embedding.
    pub fn add_embedding(&mut self, embedded: EmbedCounts, truncated: u64) {
        self.texts_embedded += embedded.encoded;
        self.texts_reused += embedded.reused;
        self.vectors_rejected += embedded.rejected;
        self.embed_seconds += embedded.seconds;
        self.truncated += truncated;
    }
}
