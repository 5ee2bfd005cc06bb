//! The page that is opened in the morning: the verdict, what moved, the questions behind it, and all nights as curves; and
//! the same in short, as Markdown.

mod checks;
mod curves;
mod flips;
mod nights;
mod page;
mod summary;
mod times;
mod top;

pub use page::page;
pub(crate) use summary::summary;
