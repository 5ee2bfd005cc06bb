//! The pages that people read, which another crate writes.

use std::path::Path;

use pericope_eval::record::{RunRecord, Summary};
use pericope_eval::run::ItemSink;

use crate::conclude::Conclusion;
use crate::history::{History, RunHeader};

/// The error of a page that could not be written, in one sentence.
pub type PageError = Box<dyn std::error::Error + Send + Sync>;

/// The content of the nightly page.
pub struct PageParts<'a> {
    /// The last nightly run, compared and judged.
    pub conclusion: &'a Conclusion,
    /// The runs before.
    pub history: &'a History,
    /// All runs, oldest first.
    pub heads: &'a [RunHeader],
    /// The number of the run that was pinned by hand.
    pub pinned: Option<u32>,
    /// Whether the full report of a run is there, by its number.
    pub has_report: &'a dyn Fn(u32) -> bool,
}

/// Writes pages. `pericope-report` has the one that ships.
pub trait Pages {
    /// Begins the report of a run that begins.
    fn run_report(&self) -> Box<dyn RunPages>;

    /// Returns the nightly page as HTML.
    ///
    /// # Errors
    /// Where the history cannot be read.
    fn nightly_page(&self, parts: &PageParts<'_>) -> Result<String, PageError>;

    /// Returns the nightly run in short, as Markdown; `base` is the address of the history's folder, empty for relative
    /// links, and `report` says whether the run's full report is there.
    fn nightly_summary(&self, conclusion: &Conclusion, base: &str, report: bool) -> String;
}

/// The report of one run on its way: it sees the items while they are made.
pub trait RunPages: ItemSink {
    /// Writes the report of the finished run into its folder.
    ///
    /// # Errors
    /// Where a file of the run cannot be read or the report cannot be written.
    fn write(self: Box<Self>, run: &Path, summary: &Summary, record: &RunRecord) -> Result<(), PageError>;
}

impl RunPages for () {
    fn write(self: Box<Self>, _: &Path, _: &Summary, _: &RunRecord) -> Result<(), PageError> {
        Ok(())
    }
}

/// No pages: the files for programs are written all the same.
impl Pages for () {
    fn run_report(&self) -> Box<dyn RunPages> {
        Box::new(())
    }

    fn nightly_page(&self, _: &PageParts<'_>) -> Result<String, PageError> {
        Ok(String::new())
    }

    fn nightly_summary(&self, _: &Conclusion, _: &str, _: bool) -> String {
        String::new()
    }
}
