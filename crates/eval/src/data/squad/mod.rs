//! Questions in the layout of SQuAD.

mod add;
mod gold;
mod layout;
mod read;
#[cfg(test)]
mod tests;

pub(super) use add::add;
pub(super) use gold::gold;
pub use layout::{Answer, Article, Masked, Paragraph, Qa, SquadFile};
pub(super) use read::{articles, load};
