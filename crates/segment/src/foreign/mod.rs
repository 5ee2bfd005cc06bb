//! Chunks that others make: read from a file (`chunks:FILE.jsonl`), or asked of a program (`command:PROGRAM ARGUMENTS`).
//!
//! Such chunks are kept byte for byte. They may overlap and leave text out, so they are no segmentation of the document, and no
//! size limit applies unless somebody asks for one. What was made in vain is never passed over in silence: a span that lies outside
//! of the document, or a text that is not in it, is an error.
//!
//! A spec of these two names a file or starts a program: never build one that a stranger wrote.

mod file;
mod finder;
mod given;
mod original;
mod placer;
mod program;

pub use file::CHUNKS;
pub use finder::{Finder, Occurrence};
pub use given::{Given, Offsets};
pub use original::{Original, Originals, on_characters};
pub use placer::Placer;
pub use program::{COMMAND, check_programs, program_time};
