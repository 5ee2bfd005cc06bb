//! Where a pipeline leads.

use std::sync::Arc;

use pericope_api::Embeddings;

use crate::cache::VectorCache;
use crate::manifest::{Known, Origin, SourceRecord};
use crate::{EmbedCounts, Embedding, Entry, IndexError};

/// A document on its way to a destination, without its chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentHead {
    /// Its id.
    pub id: String,
    /// Hash of all that its chunks are made from; see [`document_hash`](crate::document_hash).
    pub hash: u128,
    /// Bytes of its source text.
    pub bytes: u64,
    /// Where it came from, where that has a name.
    pub origin: Option<Origin>,
}

/// Takes documents in the form of chunks with their vectors, and remembers what it took.
///
/// A document goes in by [`begin`](Self::begin), any number of [`put`](Self::put), [`end`](Self::end), and replaces all
/// that was there under its id. Nothing counts before [`commit`](Self::commit), which a destination may also call by
/// itself at the end of a document. A run that breaks off anywhere, and is repeated, must end where an unbroken run does.
///
/// [`IndexWriter`](crate::IndexWriter) is one, and so is [`ChunkingIndexWriter`](crate::plugin::ChunkingIndexWriter)
/// around somebody else's tantivy index.
pub trait Destination {
    /// How chunks are to be embedded; nothing where no vectors are kept.
    fn embedding(&self) -> Option<Embedding> {
        None
    }

    /// A word without spaces that changes whenever the same source could become other chunks or vectors (by another
    /// segmenter, embedder, tokenizer or reader). What was written under another one is read again.
    fn fingerprint(&self) -> String {
        "-".to_owned()
    }

    /// Vectors that the destination holds, and that need not be computed again.
    fn vectors(&self) -> Option<Arc<dyn VectorCache>> {
        None
    }

    /// The sources that were recorded, as of the last commit. By default none: every run writes everything.
    ///
    /// # Errors
    /// Where the destination cannot be read.
    fn known(&mut self) -> Result<Known, IndexError> {
        Ok(Known::default())
    }

    /// Begins a document: its chunks replace those that are there.
    ///
    /// # Errors
    /// Where the destination fails; nothing more is committed then. So with the other methods.
    fn begin(&mut self, document: &DocumentHead) -> Result<(), IndexError>;

    /// The next chunks of the document, in order. `vectors` has one row an entry, or none at all without an embedder.
    ///
    /// # Errors
    /// As [`begin`](Self::begin).
    fn put(&mut self, entries: Vec<Entry>, vectors: Embeddings) -> Result<(), IndexError>;

    /// The document is complete.
    ///
    /// # Errors
    /// As [`begin`](Self::begin).
    fn end(&mut self) -> Result<(), IndexError>;

    /// Removes a document; says whether there was any chunk of it.
    ///
    /// # Errors
    /// As [`begin`](Self::begin).
    fn remove(&mut self, document: &str) -> Result<bool, IndexError>;

    /// Records a source, all of whose documents have been written, or forgets it (nothing).
    ///
    /// # Errors
    /// As [`begin`](Self::begin).
    fn record(&mut self, source: &str, record: Option<SourceRecord>) -> Result<(), IndexError> {
        let _ = (source, record);
        Ok(())
    }

    /// What embedding took, and how many chunks are longer than the encoder reads: for the destination's statistics.
    fn account(&mut self, embedded: EmbedCounts, truncated: u64) {
        let _ = (embedded, truncated);
    }

    /// Makes all of this durable and visible.
    ///
    /// # Errors
    /// As [`begin`](Self::begin).
    fn commit(&mut self) -> Result<(), IndexError>;
}
