//! Pages, tables and charts of runs, classification, segmentation evaluations and nightly runs, made from records alone.
//!
//! A page loads nothing from anywhere: styles, charts (inline SVG) and a short script for sorting and filtering are part
//! of it, its content security policy forbids the rest, and it reads in full without the script.
#![forbid(unsafe_code)]

pub mod chunks;
pub mod classification;
mod kit;
pub mod nightly;
mod pages;
pub mod review;
pub mod run;
pub mod segmentation;
pub mod text;

pub use pages::HtmlPages;
