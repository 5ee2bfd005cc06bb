//! Tokens as models read them: WordPiece, fast, and any other kind by the `tokenizers` crate.

mod cache;
mod chars;
mod counter;
mod file;
mod subwords;
mod trie;
mod units;
mod wordpiece;

pub use counter::WordPieceCounter;
pub use subwords::Subwords;
pub use wordpiece::WordPiece;
