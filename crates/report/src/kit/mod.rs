//! The parts that all pages are made of: their shell, tables, charts, excerpts of texts, and a writer of Markdown.

pub(crate) mod excerpt;
mod letters;
pub(crate) mod markdown;
mod parts;
pub(crate) mod passage;
mod shell;
pub(crate) mod svg;
mod table;

pub(crate) use parts::{bullets, header, record, section};
pub(crate) use shell::Page;
pub(crate) use table::{Head, Row, Value, table};
