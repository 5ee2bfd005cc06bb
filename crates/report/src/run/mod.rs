//! The report of a run: `summary.md`, a self-contained `index.html`, and a table for the terminal.
//!
//! The page loads nothing from anywhere: styles, the charts (inline SVG) and a short script for sorting and filtering
//! are part of it, its content security policy forbids the rest, and it reads in full without the script.

mod browser;
mod files;
mod headline;
pub(crate) mod html;
mod load;
mod many;
mod markdown;
mod reduce;
mod terminal;
pub(crate) mod view;
mod warnings;

use std::path::PathBuf;

use pericope_eval::record::{Item, RunRecord, Summary};

pub use files::{Written, write, write_many};
pub use load::ReportError;
pub use reduce::{Contrast, Failure, Side};
pub use terminal::table;

use reduce::{Choice, Key};

/// What a report is made of.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Report {
    /// What to call the run beside others; the experiment's name where there is none.
    pub label: Option<String>,
    /// The figures, the chunkers' size histograms included.
    pub summary: Summary,
    /// What was run.
    pub run: RunRecord,
    /// The questions on which the chunkers differ most.
    pub contrasts: Vec<Contrast>,
    /// Items without a result, the first twenty.
    pub failures: Vec<Failure>,
    /// The file of all items, where there is one: the report then has a page that shows each of them.
    pub items: Option<PathBuf>,
}

impl Report {
    /// A report from items in memory; [`Report::load`] reads a run's folder.
    #[must_use]
    pub fn new(summary: Summary, run: RunRecord, items: &[Item]) -> Self {
        let mut choice = Choice::new(&summary);
        for item in items {
            choice.see(Key::from(item));
        }
        let failures = std::mem::take(&mut choice.failures);
        let mut chosen = choice.chosen();
        for item in items {
            if chosen.wants(&item.question_id, &item.setting()) {
                chosen.take(item.clone());
            }
        }
        let contrasts = chosen.finish(&summary);
        Self { label: None, summary, run, contrasts, failures, items: None }
    }

    /// The headline sentence: what the run shows, or that it shows nothing.
    #[must_use]
    pub fn headline(&self) -> String {
        headline::headline(&view::View::new(&self.summary)).replace('\u{a0}', " ")
    }

    /// The experiment's name.
    fn name(&self) -> &str {
        if self.summary.name.is_empty() { "Unnamed run" } else { &self.summary.name }
    }

    /// What to call the run beside others.
    fn title(&self) -> &str {
        self.label.as_deref().filter(|label| !label.is_empty()).unwrap_or_else(|| self.name())
    }
}
