//! The vectors and queries in their files.

use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

pub const DIMENSION: usize = 384;
/// Neighbours that a search is asked for.
pub const NEAREST: usize = 10;
/// Rows that are handled at a time.
pub const BATCH: usize = 4096;

pub fn bytes_of(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

pub fn numbers_of(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

/// What the step `make` wrote.
pub struct Data {
    path: PathBuf,
    pub queries: Vec<Vec<f32>>,
}

impl Data {
    pub fn open(folder: &Path) -> anyhow::Result<Self> {
        let queries = numbers_of(&std::fs::read(folder.join("queries.f32"))?);
        let queries = queries.chunks_exact(DIMENSION).map(<[f32]>::to_vec).collect();
        Ok(Self { path: folder.join("vectors.f32"), queries })
    }

    /// Hands out some rows in batches: the number of the first of each, and the numbers of all.
    pub fn batches(
        &self,
        rows: Range<usize>,
        mut take: impl FnMut(usize, &[f32]) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let mut file = File::open(&self.path)?;
        std::io::Seek::seek(&mut file, std::io::SeekFrom::Start((rows.start * DIMENSION * 4) as u64))?;
        for from in rows.clone().step_by(BATCH) {
            let mut bytes = vec![0; (rows.end - from).min(BATCH) * DIMENSION * 4];
            file.read_exact(&mut bytes)?;
            take(from, &numbers_of(&bytes))?;
        }
        Ok(())
    }

    pub fn row(&self, row: usize) -> anyhow::Result<Vec<f32>> {
        let mut found = Vec::new();
        self.batches(row..row + 1, |_, numbers| {
            found = numbers.to_vec();
            Ok(())
        })?;
        Ok(found)
    }
}
