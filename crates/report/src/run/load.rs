//! A report from a run's folder.

use std::path::Path;

use pericope_eval::record::{ITEMS, ItemReader};
use pericope_eval::run::ItemSink;

use super::collect::Collector;
use super::error::ReportError;
use super::read::whole;
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
        for item in ItemReader::open(&run_dir.join(ITEMS))? {
            let (item, offset) = item?;
            collector.take(&item, offset);
        }
        collector.finish(run_dir, summary, run)
    }
}
