//! The vectors of an index: files that are written once and never changed.
//!
//! A *segment* file holds vectors with their ids: exactly (`f32`), and as 8-bit codes that a search reads all of. A
//! *generation* file names the segments of one commit with their checksums, and which of their rows are deleted. The
//! commit of the full-text index names the generation, so that words and vectors are always of the same commit: it is
//! that commit which makes a change happen, and nothing else has to.
//!
//! Readers take no lock and write nothing. They hold the files of their commit open, so that a writer may delete what no
//! commit names any more. Every byte that is read is covered by a checksum.

mod bits;
mod build;
mod codes;
mod disk;
mod generation;
mod layout;
mod nearest;
mod own;
mod segment;
mod set;
mod writer;

pub(crate) use self::generation::GenerationId;
pub(crate) use self::own::{is_old_vectors, is_own_vectors};
pub(crate) use self::set::VectorSet;
pub(crate) use self::writer::VectorWriter;

#[cfg(test)]
mod tests;
