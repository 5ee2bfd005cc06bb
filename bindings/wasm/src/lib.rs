#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

mod cut;
mod exchange;
#[allow(unsafe_code)] // Names that another language finds are unsafe attributes; there is no unsafe block.
mod exports;
mod offer;
