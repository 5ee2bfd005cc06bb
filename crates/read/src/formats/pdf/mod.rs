//! PDF: the text of its pages. A PDF has no text that byte ranges could point into, so the text that is extracted becomes
//! the source, and is read as plain text.

mod bidi;
mod extract;
mod fonts;
mod forms;
mod frame;
mod headings;
mod layout;
mod missing;
mod reader;
mod widths;

pub(super) use reader::Pdf;

#[cfg(test)]
mod tests;
