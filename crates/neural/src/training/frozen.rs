use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use candle_core::{Device, Tensor};
use half::f16;

use super::options::TrainError;
use crate::encoders::Embed;

/// The outputs of frozen layers for all training sequences, in half precision in one file: 2 bytes a number, 768 bytes a
/// token of MiniLM.
pub(super) struct Frozen {
    file: File,
    path: PathBuf,
    hidden: usize,
    /// Where each sequence's rows begin, in tokens; and the end.
    starts: Vec<usize>,
}

/// Sequences that are run together.
const GROUP: usize = 64;

impl Frozen {
    /// Opens the file that an earlier run wrote whole, or runs `lower` over `sequences` and writes it. `progress` gets
    /// the number of sequences done.
    pub(super) fn open(
        path: &Path,
        sequences: &[Vec<u32>],
        hidden: usize,
        lower: impl FnOnce() -> Result<Box<dyn Embed>, TrainError>,
        mut progress: impl FnMut(usize),
    ) -> Result<Self, TrainError> {
        let io = |source| TrainError::Io { path: path.to_owned(), source };
        let mut starts = vec![0];
        starts.extend(sequences.iter().scan(0, |sum, ids| {
            *sum += ids.len();
            Some(*sum)
        }));
        let bytes = (starts.last().copied().unwrap_or(0) * hidden * 2) as u64;
        if !path.metadata().is_ok_and(|found| found.len() == bytes) {
            let lower = lower()?;
            let unfinished = path.with_extension("unfinished");
            let mut out = BufWriter::new(File::create(&unfinished).map_err(io)?);
            for (i, group) in sequences.chunks(GROUP).enumerate() {
                for rows in run(lower.as_ref(), group)? {
                    let bytes: Vec<u8> = rows.iter().flat_map(|&x| f16::from_f32(x).to_le_bytes()).collect();
                    out.write_all(&bytes).map_err(io)?;
                }
                progress((i * GROUP + group.len()).min(sequences.len()));
            }
            out.into_inner().map_err(|e| io(e.into_error()))?.sync_all().map_err(io)?;
            std::fs::rename(&unfinished, path).map_err(io)?;
        }
        let file = File::open(path).map_err(io)?;
        Ok(Self { file, path: path.to_owned(), hidden, starts })
    }

    /// The rows of sequences, padded at the right with zeros: `[sequences, longest, hidden]`.
    pub(super) fn rows(&mut self, sequences: &[usize], device: &Device) -> Result<Tensor, TrainError> {
        let length = |i: usize| self.starts[i + 1] - self.starts[i];
        let longest = sequences.iter().map(|&i| length(i)).max().unwrap_or(0);
        let mut all = vec![0f32; sequences.len() * longest * self.hidden];
        let mut bytes = Vec::new();
        for (&i, out) in sequences.iter().zip(all.chunks_mut((longest * self.hidden).max(1))) {
            bytes.resize(length(i) * self.hidden * 2, 0);
            let at = (self.starts[i] * self.hidden * 2) as u64;
            let read = self.file.seek(SeekFrom::Start(at)).and_then(|_| self.file.read_exact(&mut bytes));
            read.map_err(|source| TrainError::Io { path: self.path.clone(), source })?;
            for (value, bits) in out.iter_mut().zip(bytes.as_chunks::<2>().0) {
                *value = f16::from_le_bytes(*bits).to_f32();
            }
        }
        Ok(Tensor::from_vec(all, (sequences.len(), longest, self.hidden), device)?)
    }

    /// Removes the file.
    pub(super) fn remove(self) {
        // A file that stays costs room and nothing else.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The last layer's rows of each sequence, side by side on all threads where the model can.
fn run(lower: &dyn Embed, sequences: &[Vec<u32>]) -> candle_core::Result<Vec<Vec<f32>>> {
    use rayon::prelude::*;
    if lower.parallel() {
        return sequences.par_iter().map(|ids| lower.hidden(&[ids])).collect();
    }
    sequences.iter().map(|ids| lower.hidden(&[ids])).collect()
}
