//! The page on which drafted questions are read, kept, dropped and mended.

mod page;

pub use page::page;
