//! WordPiece tokens, as BERT models read them.

mod chars;
mod counter;
mod trie;
mod units;
mod wordpiece;

pub use counter::WordPieceCounter;
pub use wordpiece::WordPiece;
