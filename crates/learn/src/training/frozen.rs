use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use candle_core::{Device, Tensor};
use half::f16;
use pericope_util::{StagedFile, hex};
use sha2::{Digest, Sha256};

use super::options::TrainError;
use pericope_encode::Batches;
use pericope_encode::encoders::Embed;
use pericope_encode::short;

/// The outputs of frozen layers for all training sequences, in half precision in one file: 2 bytes a number, 768 bytes a
/// token of MiniLM.
pub(super) struct Frozen {
    file: File,
    path: PathBuf,
    hidden: usize,
    /// The start of each sequence's rows, in tokens; and the end of the last.
    starts: Vec<usize>,
}

/// Sequences that are run together.
const GROUP: usize = 64;

/// The beginning of the file's name; a number follows that says what it was made from.
const NAME: &str = "frozen-";

impl Frozen {
    /// Opens the file that an earlier run left whole in `folder`, or runs `lower` over `sequences` (a sequence without
    /// tokens takes no room) and writes it. `about` says which layers of which weights `lower` is; with the sequences it is
    /// all that the file depends on, so files of another name are removed. `progress` gets the number of sequences done.
    pub(super) fn open(
        folder: &Path,
        about: &str,
        sequences: &[&[u32]],
        hidden: usize,
        lower: impl FnOnce() -> Result<Box<dyn Embed>, TrainError>,
        mut progress: impl FnMut(usize),
    ) -> Result<Self, TrainError> {
        let path = folder.join(format!("{NAME}{}.f16", short(&name(about, sequences))));
        let io = |source| TrainError::Io { path: path.clone(), source };
        remove_others(folder, &path).map_err(|source| TrainError::Io { path: folder.to_owned(), source })?;
        let mut starts = vec![0];
        starts.extend(sequences.iter().scan(0, |sum, ids| {
            *sum += ids.len();
            Some(*sum)
        }));
        let bytes = (starts.last().copied().unwrap_or(0) * hidden * 2) as u64;
        if !path.metadata().is_ok_and(|found| found.len() == bytes) {
            let lower = lower()?;
            let mut out = StagedFile::create(&path).map_err(io)?;
            for (i, group) in sequences.chunks(GROUP).enumerate() {
                for rows in run(lower.as_ref(), group, hidden)? {
                    let bytes: Vec<u8> = rows.iter().flat_map(|&x| f16::from_f32(x).to_le_bytes()).collect();
                    out.write_all(&bytes).map_err(io)?;
                }
                progress((i * GROUP + group.len()).min(sequences.len()));
            }
            out.commit().map_err(io)?;
        }
        let file = File::open(&path).map_err(io)?;
        Ok(Self { file, path, hidden, starts })
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
}

/// Removes the files that trainings left in `folder`.
pub(super) fn remove_all(folder: &Path) {
    // A file that stays costs room and nothing else.
    let _ = remove_others(folder, Path::new(""));
}

/// Removes such files but `kept`: those of other data or layers, and what an interruption left unfinished.
fn remove_others(folder: &Path, kept: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let ours = name.starts_with(NAME) && (name.ends_with(".f16") || name.ends_with(".unfinished"));
        if ours && path != kept {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

/// Says what a file is made from.
fn name(about: &str, sequences: &[&[u32]]) -> String {
    let mut hash = Sha256::new();
    hash.update(about);
    for ids in sequences {
        hash.update((ids.len() as u64).to_le_bytes());
        ids.iter().for_each(|id| hash.update(id.to_le_bytes()));
    }
    hex(&hash.finalize())
}

/// The last layer's rows of each sequence. Sequences of like length run together, side by side on all threads where the
/// model can.
pub(super) fn run(lower: &dyn Embed, sequences: &[&[u32]], hidden: usize) -> candle_core::Result<Vec<Vec<f32>>> {
    let (present, lengths): (Vec<usize>, Vec<usize>) =
        sequences.iter().enumerate().filter(|(_, ids)| !ids.is_empty()).map(|(i, ids)| (i, ids.len())).unzip();
    let batches = Batches::new(&lengths, lower.batch_tokens());
    let done = batches.run(lower.parallel(), |members| {
        let ids: Vec<&[u32]> = members.iter().map(|&m| sequences[present[m]]).collect();
        let rows = lower.hidden(&ids)?;
        let mut rest = rows.as_slice();
        let mut found = Vec::with_capacity(members.len());
        for (&m, ids) in members.iter().zip(ids) {
            let (own, others) = rest.split_at(ids.len() * hidden);
            found.push((present[m], own.to_vec()));
            rest = others;
        }
        Ok(found)
    })?;
    let mut all = vec![Vec::new(); sequences.len()];
    for (i, rows) in done.into_iter().flatten() {
        all[i] = rows;
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::atomic::{AtomicUsize, Ordering};

    use candle_core::{Device, Result};

    use super::{Embed, Frozen, remove_all};

    /// Gives each token's id and its sequence's length; says how many calls it got.
    struct Ids<'a>(&'a AtomicUsize);

    impl Embed for Ids<'_> {
        fn embed(&self, _: &[&[u32]]) -> Result<Vec<f32>> {
            unreachable!()
        }

        fn hidden(&self, sequences: &[&[u32]]) -> Result<Vec<f32>> {
            self.0.fetch_add(1, Ordering::Relaxed);
            let rows = sequences.iter().flat_map(|ids| ids.iter().flat_map(|&id| [id as f32, ids.len() as f32]));
            Ok(rows.collect())
        }

        fn first_of_pairs(&self, _: &[&[u32]], _: &[usize]) -> Result<Vec<f32>> {
            unreachable!()
        }

        fn batch_tokens(&self) -> usize {
            12
        }

        fn parallel(&self) -> bool {
            false
        }
    }

    static CALLS: AtomicUsize = AtomicUsize::new(0);

    #[test]
    fn outputs_are_kept_for_the_same_layers_and_sequences_alone() {
        let folder = tempfile::tempdir().unwrap();
        let all: [&[u32]; 5] = [&[1, 2, 3], &[], &[4, 5, 6], &[7], &[8, 9, 1]];
        let calls = || CALLS.swap(0, Ordering::Relaxed);
        let open = |about: &str, sequences: &[&[u32]]| {
            Frozen::open(folder.path(), about, sequences, 2, || Ok(Box::new(Ids(&CALLS))), |_| {}).unwrap()
        };
        let mut frozen = open("a", &all);
        // Three of three tokens and one of one: a batch.
        assert_eq!(calls(), 1);
        let rows = frozen.rows(&[2, 3, 1], &Device::Cpu).unwrap();
        assert_eq!(rows.dims(), [3, 3, 2]);
        let rows = rows.flatten_all().unwrap().to_vec1::<f32>().unwrap();
        assert_eq!(rows, [&[4.0, 3.0, 5.0, 3.0, 6.0, 3.0][..], &[7.0, 1.0, 0.0, 0.0, 0.0, 0.0], &[0.0; 6]].concat());
        open("a", &all);
        assert_eq!(calls(), 0);
        // Other sequences of the same lengths, other layers; and the files of before go.
        std::fs::write(folder.path().join("frozen-0.f16.unfinished"), "x").unwrap();
        std::fs::write(folder.path().join("frozen lake.txt"), "x").unwrap();
        for (about, sequences) in [("a", [all[2], all[1], all[0], all[3], all[4]]), ("b", all)] {
            open(about, &sequences);
            assert!(calls() > 0);
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
        }
        remove_all(folder.path());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
