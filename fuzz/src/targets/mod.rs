//! The targets: each takes any bytes, hands them to one part of Pericope, and panics where that part breaks a law.

mod endpoints;
mod experiments;
mod folder;
mod history;
mod index;
mod judge;
mod parts;
mod questions;
mod readers;
mod requests;
mod segmentation;
mod specs;
mod table;

pub use readers::READ_WORKER;
pub use table::{TARGETS, Target, find};
