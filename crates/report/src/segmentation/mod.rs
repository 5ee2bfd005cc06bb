//! The report of an evaluation: `summary.json`, `documents.jsonl`, `segments.md`, a self-contained `index.html`, and the
//! plots as SVG files.

mod beside;
mod files;
mod lines;
mod markdown;
mod page;
pub mod plot;
mod report;
#[cfg(test)]
pub(crate) mod samples;
mod text;

pub use report::{Report, SegmentReportError, SetFacts};
pub use text::EMBEDDED_WITHIN;
