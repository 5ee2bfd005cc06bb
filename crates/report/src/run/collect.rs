//! Collecting what a report needs of a run's items, each of which is seen once.

use std::path::Path;

use pericope_eval::config::redact;
use pericope_eval::record::{ITEMS, Item, RunRecord, Status, Summary};
use pericope_eval::run::ItemSink;

use super::choose::{Seen, choose, contrasts, reason};
use super::error::ReportError;
use super::items::Items;
use super::read::items_at;
use super::report::{Failure, Report};

/// Failures that are listed one by one.
const FAILURES: usize = 20;

/// Sees every item of a run once, while the run makes it, and holds what the report and the page of all items need: the
/// scores, the failures, the items as the page shows them, and where each stands in its file.
#[derive(Debug, Default)]
pub struct Collector {
    items: Items,
    seen: Seen,
    failures: Vec<Failure>,
}

impl ItemSink for Collector {
    fn take(&mut self, item: &Item, offset: u64) {
        let failed = item.status == Status::Failed;
        if failed && self.failures.len() < FAILURES {
            self.failures.push(Failure {
                question_id: item.question_id.clone(),
                chunker: item.chunker.clone(),
                setting: format!("{}, {}", item.mode, item.cutoff.label()),
                error: reason(item),
            });
        }
        let (question, setting, scores) = self.items.take(item);
        self.seen.add(question, setting, if failed { &[] } else { &scores }, offset);
    }
}

impl Collector {
    /// Returns the report of the finished run in `run_dir`. Of its `items.jsonl`, only the lines of the questions that are
    /// shown in full are read.
    ///
    /// # Errors
    /// [`ReportError::Read`] where the file is missing, [`ReportError::Moved`] where such a line is not an item.
    pub fn finish(self, run_dir: &Path, summary: Summary, run: RunRecord) -> Result<Report, ReportError> {
        let path = run_dir.join(ITEMS);
        let label = run_dir.file_name().map(|name| name.to_string_lossy().into_owned());
        self.report(label, summary, run, |offsets| items_at(&path, offsets))
    }

    fn report<E>(
        self,
        label: Option<String>,
        summary: Summary,
        run: RunRecord,
        fetch: impl FnOnce(&[u64]) -> Result<Vec<Item>, E>,
    ) -> Result<Report, E> {
        // A run of an older program may have written more of its configuration.
        let mut run = run;
        redact(&mut run.config);
        let chosen = choose(&summary, &self.items, &self.seen);
        let contrasts = contrasts(&summary, &chosen, fetch(&chosen.offsets)?);
        Ok(Report { label, summary, run, contrasts, failures: self.failures, items: Some(self.items) })
    }
}

impl Report {
    /// Returns a report of items in memory, without a page of all items; [`Report::load`] reads a run's folder.
    #[must_use]
    pub fn new(summary: Summary, run: RunRecord, items: &[Item]) -> Self {
        let mut collector = Collector::default();
        items.iter().zip(0..).for_each(|(item, place)| collector.take(item, place));
        let at = |place: &u64| items.get(usize::try_from(*place).ok()?).cloned();
        let fetch = |places: &[u64]| Ok::<_, std::convert::Infallible>(places.iter().filter_map(at).collect());
        match collector.report(None, summary, run, fetch) {
            Ok(report) => Self { items: None, ..report },
            Err(never) => match never {},
        }
    }
}
