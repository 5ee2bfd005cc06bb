use pericope_store::{ErrorKind, StoreError};

/// The reason why a collection could not be opened, written or searched. Every message is one line that says what to do, where
/// something can be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An address that is none.
    #[error("`{url}` is no Qdrant address: {reason}; write qdrant://HOST:6334/COLLECTION")]
    Target {
        /// The text that was given, without a key.
        url: String,
        /// The fault in it.
        reason: String,
    },
    /// A setting that does not exist, or has no such value.
    #[error("setting `{key}={value}`: {reason}")]
    Setting {
        /// The name of the collection or setting.
        key: String,
        /// The value that was given.
        value: String,
        /// The fault in it.
        reason: String,
    },
    /// The server did not do what was asked, although it was asked several times.
    #[error(
        "{call} failed {attempts} times at {address}: {reason}; is the server up? Run it again when it is: {advice}"
    )]
    GaveUp {
        /// The call.
        call: &'static str,
        /// The number of attempts.
        attempts: u32,
        /// `host:port`.
        address: String,
        /// The last failure.
        reason: String,
        /// The effect of running it again.
        advice: &'static str,
    },
    /// The server said no, and would say it again.
    #[error("{call} was refused by {address}: {reason}")]
    Refused {
        /// The call.
        call: &'static str,
        /// `host:port`.
        address: String,
        /// The server's words.
        reason: String,
    },
    /// The server wants another API key, or one at all.
    #[error("{address} does not accept {}: {reason}; set PERICOPE_QDRANT_API_KEY or QDRANT_API_KEY", if *given { "the API key" } else { "a call without an API key" })]
    Key {
        /// `host:port`.
        address: String,
        /// Whether a key was sent.
        given: bool,
        /// The server's words.
        reason: String,
    },
    /// There is no such collection.
    #[error(
        "there is no collection `{collection}` at {address}; `pericope index PATH --into qdrant://{address}/{collection}` makes one"
    )]
    NoCollection {
        /// The name of the collection or setting.
        collection: String,
        /// `host:port`.
        address: String,
    },
    /// The collection was made by something else.
    #[error(
        "the collection `{collection}` at {address} (server {version}) does not say what it was built with: another program made it, or the server is older than 1.16; name another collection"
    )]
    NotOurs {
        /// The name of the collection or setting.
        collection: String,
        /// `host:port`.
        address: String,
        /// The server's version.
        version: String,
    },
    /// The collection was written in another format.
    #[error(
        "the collection `{collection}` has format {found}, this program reads {known}; index again with `--rebuild`"
    )]
    Format {
        /// The name of the collection or setting.
        collection: String,
        /// The collection's format.
        found: String,
        /// The format that this program reads and writes.
        known: u32,
    },
    /// The collection was made with another segmenter, embedder, tokenizer or option.
    #[error(
        "the collection `{collection}` was built with {what} `{found}`, not `{asked}`; ask for that one, name another collection or use `--rebuild`"
    )]
    Mismatch {
        /// The name of the collection or setting.
        collection: String,
        /// The ingredient that differs.
        what: String,
        /// The collection's value.
        found: String,
        /// The caller's value.
        asked: String,
    },
    /// A rebuild of a collection that is no alias.
    #[error(
        "`{collection}` at {address} is a collection, not an alias, so that a rebuild cannot take its place; index into another name"
    )]
    NotAnAlias {
        /// The name of the collection or setting.
        collection: String,
        /// `host:port`.
        address: String,
    },
    /// An evaluation would put its own collection in the place of one that is there for something else.
    #[error(
        "`{name}` at {address} stands for the collection `{collection}`, which no evaluation made, and a chunker would be measured in its place; name another collection as retrieval.in, or delete this one"
    )]
    NotOfEvaluation {
        /// The name of the alias.
        name: String,
        /// The collection behind it, or of an earlier rebuild.
        collection: String,
        /// `host:port`.
        address: String,
    },
    /// A newer rebuild was published while this one was built.
    #[error(
        "`{name}` at {address} stands for `{newer}` by now, which is newer than this rebuild `{collection}`: searches find the newer one, and the next rebuild deletes `{collection}`"
    )]
    Superseded {
        /// The name of the alias.
        name: String,
        /// The collection that was to be published.
        collection: String,
        /// The collection that is published.
        newer: String,
        /// `host:port`.
        address: String,
    },
    /// The collection to be published is not there any more.
    #[error(
        "`{collection}` at {address} was deleted while it was built, perhaps by a newer rebuild of `{name}`; run it again"
    )]
    Gone {
        /// The name of the alias.
        name: String,
        /// The collection that was to be published.
        collection: String,
        /// `host:port`.
        address: String,
    },
    /// The new collection is published, and an older one could not be deleted.
    #[error(
        "`{name}` stands for `{published}` now, but an older collection could not be deleted: {reason}; the next rebuild deletes it"
    )]
    NotDropped {
        /// The name of the alias.
        name: String,
        /// The collection that is published.
        published: String,
        /// The reason.
        reason: String,
    },
    /// The server's answer contradicts the protocol or itself.
    #[error("{call}: {address} gave an answer that cannot be used: {reason}")]
    Answer {
        /// The call.
        call: &'static str,
        /// `host:port`.
        address: String,
        /// The fault in it.
        reason: String,
    },
    /// The server's answer is larger than the settings allow.
    #[error(
        "{call}: the answer of {address} is larger than {limit} bytes; ask for fewer at a time, or raise `message_bytes` in the address"
    )]
    TooLarge {
        /// The call.
        call: &'static str,
        /// `host:port`.
        address: String,
        /// The setting `message_bytes`.
        limit: usize,
    },
    /// A point of the collection that this program did not write.
    #[error(
        "the point {id} of the collection `{collection}` is no chunk: {reason}; another program wrote it: delete it, or build the collection anew with `--rebuild`"
    )]
    NotAChunk {
        /// The name of the collection.
        collection: String,
        /// The id of the point.
        id: String,
        /// The fault in it.
        reason: String,
    },
    /// A collection to be made would have the name of an alias, behind which another corpus may be.
    #[error(
        "`{collection}` at {address} is an alias for `{behind}`, so that no collection can be made under that name; index into another name"
    )]
    IsAnAlias {
        /// The name.
        collection: String,
        /// The collection behind it.
        behind: String,
        /// `host:port`.
        address: String,
    },
    /// A vector that is not of the collection's length, or not there.
    #[error("{what} has {found} dimensions, the collection `{collection}` {expected}")]
    Dimension {
        /// The bearer of the vector: a chunk or the query.
        what: String,
        /// The name of the collection.
        collection: String,
        /// The number of dimensions that it has.
        found: usize,
        /// The number of dimensions that it should have.
        expected: usize,
    },
    /// A point that cannot be stored.
    #[error("chunk {ordinal} of `{document}`: {reason}")]
    BadPoint {
        /// The id of its document.
        document: String,
        /// The number of the chunk among the document's chunks, from 0.
        ordinal: usize,
        /// The fault in it.
        reason: String,
    },
    /// Dense search on a collection without vectors.
    #[error(
        "the collection `{collection}` was built without an embedder, so it knows no dense search; use `--mode bm25`"
    )]
    NoVectors {
        /// The name of the collection or setting.
        collection: String,
    },
    /// Dense search without the query's vector.
    #[error("{mode} search needs the query's vector, made by the embedder that the collection was built with")]
    NoQueryVector {
        /// The mode that was asked for.
        mode: crate::Mode,
    },
    /// An earlier batch was not stored.
    #[error("an earlier write failed, so that nothing more is written; open a new writer")]
    Poisoned,
    /// The runtime or the connection could not be set up.
    #[error("{what}: {reason}")]
    Setup {
        /// The part that could not be set up.
        what: String,
        /// The reason.
        reason: String,
    },
}

impl From<Error> for StoreError {
    fn from(error: Error) -> Self {
        let kind = match &error {
            Error::Target { .. }
            | Error::Setting { .. }
            | Error::NotAnAlias { .. }
            | Error::NotOfEvaluation { .. }
            | Error::IsAnAlias { .. } => ErrorKind::Address,
            Error::GaveUp { .. } => ErrorKind::Unavailable,
            Error::Superseded { .. } | Error::Gone { .. } => ErrorKind::Busy,
            Error::NotAChunk { .. } => ErrorKind::Damaged,
            Error::Key { .. } => ErrorKind::Denied,
            Error::NoCollection { .. } => ErrorKind::NotFound,
            Error::NotOurs { .. } => ErrorKind::NotAStore,
            Error::Format { .. } => ErrorKind::Format,
            Error::Mismatch { .. } | Error::Dimension { .. } => ErrorKind::Mismatch,
            Error::BadPoint { .. } => ErrorKind::Input,
            Error::NoVectors { .. } => ErrorKind::NoVectors,
            Error::NoQueryVector { .. } => ErrorKind::NoEncoder,
            Error::Refused { .. }
            | Error::NotDropped { .. }
            | Error::Answer { .. }
            | Error::TooLarge { .. }
            | Error::Poisoned
            | Error::Setup { .. } => ErrorKind::Other,
        };
        StoreError::backend(kind, error)
    }
}
