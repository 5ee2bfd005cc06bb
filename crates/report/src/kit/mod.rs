//! What all pages are made of: markup, the shell of a page, tables, charts, excerpts of texts.

pub(crate) mod excerpt;
pub(crate) mod markup;
mod section;
pub(crate) mod shell;
pub(crate) mod svg;
pub(crate) mod table;

pub(crate) use section::section;
