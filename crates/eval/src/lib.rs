#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod answer;
mod clock;
pub mod config;
pub mod data;
mod digest;
pub mod metrics;
pub mod nightly;
pub mod report;
pub mod run;
pub mod segmentation;
pub mod stats;
pub mod summary;
pub mod sweep;
mod text;
