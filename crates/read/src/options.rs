use std::fmt;
use std::sync::Arc;

use crate::split::{SentenceSplitter, default_splitter};

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
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { max_bytes: 0, format: None, unknown_as_plain: true, whole_page: false, splitter: default_splitter() }
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
            .finish()
    }
}
