//! Several runs side by side.

mod compare;
mod grid;
mod page;
mod text;
mod verdicts;

pub(super) use page::page;
pub(super) use text::markdown;
