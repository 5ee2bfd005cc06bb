//! Several runs side by side.

mod compare;
mod grid;
mod page;
mod text;

pub(super) use page::page;
pub(super) use text::markdown;
