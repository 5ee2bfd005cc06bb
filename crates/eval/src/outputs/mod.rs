//! Files that other programs read: test reports of continuous integration ([`junit`]), badges ([`badge`]) and figures for
//! monitoring ([`OpenMetrics`]). They know checks, words and numbers alone; what is a check, its command says.

mod badge;
mod junit;
mod open_metrics;
mod run;

pub use badge::{Colour, badge};
pub use junit::{Outcome, Suite, TestCase, junit};
pub use open_metrics::{Label, OpenMetrics, label};
pub use run::{cell_labels, chunker_figures, run_figures};

#[cfg(test)]
mod tests;
