//! What trainings read.

use std::path::{Path, PathBuf};

use pericope_learn::corpus::{CorpusError, Record, Records, Skipped, files, has_documents};
use pericope_segeval::read::Segmented;

use crate::EngineError;
use crate::experiments::segmentation::{Drawn, read_set};

/// Reads documents with known boundaries: segmentation JSONL, also in folders, and all layouts that segmenters are scored on
/// ([`read_set`]). Those under `held_out` are kept apart. [`Records::split`] parts them.
///
/// # Errors
/// [`EngineError::Usage`] where nothing can be read; single documents that cannot be are named in [`Records::skipped`].
pub fn read_records(data: &[PathBuf], held_out: &[PathBuf]) -> Result<Records, EngineError> {
    let (lines, others) = by_layout(data)?;
    let (lines_apart, others_apart) = by_layout(held_out)?;
    let mut records = Records::read(&lines, &lines_apart).map_err(by_corpus)?;
    for path in &others {
        records.skipped.extend(add(path, &mut records.documents)?);
    }
    for path in &others_apart {
        records.skipped.extend(add(path, &mut records.held_out)?);
    }
    Ok(records)
}

/// Files and folders of segmentation JSONL, and those in other layouts.
fn by_layout(paths: &[PathBuf]) -> Result<(Vec<PathBuf>, Vec<PathBuf>), EngineError> {
    let (mut lines, mut others) = (Vec::new(), Vec::new());
    for path in paths {
        let is_lines = match path.is_dir() {
            true => match files(std::slice::from_ref(path)) {
                Ok(_) => true,
                Err(CorpusError::Nothing { .. }) => false,
                Err(error) => return Err(by_corpus(error)),
            },
            false => has_documents(path),
        };
        if is_lines { lines.push(path.clone()) } else { others.push(path.clone()) }
    }
    Ok((lines, others))
}

/// Adds the documents of a layout without sources: their source is the set.
fn add(path: &Path, records: &mut Vec<Record>) -> Result<Skipped, EngineError> {
    let set = read_set(path, None, Drawn::default())?;
    for Segmented { document, reference, labels } in &set.documents {
        records.push(Record {
            id: set.renamed.get(&document.id).unwrap_or(&document.id).clone(),
            source: set.name.clone(),
            title: document.title.clone(),
            sentences: (0..document.len()).map(|i| document.sentence(i).to_owned()).collect(),
            boundaries: reference.after().to_vec(),
            labels: labels.clone(),
            ..Record::default()
        });
    }
    Ok(Skipped { count: set.skipped.len(), problems: set.skipped })
}

fn by_corpus(error: CorpusError) -> EngineError {
    match error.is_usage() {
        true => EngineError::usage(error),
        false => EngineError::runtime(error),
    }
}
