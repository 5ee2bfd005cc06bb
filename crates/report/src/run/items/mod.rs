//! `items.html`: every item of a run in a page that filters and sorts without a server.
//!
//! The page holds the items as one block of JSON and a script that shows a screenful at a time; it loads nothing. Texts
//! that are retrieved again and again are held once, and long ones are cut. Where all texts would be too much for a
//! browser, chunks keep their place and heading and lose their text; where all items would be, the first questions are
//! held. The page says both.

mod data;
mod page;

pub use data::Items;
pub(super) use page::write;
