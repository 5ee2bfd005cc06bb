//! The types and traits that everything in Pericope is built on.
//!
//! A plugin (a segmenter, an encoder, a token counter) depends on this crate alone, so that it need not follow the
//! releases of the rest. The flow of data is four nouns:
//!
//! 1. a reader turns bytes into a [`Document`]: the source text, kept byte for byte, and its [`Sentence`]s as
//!    [`Span`]s into it;
//! 2. a [`Segmenter`] answers with [`Cuts`]: scores for the gaps between sentences, [`Boundaries`], or spans;
//! 3. the size policy (in `pericope-segment`) turns cuts into [`Chunk`]s that hold a limit counted by a [`TokenCounter`];
//! 4. a sink indexes the chunks, with vectors from a [`SentenceEncoder`].
//!
//! ```
//! use pericope_api::{Boundaries, Cuts, Document, SegmentError, Segmenter};
//!
//! /// Ends a segment after every second sentence.
//! struct Pairs;
//!
//! impl Segmenter for Pairs {
//!     fn cut(&self, document: &Document) -> Result<Cuts, SegmentError> {
//!         let n = document.len();
//!         Ok(Cuts::Boundaries(Boundaries::new(n, (2..n).step_by(2).collect())?))
//!     }
//! }
//!
//! let document = Document::from_sentences("d", &["One.", "Two.", "Three.", "Four.", "Five."]);
//! let Cuts::Boundaries(found) = Pairs.cut(&document)? else { unreachable!() };
//! assert_eq!(found.after(), [2, 4]);
//! # Ok::<(), SegmentError>(())
//! ```
#![forbid(unsafe_code)]

mod boundaries;
mod chunk;
mod document;
mod encoder;
mod segmenter;
mod span;
mod tokens;
mod variables;

pub use boundaries::{Boundaries, BoundaryError};
pub use chunk::Chunk;
pub use document::{Document, Format, Kind, Rewrite, Sentence};
pub use encoder::{Embeddings, EncodeError, SentenceEncoder};
pub use segmenter::{Cuts, SegmentError, Segmenter};
pub use span::Span;
pub use tokens::{TokenCounter, TokenMap};
pub use variables::{VariableError, expand_variables};
