//! Segmenters against documents whose boundaries are known: reading the data sets of the field, running segmenters
//! over them, scoring and comparing. Pages and plots are `pericope-report`'s.
#![forbid(unsafe_code)]

pub mod compare;
pub mod config;
pub mod evaluate;
pub mod read;
pub mod tune;
