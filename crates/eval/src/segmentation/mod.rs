//! Segmenters against documents whose boundaries are known: reading, scoring, plots and reports.

pub mod compare;
pub mod config;
pub mod evaluate;
pub mod plot;
pub mod read;
pub mod report;
