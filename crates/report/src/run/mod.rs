//! The report of a run: `summary.md`, a self-contained `index.html`, `items.html`, and a table for the terminal.
//!
//! A [`Collector`] sees the items while the run makes them, so that nothing is read again but the few lines that are
//! shown in full.

mod choose;
mod collect;
mod decision;
mod error;
mod facts;
mod files;
mod headline;
mod html;
mod items;
mod load;
mod markdown;
mod overview;
mod passages;
mod read;
mod report;
mod terminal;
mod view;
mod warnings;

pub use collect::Collector;
pub(crate) use decision::{Figure, outcome};
pub use error::ReportError;
pub(crate) use facts::facts as run_facts;
pub use files::{Overview, Written, write, write_many};
pub use items::Items;
pub(crate) use read::whole;
pub use report::{Contrast, Failure, Report, Side};
pub use terminal::table;
pub(crate) use view::decided;
