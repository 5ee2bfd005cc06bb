use std::path::Path;
use std::sync::Arc;

use pericope_api::Document;

use crate::encoding::{Decoded, DecodedHeading, decode};
use crate::error::ReadError;
use crate::options::ReadOptions;

/// Turns source text into documents.
///
/// Readers never fail on malformed input of their format: what they do not understand is text. Every document holds the
/// invariants of [`Document::check`].
pub trait Reader: Send + Sync {
    /// The name of the format: `markdown`.
    fn name(&self) -> &'static str;

    /// The file extensions of the format, in lower case, without the dot.
    fn extensions(&self) -> &'static [&'static str];

    /// Whether [`decode`](Self::decode) hands the bytes to a parser that cannot promise to end, to stay within memory, or
    /// to leave the process alive, whatever the bytes; false by default. See
    /// [`ReadOptions::isolation`](crate::ReadOptions::isolation).
    fn needs_isolation(&self) -> bool {
        false
    }

    /// Returns the text in the bytes of a file; `path` is for errors.
    ///
    /// By default the bytes are decoded from the encoding that they are in.
    ///
    /// # Errors
    /// [`ReadError::Binary`] and [`ReadError::InvalidUtf8`] where there is no text in them; for a PDF,
    /// [`ReadError::NoText`], [`ReadError::Encrypted`] and [`ReadError::Pdf`].
    fn decode(&self, path: &Path, bytes: Vec<u8>) -> Result<Decoded, ReadError> {
        decode(path, bytes, None)
    }

    /// Reads `source`, which is called `id`, and hands each document in it to `sink`, in order.
    ///
    /// An error takes the place of a part that is broken (a line of JSONL), and the rest goes on.
    fn read(
        &self,
        id: &str,
        source: Arc<str>,
        options: &ReadOptions,
        sink: &mut dyn FnMut(Result<Document, ReadError>),
    );

    /// Reads text that [`decode`](Self::decode) returned with those headings. By default the headings of the format count alone.
    fn read_decoded(
        &self,
        id: &str,
        source: Arc<str>,
        headings: &[DecodedHeading],
        options: &ReadOptions,
        sink: &mut dyn FnMut(Result<Document, ReadError>),
    ) {
        let _ = headings;
        self.read(id, source, options, sink);
    }
}
