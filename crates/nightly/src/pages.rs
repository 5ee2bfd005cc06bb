//! The pages that people read, which another crate writes.

use std::path::Path;

use crate::conclude::Conclusion;
use crate::history::{Head, History};

/// The error of a page that could not be written, in one sentence.
pub type PageError = Box<dyn std::error::Error + Send + Sync>;

/// The content of the nightly page.
pub struct PageParts<'a> {
    /// The last nightly run, compared and judged.
    pub conclusion: &'a Conclusion,
    /// The runs before.
    pub history: &'a History,
    /// All runs, oldest first.
    pub heads: &'a [Head],
    /// The number of the run that was pinned by hand.
    pub pinned: Option<u32>,
    /// Whether the full report of a run is there, by its number.
    pub has_report: &'a dyn Fn(u32) -> bool,
}

/// Writes pages. `pericope-report` has the one that ships.
pub trait Pages {
    /// Writes the report of a finished run into its folder.
    ///
    /// # Errors
    /// Where a file of the run cannot be read or the report cannot be written.
    fn run_report(&self, run: &Path) -> Result<(), PageError>;

    /// Returns the nightly page as HTML.
    ///
    /// # Errors
    /// Where the history cannot be read.
    fn nightly_page(&self, parts: &PageParts<'_>) -> Result<String, PageError>;
}

/// No pages: the files for programs are written all the same.
impl Pages for () {
    fn run_report(&self, _: &Path) -> Result<(), PageError> {
        Ok(())
    }

    fn nightly_page(&self, _: &PageParts<'_>) -> Result<String, PageError> {
        Ok(String::new())
    }
}
