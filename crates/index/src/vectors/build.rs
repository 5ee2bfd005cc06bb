//! Writing a segment file.

use std::io::{self, Write};
use std::path::Path;

use pericope_util::StagedFile;
use twox_hash::XxHash3_128;

use super::codes::{Bound, encode};
use super::disk::{row_sum, sum};
use super::layout::{Layout, Sums};
use super::segment::{Segment, SegmentId};
use crate::IndexError;

/// The rows of a segment to be, by ascending ids.
pub(super) trait Rows {
    fn ids(&self) -> &[u128];

    /// Appends the codes of all rows, and says their bounds.
    fn codes(&self, codes: &mut Vec<u8>) -> Result<Vec<Bound>, IndexError>;

    /// The bytes of a row's exact vector, little-endian, in `bytes`.
    fn exact(&self, row: usize, bytes: &mut Vec<u8>) -> Result<(), IndexError>;
}

/// Writes rows into a new file in a folder. `salt` makes the name another one than that of files with the same ids.
pub(super) fn write(folder: &Path, dimension: usize, salt: u64, rows: &dyn Rows) -> Result<Segment, IndexError> {
    let ids: Vec<u8> = rows.ids().iter().flat_map(|id| id.to_be_bytes()).collect();
    let name = XxHash3_128::oneshot_with_seed(salt, &ids);
    let path = folder.join(SegmentId::file_name(name));
    let count = rows.ids().len();
    let layout = Layout::new(dimension, count)
        .ok_or_else(|| IndexError::Vectors { path: path.clone(), reason: format!("{count} vectors of {dimension}") })?;
    let mut codes = Vec::with_capacity(count.saturating_mul(dimension));
    let bounds = rows.codes(&mut codes)?;
    let bounds: Vec<u8> =
        bounds.iter().flat_map(|bound| [bound.scale, bound.error]).flat_map(f32::to_le_bytes).collect();
    let mut row_sums = Vec::with_capacity(count * 8);

    let mut out = StagedFile::create(&path).map_err(IndexError::io(&path))?;
    let mut put = |bytes: &[u8]| -> io::Result<()> { out.write_all(bytes) };
    let header = layout.header();
    let head = [header.as_slice(), &ids, &bounds, &codes];
    head.into_iter().try_for_each(&mut put).map_err(IndexError::io(&path))?;
    let mut bytes = Vec::with_capacity(dimension * 4);
    for row in 0..count {
        rows.exact(row, &mut bytes)?;
        let sum = row_sum(row, &bytes).to_le_bytes();
        put(&bytes).and_then(|()| put(&sum)).map_err(IndexError::io(&path))?;
        row_sums.extend_from_slice(&sum);
    }
    let sums = Sums { ids: sum(&ids), bounds: sum(&bounds), codes: sum(&codes), exact: sum(&row_sums) };
    put(&sums.footer(&layout)).and_then(|()| out.commit()).map_err(IndexError::io(&path))?;
    Segment::open(folder, SegmentId { name, sum: sums.whole(&layout) }, dimension, count)
}

/// Rows that lie in memory.
pub(super) struct InMemory<'a> {
    ids: Vec<u128>,
    vectors: Vec<&'a [f32]>,
}

impl<'a> InMemory<'a> {
    pub fn new(rows: impl Iterator<Item = (u128, &'a [f32])>) -> Self {
        let mut rows: Vec<(u128, &[f32])> = rows.collect();
        rows.sort_unstable_by_key(|(id, _)| *id);
        let (ids, vectors) = rows.into_iter().unzip();
        Self { ids, vectors }
    }
}

impl Rows for InMemory<'_> {
    fn ids(&self) -> &[u128] {
        &self.ids
    }

    fn codes(&self, codes: &mut Vec<u8>) -> Result<Vec<Bound>, IndexError> {
        Ok(self.vectors.iter().map(|vector| encode(vector, codes)).collect())
    }

    fn exact(&self, row: usize, bytes: &mut Vec<u8>) -> Result<(), IndexError> {
        bytes.clear();
        let vector = self.vectors.get(row).copied().unwrap_or_default();
        bytes.extend(vector.iter().flat_map(|value| value.to_le_bytes()));
        Ok(())
    }
}
