//! Tokens as models read them: WordPiece, fast, and any other kind by the `tokenizers` crate.

mod cache;
mod chars;
mod counter;
mod file;
mod framed;
mod from_file;
mod ids;
mod subwords;
#[cfg(feature = "tiktoken")]
mod tiktoken;
mod trie;
mod units;
mod wordpiece;
mod words;

pub use counter::WordPieceCounter;
pub(crate) use framed::Framed;
pub use from_file::FileCounter;
pub(crate) use from_file::{FILE as TOKENIZER_FILE, is_file};
pub(crate) use ids::TokenIds;
pub use subwords::Subwords;
#[cfg(feature = "tiktoken")]
pub use tiktoken::TiktokenCounter;
pub use wordpiece::WordPiece;
