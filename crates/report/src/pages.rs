//! The pages of nightly runs, as `pericope-nightly` asks for them.

use std::path::Path;

use pericope_nightly::{PageError, PageParts, Pages};

use crate::nightly;
use crate::run::{Report, write};

/// Writes the reports of runs and the nightly page.
#[derive(Debug, Clone, Copy, Default)]
pub struct HtmlPages;

impl Pages for HtmlPages {
    fn run_report(&self, run: &Path) -> Result<(), PageError> {
        write(run, &Report::load(run)?)?;
        Ok(())
    }

    fn nightly_page(&self, parts: &PageParts<'_>) -> Result<String, PageError> {
        Ok(nightly::page(parts)?)
    }
}
