//! A report from a run's folder.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use pericope_eval::record::Item;

use super::Report;
use super::reduce::{Choice, Key};

/// Why a report could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// A file is missing or cannot be read.
    #[error("cannot read {path}: {source}{hint}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
        /// What to do.
        hint: &'static str,
    },
    /// A file is not what it should be.
    #[error("{path}, line {line}: {source}", path = path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What is wrong there.
        source: serde_json::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {path}: {source}", path = path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
}

impl Report {
    /// Reads `run.json`, `summary.json` and `items.jsonl` of a run's folder.
    ///
    /// The items are streamed twice, first for their scores and then for the texts of the few that are shown, so that
    /// memory does not grow with them.
    ///
    /// # Errors
    /// [`ReportError::Read`] where a file is missing, [`ReportError::Parse`] where one is damaged.
    pub fn load(run_dir: &Path) -> Result<Self, ReportError> {
        let run = whole(&run_dir.join("run.json"))?;
        let summary = whole(&run_dir.join("summary.json"))?;
        let items = run_dir.join("items.jsonl");
        let mut choice = Choice::new(&summary);
        each_line(&items, |key: Key, _| {
            choice.see(key);
            Ok(())
        })?;
        let failures = std::mem::take(&mut choice.failures);
        let mut chosen = choice.chosen();
        each_line(&items, |key: Key, line| {
            if chosen.wants(&key.question_id, &key.setting) {
                chosen.take(serde_json::from_str::<Item>(line)?);
            }
            Ok(())
        })?;
        let contrasts = chosen.finish(&summary);
        let label = run_dir.file_name().map(|name| name.to_string_lossy().into_owned());
        Ok(Self { label, summary, run, contrasts, failures, items: Some(items) })
    }
}

fn open(path: &Path) -> Result<BufReader<File>, ReportError> {
    File::open(path).map(|file| BufReader::with_capacity(1 << 16, file)).map_err(|source| read_error(path, source))
}

fn read_error(path: &Path, source: std::io::Error) -> ReportError {
    let hint = if source.kind() == std::io::ErrorKind::NotFound {
        " (give the folder of a finished run; `pericope eval run CONFIG --resume` finishes one that was cut off)"
    } else {
        ""
    };
    ReportError::Read { path: path.to_owned(), source, hint }
}

fn whole<T: DeserializeOwned>(path: &Path) -> Result<T, ReportError> {
    let reader = open(path)?;
    serde_json::from_reader(reader).map_err(|source| match source.is_io() {
        true => read_error(path, source.into()),
        false => ReportError::Parse { path: path.to_owned(), line: source.line(), source },
    })
}

/// Calls `f` with every non-blank line, parsed and as it stands.
pub(super) fn each_line<T: DeserializeOwned>(
    path: &Path,
    mut f: impl FnMut(T, &str) -> Result<(), serde_json::Error>,
) -> Result<(), ReportError> {
    let mut reader = open(path)?;
    let mut line = String::new();
    for number in 1.. {
        line.clear();
        if reader.read_line(&mut line).map_err(|source| read_error(path, source))? == 0 {
            break;
        }
        if line.trim().is_empty() {
            continue;
        }
        serde_json::from_str(&line).and_then(|value| f(value, &line)).map_err(|source| ReportError::Parse {
            path: path.to_owned(),
            line: number,
            source,
        })?;
    }
    Ok(())
}
