//! The file that says what a commit holds.

use std::fmt;
use std::io::ErrorKind;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use twox_hash::XxHash3_128;

use super::bits::Bits;
use super::segment::{Segment, SegmentId};
use crate::IndexError;

const MAGIC: [u8; 8] = *b"PERIGEN1";

/// The hash of a generation file, by which the commit of the full-text index names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GenerationId(u128);

impl GenerationId {
    pub(super) fn file_name(self) -> String {
        format!("{self}.generation")
    }
}

impl fmt::Display for GenerationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl FromStr for GenerationId {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        u128::from_str_radix(text, 16).map(Self)
    }
}

/// A segment of a commit, and which of its rows do not count.
#[derive(Clone)]
pub(super) struct Part {
    pub segment: Arc<Segment>,
    pub deleted: Bits,
}

impl Part {
    pub fn live(&self) -> usize {
        self.segment.rows().saturating_sub(self.deleted.count())
    }
}

/// The bytes of the generation file of these parts, and their hash.
pub(super) fn encode(dimension: usize, parts: &[Part]) -> (Vec<u8>, GenerationId) {
    let mut bytes = MAGIC.to_vec();
    bytes.extend((dimension as u64).to_le_bytes());
    bytes.extend((parts.len() as u64).to_le_bytes());
    for Part { segment, deleted } in parts {
        bytes.extend(segment.id.name.to_le_bytes());
        bytes.extend(segment.id.sum.to_le_bytes());
        bytes.extend((segment.rows() as u64).to_le_bytes());
        bytes.extend((deleted.words().len() as u64).to_le_bytes());
        bytes.extend(deleted.words().iter().flat_map(|word| word.to_le_bytes()));
    }
    let id = GenerationId(XxHash3_128::oneshot(&bytes));
    (bytes, id)
}

/// Reads the parts of a commit; nothing where its file is missing. Segments that are among `open` are not opened again.
pub(super) fn read(
    folder: &Path,
    id: GenerationId,
    dimension: usize,
    open: &[Arc<Segment>],
) -> Result<Option<Vec<Part>>, IndexError> {
    let path = folder.join(id.file_name());
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(IndexError::io(&path)(error)),
    };
    if XxHash3_128::oneshot(&bytes) != id.0 {
        return Err(IndexError::corrupt(&path, "it does not have its checksum"));
    }
    let mut rest = bytes.as_slice();
    let found = parts(&mut rest).filter(|_| rest.is_empty());
    let (found_dimension, listed) = found.ok_or_else(|| IndexError::corrupt(&path, "it is no list of segments"))?;
    if found_dimension != dimension as u64 {
        return Err(IndexError::corrupt(&path, format!("it has {found_dimension} dimensions, not {dimension}")));
    }
    let opened = listed.into_iter().map(|(id, rows, deleted)| {
        let segment = match open.iter().find(|segment| segment.id == id) {
            Some(segment) => Arc::clone(segment),
            None => Arc::new(Segment::open(folder, id, dimension, rows)?),
        };
        Ok(Part { segment, deleted })
    });
    opened.collect::<Result<_, IndexError>>().map(Some)
}

type Listed = (SegmentId, usize, Bits);

fn parts(rest: &mut &[u8]) -> Option<(u64, Vec<Listed>)> {
    if take::<8>(rest)? != MAGIC {
        return None;
    }
    let dimension = number(rest)?;
    let mut listed = Vec::new();
    for _ in 0..number(rest)? {
        let id = SegmentId { name: u128::from_le_bytes(take(rest)?), sum: number(rest)? };
        let rows = usize::try_from(number(rest)?).ok()?;
        let words = usize::try_from(number(rest)?).ok()?;
        let bytes = rest.split_off(..words.checked_mul(8)?)?;
        let words = bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
        listed.push((id, rows, Bits::of_words(words.collect())));
    }
    Some((dimension, listed))
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    rest.split_off(..N)?.first_chunk().copied()
}

fn number(rest: &mut &[u8]) -> Option<u64> {
    take(rest).map(u64::from_le_bytes)
}
