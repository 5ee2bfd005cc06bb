//! The pages of nightly runs, as `pericope-nightly` asks for them.

use std::path::Path;

use pericope_eval::record::{RunRecord, Summary};
use pericope_nightly::{Conclusion, PageError, PageParts, Pages, RunPages};

use crate::nightly;
use crate::run::{Collector, write};

/// Writes the reports of runs and the nightly page.
#[derive(Debug, Clone, Copy, Default)]
pub struct HtmlPages;

impl Pages for HtmlPages {
    fn run_report(&self) -> Box<dyn RunPages> {
        Box::new(Collector::default())
    }

    fn nightly_page(&self, parts: &PageParts<'_>) -> Result<String, PageError> {
        Ok(nightly::page(parts)?)
    }

    fn nightly_summary(&self, conclusion: &Conclusion, base: &str, report: bool) -> String {
        nightly::summary(conclusion, base, report)
    }
}

impl RunPages for Collector {
    fn write(self: Box<Self>, run: &Path, summary: &Summary, record: &RunRecord) -> Result<(), PageError> {
        write(run, &self.finish(run, summary.clone(), record.clone())?)?;
        Ok(())
    }
}
