//! Files of a run that hold one JSON value a line.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;

use serde::Serialize;

use super::RunError;
use crate::record::ItemError;
use pericope_util::StagedFile;

/// Appends lines and makes them durable; returns the length of each, its end included.
pub(super) fn append<T: Serialize>(path: &Path, values: &[T]) -> Result<Vec<u64>, RunError> {
    let write = || -> io::Result<Vec<u64>> {
        let mut out = BufWriter::new(OpenOptions::new().create(true).append(true).open(path)?);
        let lengths = write_lines(&mut out, values)?;
        out.flush()?;
        out.get_ref().sync_data()?;
        Ok(lengths)
    };
    write().map_err(RunError::io(path))
}

/// Replaces a file by these lines, whole or not at all.
pub(super) fn rewrite<T: Serialize>(path: &Path, values: &[T]) -> Result<(), RunError> {
    let write = || -> io::Result<()> {
        let mut out = StagedFile::create(path)?;
        write_lines(&mut out, values)?;
        out.commit()
    };
    write().map_err(RunError::io(path))
}

/// Writes one JSON value a line; returns the length of each line in bytes, its end included.
fn write_lines<T: Serialize>(out: &mut impl Write, values: &[T]) -> io::Result<Vec<u64>> {
    let mut lengths = Vec::with_capacity(values.len());
    let mut line = Vec::new();
    for value in values {
        line.clear();
        serde_json::to_writer(&mut line, value)?;
        line.push(b'\n');
        out.write_all(&line)?;
        lengths.push(line.len() as u64);
    }
    Ok(lengths)
}

/// Writes one JSON document, whole or not at all.
pub(super) fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<(), RunError> {
    let write = || -> io::Result<()> {
        let mut out = StagedFile::create(path)?;
        serde_json::to_writer_pretty(&mut out, value)?;
        out.write_all(b"\n")?;
        out.commit()
    };
    write().map_err(RunError::io(path))
}

/// Calls `f` with every line, its end left out, and the byte at which it begins. A file that is not there has none.
pub(super) fn each_line(path: &Path, mut f: impl FnMut(&[u8], u64) -> Result<(), RunError>) -> Result<(), RunError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(RunError::io(path)(e)),
    };
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let (mut line, mut start) = (Vec::new(), 0);
    loop {
        line.clear();
        let bytes = reader.read_until(b'\n', &mut line).map_err(RunError::io(path))?;
        if bytes == 0 {
            return Ok(());
        }
        f(line.strip_suffix(b"\n").unwrap_or(&line), start)?;
        start += bytes as u64;
    }
}

/// Leaves those lines of a file of which only `kept` gives true; they are told by the byte at which they begin.
pub(super) fn keep_lines(path: &Path, kept: &dyn Fn(u64) -> bool) -> Result<(), RunError> {
    let mut out = StagedFile::create(path).map_err(RunError::io(path))?;
    each_line(path, |line, start| {
        if kept(start) {
            out.write_all(line).and_then(|()| out.write_all(b"\n")).map_err(RunError::io(path))?;
        }
        Ok(())
    })?;
    out.commit().map_err(RunError::io(path))
}

/// Whether a file ends as a file of lines does; one that is empty or not there does.
pub(super) fn ends_with_line(path: &Path) -> Result<bool, RunError> {
    use std::io::{Seek, SeekFrom};
    let look = || -> io::Result<bool> {
        let mut file = match File::open(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(true),
            file => file?,
        };
        if file.metadata()?.len() == 0 {
            return Ok(true);
        }
        file.seek(SeekFrom::End(-1))?;
        let mut last = [0];
        file.read_exact(&mut last)?;
        Ok(last == *b"\n")
    };
    look().map_err(RunError::io(path))
}

impl From<ItemError> for RunError {
    fn from(error: ItemError) -> Self {
        let not_written =
            |place: String, source: serde_json::Error| format!("{place} is no item as the run writes them ({source})");
        match error {
            ItemError::Io { path, source } => Self::Io { path, source },
            ItemError::Line { path, line, source } => {
                Self::Incomplete { path, problem: not_written(format!("line {line}"), source) }
            }
            ItemError::Moved { path, offset, source } => {
                Self::Incomplete { path, problem: not_written(format!("what begins at byte {offset}"), source) }
            }
        }
    }
}
