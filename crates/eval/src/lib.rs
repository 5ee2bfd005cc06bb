#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod answer;
pub mod asking;
pub mod calibrate;
pub mod cell;
pub mod classification;
pub mod comparison;
pub mod config;
pub mod data;
pub mod format;
pub mod metric;
pub mod metrics;
pub mod outputs;
pub mod record;
pub mod resolved;
pub mod retriever;
pub mod run;
pub mod stats;
pub mod sweep;
mod text;
