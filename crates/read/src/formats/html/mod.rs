//! HTML: the content of a page, block by block. Malformed pages are read as far as they make sense.

mod attributes;
mod charset;
mod choice;
mod content;
mod elements;
mod entities;
mod head;
mod headings;
mod implied;
mod layout;
mod page;
mod pictures;
mod reader;
mod roles;
mod title;
mod tokens;
mod whole;

pub(super) use attributes::{anchor, is_anchor};
pub(super) use entities::{reference, references};
pub(super) use page::fragment;
pub(super) use reader::Html;

#[cfg(test)]
mod tests;
