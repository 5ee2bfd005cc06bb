use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::encoding::Decoded;
use crate::error::ReadError;
use crate::split::{SentenceSplitter, default_splitter};

/// Takes the text out of files whose parser is not to be trusted with this process ([`Reader::needs_isolation`]).
///
/// `WorkerPool`, which is there with the feature `pdf`, is one.
///
/// [`Reader::needs_isolation`]: crate::Reader::needs_isolation
pub trait Isolation: Send + Sync {
    /// Returns the text in the bytes of a file, as the [`Reader`](crate::Reader) of that format would; `path` is for
    /// errors.
    ///
    /// # Errors
    /// Those of the reader, and [`ReadError::Worker`] where the file broke what was reading it.
    fn decode(&self, format: &str, path: &Path, bytes: Vec<u8>) -> Result<Decoded, ReadError>;
}

/// The settings of reading.
#[derive(Clone)]
pub struct ReadOptions {
    /// The size in bytes above which files are refused; 0, the default, is no limit.
    pub max_bytes: u64,
    /// The name of the format ([`formats`](crate::formats)), whatever the file is called. By default the extension of
    /// the file decides.
    pub format: Option<String>,
    /// Whether text files with an unknown extension, or with none, are read as plain text; true by default.
    pub unknown_as_plain: bool,
    /// Whether HTML pages are read with their navigation, banners, footers and asides; false by default.
    pub whole_page: bool,
    /// The splitter that cuts running text into sentences.
    pub splitter: Arc<dyn SentenceSplitter>,
    /// Where files are decoded whose parser may take any amount of time and memory, or end the process. `None`, the
    /// default, decodes them in this process, without any limit.
    pub isolation: Option<Arc<dyn Isolation>>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            max_bytes: 0,
            format: None,
            unknown_as_plain: true,
            whole_page: false,
            splitter: default_splitter(),
            isolation: None,
        }
    }
}

impl fmt::Debug for ReadOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadOptions")
            .field("max_bytes", &self.max_bytes)
            .field("format", &self.format)
            .field("unknown_as_plain", &self.unknown_as_plain)
            .field("whole_page", &self.whole_page)
            .field("splitter", &self.splitter.name())
            .field("isolation", &self.isolation.is_some())
            .finish()
    }
}
