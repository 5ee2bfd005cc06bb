//! A report from a run's folder.

use std::path::Path;

use pericope_eval::run::ItemSink;

use super::collect::Collector;
use super::error::ReportError;
use super::read::{each_item, whole};
use super::report::Report;

impl Report {
    /// Reads `run.json`, `summary.json` and `items.jsonl` of a run's folder. The items are streamed once.
    ///
    /// # Errors
    /// [`ReportError::Read`] where a file is missing, [`ReportError::Parse`] where one is damaged.
    pub fn load(run_dir: &Path) -> Result<Self, ReportError> {
        let run = whole(&run_dir.join("run.json"))?;
        let summary = whole(&run_dir.join("summary.json"))?;
        let mut collector = Collector::default();
        each_item(&run_dir.join("items.jsonl"), |item, offset| collector.take(item, offset))?;
        collector.finish(run_dir, summary, run)
    }
}
