//! The settings of a run, its progress, and its outcome.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use pericope_store::{EmbedCounts, RunSummary, VectorCache};

/// Memory for what is on its way through the stages, unless told otherwise.
pub const DEFAULT_MEMORY: usize = 512 << 20;

/// The settings of a run.
#[derive(Clone)]
pub struct Options {
    /// Threads that read, and threads that segment; 0 for one a core.
    pub threads: usize,
    /// Bytes for what is between the reader and the destination. A source that needs more than all of it goes through
    /// alone.
    pub memory: usize,
    /// The time that reading a document may take, and then cutting it, and as long again for each megabyte of it; zero,
    /// the default, is no limit. A document that takes longer has failed, and the run goes on. The thread that works on
    /// it is left behind: it cannot be ended, and keeps its memory until it comes to an end by itself. After 16 of them
    /// nothing more is read.
    pub time: Duration,
    /// Believes a stamp (size, time, number of the file) that has not changed, rather than hash the source.
    pub trust_stamps: bool,
    /// Sources that are hashed even so, since something is known to have happened to them.
    pub distrust: HashSet<String>,
    /// Asked for vectors after the destination itself, and given those that are new.
    pub cache: Option<Arc<dyn VectorCache>>,
    /// Set by somebody else to end the run early, within about a second: what is complete is written, the rest left for the
    /// next run. Threads that are in the middle of a document end after it.
    pub stop: Arc<AtomicBool>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threads: 0,
            memory: DEFAULT_MEMORY,
            time: Duration::ZERO,
            trust_stamps: false,
            distrust: HashSet::new(),
            cache: None,
            stop: Arc::default(),
        }
    }
}

/// A document or source that was not indexed, or not in full.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The id or name; empty if the reason names it.
    pub document: String,
    /// The reason, in one line.
    pub reason: String,
    /// Whether only a part of it is missing, and the rest is indexed.
    pub in_part: bool,
}

impl Failure {
    /// Returns the failure of a whole document or source.
    #[must_use]
    pub fn new(document: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { document: document.into(), reason: reason.into(), in_part: false }
    }
}

/// The progress of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Sources that are done: read and written, unchanged, or failed.
    pub sources: u64,
    /// Of these, those that had not changed.
    pub unchanged: u64,
    /// Documents written.
    pub documents: u64,
    /// Documents that the destination held as they are: their source changed elsewhere.
    pub same: u64,
    /// Documents removed, since their source has them no more.
    pub removed: u64,
    /// Chunks written.
    pub chunks: u64,
    /// Documents that have no text, those of sources that had not changed among them: nothing of them is indexed.
    pub empty: u64,
    /// Bytes of the sources of the documents written.
    pub bytes: u64,
    /// Documents and parts of sources that failed.
    pub failed: u64,
}

/// The outcome of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// The totals.
    pub progress: Progress,
    /// Everything that failed, in the order of the input.
    pub failures: Vec<Failure>,
    /// Documents that were read and have no text, in the order of the input.
    pub empty: Vec<String>,
    /// Names of the sources that were met, read or not.
    pub met: HashSet<String>,
    /// Names of the sources of which some part failed, and of documents of no source that failed.
    pub failed: HashSet<String>,
    /// Names of the sources that were read, and hold something that was not there in this form.
    pub written: Vec<String>,
    /// The effort that embedding took.
    pub embedded: EmbedCounts,
    /// Chunks whose end the encoder does not read: those with more tokens than it reads, or those that it says it cut in
    /// this run, whichever are more.
    pub truncated: u64,
    /// Whether the run was ended early by [`Options::stop`].
    pub interrupted: bool,
}

impl Report {
    /// Returns the summary that [`Destination::finish`](pericope_store::Destination::finish) asks for, of a run that could look for all sources.
    #[must_use]
    pub fn summary(&self) -> RunSummary<'_> {
        RunSummary {
            interrupted: self.interrupted,
            met: Some(&self.met),
            failed: Some(&self.failed),
            unseen: None,
            embedded: self.embedded,
            truncated: self.truncated,
        }
    }
}
