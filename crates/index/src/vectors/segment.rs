use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::codes::Bound;
use super::disk::{read_at, row_sum, sum};
use super::layout::{BOUND, FOOTER, HEADER, ID, Layout, Sums};
use crate::IndexError;

/// Which segment: the number in its name, and the checksum of its contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SegmentId {
    pub name: u128,
    pub sum: u64,
}

impl SegmentId {
    pub fn file_name(name: u128) -> String {
        format!("{name:032x}.vectors")
    }
}

/// The codes of all rows.
pub(super) struct Codes {
    pub bounds: Vec<Bound>,
    pub codes: Vec<u8>,
}

/// An open segment file. Its ids and codes are read when they are asked for, and kept.
pub(super) struct Segment {
    pub id: SegmentId,
    path: PathBuf,
    file: File,
    layout: Layout,
    sums: Sums,
    ids: OnceLock<Vec<u128>>,
    codes: OnceLock<Codes>,
}

impl Segment {
    /// Opens the segment in a folder, and checks that it is the one that is meant.
    pub fn open(folder: &Path, id: SegmentId, dimension: usize, rows: usize) -> Result<Self, IndexError> {
        let path = folder.join(SegmentId::file_name(id.name));
        let file = File::open(&path).map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => IndexError::corrupt(&path, "the file is missing"),
            _ => IndexError::io(&path)(source),
        })?;
        let other = || IndexError::corrupt(&path, "its length or its header is not what it was");
        let length = file.metadata().map_err(IndexError::io(&path))?.len();
        let layout = Layout::new(dimension, rows).filter(|layout| layout.length() == length).ok_or_else(other)?;
        let (mut header, mut footer) = ([0; HEADER], [0; FOOTER]);
        read_at(&file, &mut header, 0).map_err(IndexError::io(&path))?;
        read_at(&file, &mut footer, layout.footer_at).map_err(IndexError::io(&path))?;
        let sums = Layout::of_header(&header)
            .filter(|found| *found == layout)
            .and_then(|layout| Sums::of_footer(&footer, &layout))
            .filter(|sums| sums.whole(&layout) == id.sum)
            .ok_or_else(other)?;
        Ok(Self { id, path, file, layout, sums, ids: OnceLock::new(), codes: OnceLock::new() })
    }

    pub fn rows(&self) -> usize {
        self.layout.rows
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A part of the file, whole. Its length is one that the file was checked to have.
    fn part(&self, from: u64, to: u64, expected: u64, what: &str) -> Result<Vec<u8>, IndexError> {
        let mut bytes = vec![0; usize::try_from(to - from).unwrap_or(usize::MAX)];
        read_at(&self.file, &mut bytes, from).map_err(IndexError::io(&self.path))?;
        if sum(&bytes) != expected {
            return Err(IndexError::corrupt(&self.path, format!("the {what} do not have their checksum")));
        }
        Ok(bytes)
    }

    /// The ids of the rows, ascending.
    pub fn ids(&self) -> Result<&[u128], IndexError> {
        if let Some(ids) = self.ids.get() {
            return Ok(ids);
        }
        let bytes = self.part(HEADER as u64, self.layout.bounds_at, self.sums.ids, "ids")?;
        let ids = bytes.as_chunks::<ID>().0.iter().map(|id| u128::from_be_bytes(*id)).collect();
        Ok(self.ids.get_or_init(|| ids))
    }

    /// The row of an id.
    pub fn row_of(&self, id: u128) -> Result<Option<usize>, IndexError> {
        Ok(self.ids()?.binary_search(&id).ok())
    }

    /// The codes of all rows.
    pub fn codes(&self) -> Result<&Codes, IndexError> {
        if let Some(codes) = self.codes.get() {
            return Ok(codes);
        }
        let bounds = self.part(self.layout.bounds_at, self.layout.codes_at, self.sums.bounds, "bounds")?;
        let numbers = bounds.as_chunks::<BOUND>().0.iter().map(|[a, b, c, d, e, f, g, h]| Bound {
            scale: f32::from_le_bytes([*a, *b, *c, *d]),
            error: f32::from_le_bytes([*e, *f, *g, *h]),
        });
        let bounds = numbers.collect();
        let codes = self.part(self.layout.codes_at, self.layout.exact_at, self.sums.codes, "codes")?;
        Ok(self.codes.get_or_init(|| Codes { bounds, codes }))
    }

    /// Reads the exact vector of a row into `vector`; `bytes` is room for its bytes.
    pub fn exact(&self, row: usize, bytes: &mut Vec<u8>, vector: &mut Vec<f32>) -> Result<(), IndexError> {
        self.exact_bytes(row, bytes)?;
        vector.clear();
        vector.extend(bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)));
        match vector.iter().all(|value| value.is_finite()) {
            true => Ok(()),
            false => Err(IndexError::corrupt(&self.path, format!("vector {row} is not finite"))),
        }
    }

    /// Reads the bytes of the exact vector of a row, without its checksum.
    pub fn exact_bytes(&self, row: usize, bytes: &mut Vec<u8>) -> Result<(), IndexError> {
        let length = self.layout.exact_row();
        bytes.resize(length, 0);
        let at = self.layout.exact_at + row as u64 * length as u64;
        read_at(&self.file, bytes, at).map_err(IndexError::io(&self.path))?;
        let found = bytes.split_last_chunk::<8>().map(|(vector, stored)| (row_sum(row, vector), *stored));
        match found {
            Some((sum, stored)) if sum.to_le_bytes() == stored => {
                bytes.truncate(self.layout.dimension * 4);
                Ok(())
            }
            _ => Err(IndexError::corrupt(&self.path, format!("vector {row} does not have its checksum"))),
        }
    }

    /// Reads all of the file and checks it.
    pub fn verify(&self) -> Result<(), IndexError> {
        let ids = self.part(HEADER as u64, self.layout.bounds_at, self.sums.ids, "ids")?;
        drop(ids);
        drop(self.part(self.layout.bounds_at, self.layout.codes_at, self.sums.bounds, "bounds")?);
        drop(self.part(self.layout.codes_at, self.layout.exact_at, self.sums.codes, "codes")?);
        let (mut bytes, mut vector, mut sums) = (Vec::new(), Vec::new(), Vec::new());
        for row in 0..self.rows() {
            self.exact(row, &mut bytes, &mut vector)?;
            sums.extend_from_slice(&row_sum(row, &bytes).to_le_bytes());
        }
        match sum(&sums) == self.sums.exact {
            true => Ok(()),
            false => Err(IndexError::corrupt(&self.path, "the vectors do not have their checksum")),
        }
    }
}
