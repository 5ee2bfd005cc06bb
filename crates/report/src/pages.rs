//! The pages of nightly runs, as `pericope-nightly` asks for them.

use std::path::Path;

use pericope_eval::record::{Item, RunRecord, Summary};
use pericope_eval::run::ItemSink;
use pericope_nightly::{PageError, PageParts, Pages, RunPages};

use crate::nightly;
use crate::run::{Report, write};

/// Writes the reports of runs and the nightly page.
#[derive(Debug, Clone, Copy, Default)]
pub struct HtmlPages;

impl Pages for HtmlPages {
    fn run_report(&self) -> Box<dyn RunPages> {
        Box::new(RunReport)
    }

    fn nightly_page(&self, parts: &PageParts<'_>) -> Result<String, PageError> {
        Ok(nightly::page(parts)?)
    }
}

/// The report of a run that is going on.
struct RunReport;

impl ItemSink for RunReport {
    fn take(&mut self, _: &Item, _: u64) {}
}

impl RunPages for RunReport {
    fn write(self: Box<Self>, run: &Path, _: &Summary, _: &RunRecord) -> Result<(), PageError> {
        write(run, &Report::load(run)?)?;
        Ok(())
    }
}
