//! Every night the same experiment: what got worse since the last good night, and since the baseline.
//!
//! [`run`] takes the lock, runs the experiment into `nights/NNNNNN/` of the history's folder, compares, judges the
//! `[[gate]]`s, adds the night to `history.db` in one transaction, writes the page, `latest.json`, `feed.xml`,
//! `summary.md`, `junit.xml`, `badge.svg` and `metrics.prom`, removes old run folders, and tells who asked to be told.
//! Everything after the run can be done again from the history alone ([`review`]).
#![forbid(unsafe_code)]

pub mod compare;
mod conclude;
mod feed;
mod files;
mod gates;
pub mod gather;
pub mod history;
mod hook;
mod latest;
mod lock;
mod night;
mod notify;
mod outputs;
mod pages;
mod retention;
mod tonight;

use std::path::{Path, PathBuf};

pub use conclude::{ComparisonTarget, Conclusion, conclude};
pub use files::{Written, write};
pub use gates::{Check, Evidence, Kind, State, judge};
pub use history::{History, HistoryError};
pub use latest::report_link;
pub use lock::Lock;
pub use night::{Asked, NightlyCell, NightlyRun, Program, Timing, Verdict};
pub use notify::{tell, tell_error};
pub use pages::{PageError, PageParts, Pages, RunPages};
pub use tonight::{Job, Outcome, review, run, run_on};

use pericope_eval::run::RunError;

/// Folder of the history where neither the command nor the configuration names one.
pub const DEFAULT_FOLDER: &str = "reports/nightly";

/// Why a night could not be finished.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NightlyError {
    /// Another night is running in the same folder.
    #[error("another run holds {path} ({who}): two nights never overlap; wait for it, or use another --history", path = path.display())]
    Locked {
        /// The lock.
        path: PathBuf,
        /// What the other run wrote into it.
        who: String,
    },
    /// The history.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// The run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A page: the run's report, or the nightly page.
    #[error(transparent)]
    Page(#[from] PageError),
    /// A file or folder cannot be read or written.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file of a run is not what it should be.
    #[error("{path}: {problem}", path = path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// The night was run but is not in the history.
    #[error("{source}; the night's run is whole in {folder}: the same command takes it up again", folder = folder.display())]
    NotKept {
        /// Why.
        source: Box<HistoryError>,
        /// The run's folder.
        folder: PathBuf,
    },
    /// There is no night to speak of.
    #[error("the history in {path} has no night yet", path = path.display())]
    Empty {
        /// The history's folder.
        path: PathBuf,
    },
}

impl NightlyError {
    pub(crate) fn io(path: &Path) -> impl Fn(std::io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| NightlyError::Io { path: path.clone(), source }
    }

    /// True where usage or configuration is wrong, rather than the run or the system failing.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        match self {
            NightlyError::Run(error) => matches!(error, RunError::Config(_) | RunError::Data(_)),
            NightlyError::History(error) => error.is_usage(),
            NightlyError::Empty { .. } => true,
            _ => false,
        }
    }
}
