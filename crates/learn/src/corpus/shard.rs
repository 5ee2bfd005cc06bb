//! One file of vectors, written once and never changed.
//!
//! | part | bytes |
//! | --- | --- |
//! | header | [`MAGIC`], dimension (4), rows (4), a hash of the encoder's fingerprint (8) |
//! | keys | 16 a row, ascending, big-endian: the XXH3-128 of the text |
//! | rows | a row: 2 a number (half precision), then 8 of checksum, seeded by the row's number |
//! | footer | checksums of the keys and of the rows' checksums, 8 each; the checksum of header and these |
//!
//! Numbers are little-endian but for the keys; checksums are XXH3-64.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use half::f16;
use pericope_util::{StagedFile, open_file, read_at};
use twox_hash::XxHash3_64;

use super::CorpusError;

const MAGIC: [u8; 8] = *b"PERISEN1";
const HEADER: usize = 24;
const FOOTER: usize = 24;
const KEY: usize = 16;
const SUM: usize = 8;
/// Vectors that are longer are of no encoder.
const MAX_DIMENSION: usize = 1 << 20;

/// The sizes of a shard, and the encoder that its vectors are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    pub dimension: usize,
    pub rows: usize,
    /// The XXH3-64 of the encoder's fingerprint.
    pub encoder: u64,
}

impl Shape {
    fn header(&self) -> Vec<u8> {
        let (dimension, rows) = (self.dimension as u32, self.rows as u32);
        [&MAGIC[..], &dimension.to_le_bytes(), &rows.to_le_bytes(), &self.encoder.to_le_bytes()].concat()
    }

    fn of_header(header: &[u8; HEADER]) -> Option<Self> {
        let (magic, rest) = header.split_first_chunk::<8>()?;
        let (dimension, rest) = rest.split_first_chunk::<4>()?;
        let (rows, encoder) = rest.split_first_chunk::<4>()?;
        let encoder = u64::from_le_bytes(*encoder.first_chunk::<8>()?);
        let dimension = u32::from_le_bytes(*dimension) as usize;
        let fits = *magic == MAGIC && (1..=MAX_DIMENSION).contains(&dimension);
        fits.then_some(Self { dimension, rows: u32::from_le_bytes(*rows) as usize, encoder })
    }

    /// Bytes of a row with its checksum.
    fn row(&self) -> usize {
        2 * self.dimension + SUM
    }

    fn rows_at(&self) -> u64 {
        (HEADER + KEY * self.rows) as u64
    }

    fn footer_at(&self) -> u64 {
        self.rows_at() + self.rows as u64 * self.row() as u64
    }

    fn length(&self) -> u64 {
        self.footer_at() + FOOTER as u64
    }
}

/// The hash by which a shard names its encoder.
pub(super) fn encoder_hash(fingerprint: &str) -> u64 {
    XxHash3_64::oneshot(fingerprint.as_bytes())
}

/// The checksum of the bytes of a row: a row in the wrong place does not have it.
fn row_sum(row: usize, bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot_with_seed(row as u64, bytes)
}

/// Checksums of the keys, of the rows' checksums, and of the header with these.
fn footer(shape: &Shape, keys: &[u8], row_sums: &[u8]) -> Vec<u8> {
    let sums = [XxHash3_64::oneshot(keys).to_le_bytes(), XxHash3_64::oneshot(row_sums).to_le_bytes()].concat();
    let whole = XxHash3_64::oneshot(&[shape.header(), sums.clone()].concat()).to_le_bytes();
    [&sums[..], &whole].concat()
}

/// Writes a shard, whole or not at all. `rows` are keys with the vectors of `dimension` numbers, in any order, no key twice.
/// Gives the file's length in bytes.
pub(super) fn write(path: &Path, encoder: u64, dimension: usize, rows: &mut [(u128, Vec<f16>)]) -> io::Result<u64> {
    rows.sort_unstable_by_key(|(key, _)| *key);
    let shape = Shape { dimension, rows: rows.len(), encoder };
    let keys: Vec<u8> = rows.iter().flat_map(|(key, _)| key.to_be_bytes()).collect();
    let mut out = StagedFile::create(path)?;
    out.write_all(&shape.header())?;
    out.write_all(&keys)?;
    let mut sums = Vec::with_capacity(SUM * rows.len());
    let mut bytes = Vec::with_capacity(2 * dimension);
    for (row, (_, vector)) in rows.iter().enumerate() {
        bytes.clear();
        bytes.extend(vector.iter().flat_map(|x| x.to_le_bytes()));
        let sum = row_sum(row, &bytes).to_le_bytes();
        out.write_all(&bytes)?;
        out.write_all(&sum)?;
        sums.extend_from_slice(&sum);
    }
    out.write_all(&footer(&shape, &keys, &sums))?;
    out.commit()?;
    Ok(shape.length())
}

/// A shard whose header, footer and keys have been checked; a row is checked when it is read.
#[derive(Debug)]
pub(super) struct Shard {
    pub path: PathBuf,
    pub shape: Shape,
    /// Nothing where the file is opened for each row.
    file: Option<File>,
}

impl Shard {
    /// Opens a shard; gives its keys, ascending. With `keep` the file stays open.
    pub fn open(path: &Path, keep: bool) -> Result<(Self, Vec<u128>), CorpusError> {
        let io = |source| CorpusError::Io { path: path.to_owned(), source };
        let damaged = |reason: &str| CorpusError::Damaged { path: path.to_owned(), reason: reason.to_owned() };
        let file = open_file(path).map_err(io)?;
        let length = file.metadata().map_err(io)?.len();
        let mut header = [0; HEADER];
        if length < (HEADER + FOOTER) as u64 {
            return Err(damaged("the file is too short"));
        }
        read_at(&file, &mut header, 0).map_err(io)?;
        let shape = Shape::of_header(&header).ok_or_else(|| damaged("it does not begin as a file of vectors"))?;
        if length != shape.length() {
            return Err(damaged("the file does not have the length that its header says"));
        }
        let mut keys = vec![0; KEY * shape.rows];
        read_at(&file, &mut keys, HEADER as u64).map_err(io)?;
        let mut end = [0; FOOTER];
        read_at(&file, &mut end, shape.footer_at()).map_err(io)?;
        // The rows' own checksums are looked at with the rows.
        let (own, rest) = end.split_at(SUM);
        let whole = XxHash3_64::oneshot(&[&shape.header(), &end[..2 * SUM]].concat()).to_le_bytes();
        if own != XxHash3_64::oneshot(&keys).to_le_bytes() || rest.get(SUM..) != Some(&whole[..]) {
            return Err(damaged("the keys do not have their checksum"));
        }
        let keys: Vec<u128> = keys.as_chunks::<KEY>().0.iter().map(|key| u128::from_be_bytes(*key)).collect();
        if !keys.is_sorted_by(|a, b| a < b) {
            return Err(damaged("the keys are not in order"));
        }
        Ok((Self { path: path.to_owned(), shape, file: keep.then_some(file) }, keys))
    }

    /// Reads row `row` into `into`, which takes `dimension` numbers. `bytes` is used again from row to row.
    pub fn read(&self, row: usize, bytes: &mut Vec<u8>, into: &mut [f32]) -> Result<(), CorpusError> {
        let io = |source| CorpusError::Io { path: self.path.clone(), source };
        bytes.resize(self.shape.row(), 0);
        let at = self.shape.rows_at() + row as u64 * self.shape.row() as u64;
        match &self.file {
            Some(file) => read_at(file, bytes, at),
            None => open_file(&self.path).and_then(|file| read_at(&file, bytes, at)),
        }
        .map_err(io)?;
        let (vector, sum) = bytes.split_at(2 * self.shape.dimension);
        if sum != row_sum(row, vector).to_le_bytes() {
            return Err(self.damaged("a vector does not have its checksum"));
        }
        self.check_finite(row, vector)?;
        for (to, from) in into.iter_mut().zip(vector.as_chunks::<2>().0) {
            *to = f16::from_le_bytes(*from).to_f32();
        }
        Ok(())
    }

    /// Reads the whole file and checks every row and the checksum over them.
    pub fn check(&self) -> Result<(), CorpusError> {
        let io = |source| CorpusError::Io { path: self.path.clone(), source };
        let mut input = BufReader::with_capacity(1 << 20, open_file(&self.path).map_err(io)?);
        io::copy(&mut input.by_ref().take(self.shape.rows_at()), &mut io::sink()).map_err(io)?;
        let mut sums = Vec::with_capacity(SUM * self.shape.rows);
        let mut bytes = vec![0; self.shape.row()];
        for row in 0..self.shape.rows {
            input.read_exact(&mut bytes).map_err(io)?;
            let (vector, sum) = bytes.split_at(2 * self.shape.dimension);
            if sum != row_sum(row, vector).to_le_bytes() {
                return Err(self.damaged("a vector does not have its checksum"));
            }
            self.check_finite(row, vector)?;
            sums.extend_from_slice(sum);
        }
        let mut end = [0; FOOTER];
        input.read_exact(&mut end).map_err(io)?;
        let whole = end.get(SUM..2 * SUM) == Some(&XxHash3_64::oneshot(&sums).to_le_bytes()[..]);
        if whole { Ok(()) } else { Err(self.damaged("the vectors do not have their checksum")) }
    }

    /// Refuses a row with a number that is none. This program writes no such row, but others may have.
    fn check_finite(&self, row: usize, vector: &[u8]) -> Result<(), CorpusError> {
        match vector.as_chunks::<2>().0.iter().all(|number| f16::from_le_bytes(*number).is_finite()) {
            true => Ok(()),
            false => {
                let (number, of) = (row + 1, self.shape.rows);
                Err(self.damaged(&format!("vector {number} of {of} holds a number that is not finite")))
            }
        }
    }

    fn damaged(&self, reason: &str) -> CorpusError {
        CorpusError::Damaged { path: self.path.clone(), reason: reason.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use half::f16;

    use super::{Shard, write};

    #[test]
    fn a_vector_of_numbers_that_are_none_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("000000.vec");
        for none in [f16::NAN, f16::INFINITY, f16::NEG_INFINITY] {
            let mut rows =
                vec![(1, vec![f16::ONE, f16::ZERO]), (2, vec![f16::ONE, none]), (3, vec![f16::ONE, f16::MAX])];
            write(&path, 7, 2, &mut rows).unwrap();
            let (shard, keys) = Shard::open(&path, true).unwrap();
            assert_eq!(keys, [1, 2, 3]);
            let read = |row: usize| {
                let mut into = [0.0; 2];
                shard.read(row, &mut Vec::new(), &mut into).map(|()| into)
            };
            assert_eq!((read(0).unwrap(), read(2).unwrap()), ([1.0, 0.0], [1.0, 65504.0]));
            for said in [read(1).unwrap_err(), shard.check().unwrap_err()].map(|error| error.to_string()) {
                assert!(said.contains("000000.vec: vector 2 of 3 holds a number that is not finite"), "{said}");
            }
        }
    }
}
