//! AsciiDoc: what documentation is written with, by the rules of Asciidoctor. Includes and conditions are markup; what
//! they would leave out is read.

mod attributes;
mod blocks;
mod delimited;
mod ids;
mod inline;
mod lists;
mod macros;
mod metadata;
mod reader;
mod single;
mod titles;

pub(super) use reader::Asciidoc;

#[cfg(test)]
mod tests;
