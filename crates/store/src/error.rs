use std::error::Error;

use pericope_api::{EncodeError, RerankError};

/// The reason why a store could not be written or searched. Every message is one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A chunk does not fit its document.
    #[error("chunk {ordinal} of `{document}`: {reason}")]
    BadChunk {
        /// The id of the document.
        document: String,
        /// The place of the chunk in the list that was given, from 0.
        ordinal: usize,
        /// The fault in it.
        reason: String,
    },
    /// Chunks were to be read within their document, and behind their headings or contexts too.
    #[error(
        "late chunking reads documents as they are: it goes neither with heading prefixes nor with contexts of chunks"
    )]
    LateChunking,
    /// The encoder failed.
    #[error(transparent)]
    Encoder(#[from] EncodeError),
    /// The encoder answered with something that is not one vector a text.
    #[error("the embedder `{name}` broke its promise: {reason}")]
    EncoderOutput {
        /// The embedder's name.
        name: String,
        /// The fault in its answer.
        reason: String,
    },
    /// The reranker failed, or did not give one finite score a passage.
    #[error(transparent)]
    Reranker(#[from] RerankError),
    /// Dense search was asked for without the encoder that made the vectors.
    #[error("dense search needs the embedder `{name}` that the index was built with, to embed the query")]
    NoEncoder {
        /// The embedder's name.
        name: String,
    },
    /// An earlier call failed halfway, so that nothing more may be committed.
    #[error("an earlier write failed; open the index again: it is as it was at the last commit")]
    Poisoned,
    /// One particular store failed.
    #[error("{error}")]
    Backend {
        /// The kind of the failure.
        kind: ErrorKind,
        /// The store's own error.
        error: Box<dyn Error + Send + Sync>,
    },
}

/// The kinds of failures that callers treat differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is no store at the address.
    NotFound,
    /// Something else is at the address.
    NotAStore,
    /// The store was built with something else: another segmenter, embedder, tokenizer or dimension.
    Mismatch,
    /// The store has a format of another version.
    Format,
    /// The store keeps no vectors.
    NoVectors,
    /// The query's encoder is missing.
    NoEncoder,
    /// The address or a setting in it is wrong.
    Address,
    /// The server wants another key.
    Denied,
    /// Another process has the store.
    Busy,
    /// Files are damaged or missing.
    Damaged,
    /// A server does not answer.
    Unavailable,
    /// A chunk does not fit its document.
    Input,
    /// The encoder failed or broke its promise.
    Encoder,
    /// The reranker failed or broke its promise.
    Reranker,
    /// Anything else.
    Other,
}

impl ErrorKind {
    /// Returns true if the caller can mend it by asking for something else, before anything runs.
    #[must_use]
    pub fn is_usage(self) -> bool {
        use ErrorKind::{Address, Denied, Format, Mismatch, NoEncoder, NoVectors, NotAStore, NotFound};
        matches!(self, NotFound | NotAStore | Mismatch | Format | NoVectors | NoEncoder | Address | Denied)
    }
}

impl StoreError {
    /// Wraps the error of one particular store.
    pub fn backend(kind: ErrorKind, error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Backend { kind, error: error.into() }
    }

    /// Returns the kind.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::BadChunk { .. } | Self::LateChunking => ErrorKind::Input,
            Self::Encoder(_) | Self::EncoderOutput { .. } => ErrorKind::Encoder,
            Self::Reranker(_) => ErrorKind::Reranker,
            Self::NoEncoder { .. } => ErrorKind::NoEncoder,
            Self::Poisoned => ErrorKind::Other,
            Self::Backend { kind, .. } => *kind,
        }
    }

    /// Returns the store's own error, if it is of that type.
    #[must_use]
    pub fn downcast<E: Error + 'static>(&self) -> Option<&E> {
        match self {
            Self::Backend { error, .. } => error.downcast_ref(),
            _ => None,
        }
    }
}
