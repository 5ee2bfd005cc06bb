//! Checksums in the full-text engine's files, so that nothing damaged reaches it.
//!
//! Behind what the engine writes stand a checksum for each block of the file, the length before them, a checksum of
//! these, and [`MAGIC`]. A block is checked when it is read for the first time. Files of earlier versions end without
//! them; they carry the engine's own checksum, and are checked whole when they are opened.

use std::fmt;
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tantivy::HasLen;
use tantivy::directory::footer::Footer;
use tantivy::directory::{AntiCallToken, FileHandle, FileSlice, OwnedBytes, TerminatingWrite, WritePtr};
use twox_hash::XxHash3_64;

use super::failures::Failures;
use crate::error::DamagedFile;

const MAGIC: [u8; 8] = *b"PERISUM1";
const BLOCK: usize = 64 << 10;
/// Length, checksum and magic.
const END: usize = 24;

/// Takes what is written, and writes it with checksums behind it.
pub(super) struct SummedWriter {
    /// Nothing once it has ended.
    out: Option<WritePtr>,
    block: Vec<u8>,
    sums: Vec<u8>,
    length: u64,
    path: PathBuf,
    failures: Failures,
}

impl SummedWriter {
    /// A writer in front of that of the file `path`.
    pub fn over(path: PathBuf, failures: Failures, out: WritePtr) -> WritePtr {
        let block = Vec::with_capacity(BLOCK);
        BufWriter::new(Box::new(Self { out: Some(out), block, sums: Vec::new(), length: 0, path, failures }))
    }

    fn out(&mut self) -> io::Result<&mut WritePtr> {
        self.out.as_mut().ok_or_else(|| io::Error::other("the file has been closed"))
    }

    fn end_block(&mut self) {
        self.sums.extend_from_slice(&XxHash3_64::oneshot(&self.block).to_le_bytes());
        self.block.clear();
    }
}

impl Write for SummedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = bytes.get(..bytes.len().min(BLOCK - self.block.len())).unwrap_or(bytes);
        let written = self.out()?.write_all(room);
        self.failures.keep(&self.path, written)?;
        self.block.extend_from_slice(room);
        self.length += room.len() as u64;
        if self.block.len() == BLOCK {
            self.end_block();
        }
        Ok(room.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.out()?.flush();
        self.failures.keep(&self.path, flushed)
    }
}

impl TerminatingWrite for SummedWriter {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        if !self.block.is_empty() {
            self.end_block();
        }
        let mut trailer = std::mem::take(&mut self.sums);
        trailer.extend_from_slice(&self.length.to_le_bytes());
        let sum = XxHash3_64::oneshot(&trailer);
        trailer.extend_from_slice(&sum.to_le_bytes());
        trailer.extend_from_slice(&MAGIC);
        let mut out = self.out.take().ok_or_else(|| io::Error::other("the file has been closed"))?;
        let ended = out.write_all(&trailer).and_then(|()| out.terminate());
        self.failures.keep(&self.path, ended)
    }
}

/// A file whose blocks are checked when they are read for the first time.
pub(super) struct SummedFile {
    path: PathBuf,
    file: Arc<dyn FileHandle>,
    length: usize,
    sums: Vec<u64>,
    checked: Vec<AtomicBool>,
}

impl SummedFile {
    /// Looks at the end of a file, which errors call by `path`. One without checksums of ours is checked whole, and given
    /// back as it is.
    pub fn open(path: PathBuf, file: Arc<dyn FileHandle>) -> io::Result<Arc<dyn FileHandle>> {
        let damaged = |reason| DamagedFile { path: path.clone(), reason }.into_io();
        let all = file.len();
        let end = match all.checked_sub(END) {
            Some(from) => file.read_bytes(from..all)?,
            None => return Err(damaged("the file is too short")),
        };
        let numbers = end.as_slice().as_chunks::<8>().0;
        let &[length, sum, MAGIC] = numbers else {
            return match Self::has_engines_sum(&file)? {
                true => Ok(file),
                false => Err(damaged("the file does not have its checksum")),
            };
        };
        let wrong = || damaged("the checksums at the end of the file are damaged");
        let length = usize::try_from(u64::from_le_bytes(length)).map_err(|_| wrong())?;
        let sums_end = all - END;
        let blocks = length.div_ceil(BLOCK);
        if blocks.checked_mul(8).and_then(|bytes| bytes.checked_add(length)) != Some(sums_end) {
            return Err(wrong());
        }
        let trailer = file.read_bytes(length..sums_end + 8)?;
        if XxHash3_64::oneshot(trailer.as_slice()) != u64::from_le_bytes(sum) {
            return Err(wrong());
        }
        let sums = trailer.as_slice().as_chunks::<8>().0.iter().take(blocks);
        let sums: Vec<u64> = sums.map(|bytes| u64::from_le_bytes(*bytes)).collect();
        let checked = sums.iter().map(|_| AtomicBool::new(false)).collect();
        Ok(Arc::new(Self { path, file, length, sums, checked }))
    }

    /// Whether a file of an earlier version has the checksum that the engine gave it.
    fn has_engines_sum(file: &Arc<dyn FileHandle>) -> io::Result<bool> {
        let (footer, body) = Footer::extract_footer(FileSlice::new(Arc::clone(file)))?;
        Ok(crc32fast::hash(body.read_bytes()?.as_slice()) == footer.crc)
    }
}

impl fmt::Debug for SummedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SummedFile({} bytes)", self.length)
    }
}

impl HasLen for SummedFile {
    fn len(&self) -> usize {
        self.length
    }
}

impl FileHandle for SummedFile {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        if range.start > range.end || range.end > self.length {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                format!("bytes {} to {} of {}", range.start, range.end, self.length),
            ));
        }
        for block in range.start / BLOCK..range.end.div_ceil(BLOCK) {
            let (Some(checked), Some(sum)) = (self.checked.get(block), self.sums.get(block)) else { continue };
            if checked.load(Ordering::Relaxed) {
                continue;
            }
            let bytes = self.file.read_bytes(block * BLOCK..self.length.min((block + 1) * BLOCK))?;
            if XxHash3_64::oneshot(bytes.as_slice()) != *sum {
                let reason = "a part of the file does not have its checksum";
                return Err(DamagedFile { path: self.path.clone(), reason }.into_io());
            }
            checked.store(true, Ordering::Relaxed);
        }
        self.file.read_bytes(range)
    }
}
