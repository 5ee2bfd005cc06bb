use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;

use pericope_segment::split::Split;
use rayon::prelude::*;
use serde::Serialize;

use super::files::{Skipped, each_record, files};
use super::split::{Member, SplitOptions, SplitReport, split};
use super::{CorpusError, Record};

/// Documents, by their part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Corpus {
    /// To learn from.
    pub train: Vec<Record>,
    /// To stop by and to tune on.
    pub validation: Vec<Record>,
    /// For figures that are reported, with those held out.
    pub test: Vec<Record>,
    /// What the split did.
    pub report: SplitReport,
    /// The documents of each source, by part.
    pub sources: BTreeMap<String, SourceCounts>,
    /// Lines that are no document.
    pub skipped: Skipped,
}

/// The number of documents that a source gives to each part.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct SourceCounts {
    /// To learn from.
    pub train: usize,
    /// To stop by and to tune on.
    pub validation: usize,
    /// For figures that are reported.
    pub test: usize,
    /// Left out, since the source gave enough.
    pub left_out: usize,
}

/// Reads the documents under `data` and parts them. Those under `held_out` are read too: they, their sources and near copies
/// of them are never trained on. A file that both name is held out. All texts are in memory then.
///
/// # Errors
/// As [`files`] and [`split()`]; [`CorpusError::Nothing`] where there is no document.
pub fn load(data: &[PathBuf], held_out: &[PathBuf], options: &SplitOptions) -> Result<Corpus, CorpusError> {
    let apart = files(held_out)?;
    let same = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
    let known: Vec<PathBuf> = apart.iter().map(same).collect();
    let mut others = files(data)?;
    others.retain(|path| !known.contains(&same(path)));
    let mut corpus = Corpus::default();
    let mut records: Vec<Record> = Vec::new();
    let mut read = |files: &[PathBuf], records: &mut Vec<Record>| {
        let skipped = each_record(files, &mut |record| {
            records.push(record);
            ControlFlow::Continue(())
        });
        skipped.map(|skipped| corpus.skipped.extend(skipped))
    };
    read(&others, &mut records)?;
    let first_apart = records.len();
    read(&apart, &mut records)?;
    if records.is_empty() {
        let path = data.first().cloned().unwrap_or_default();
        let problem = corpus.skipped.problems.first().cloned().unwrap_or_else(|| "no document in it".to_owned());
        return Err(CorpusError::Nothing { path, problem });
    }
    let members: Vec<Member> =
        records.par_iter().enumerate().map(|(i, record)| Member::of(record, i >= first_apart)).collect();
    let division = split(&members, options)?;
    corpus.report = division.report;
    for (record, part) in records.into_iter().zip(division.parts) {
        let counts = corpus.sources.entry(record.source.clone()).or_default();
        let (count, into) = match part {
            Some(Split::Train) => (&mut counts.train, &mut corpus.train),
            Some(Split::Validation) => (&mut counts.validation, &mut corpus.validation),
            Some(Split::Test) => (&mut counts.test, &mut corpus.test),
            None => {
                counts.left_out += 1;
                continue;
            }
        };
        *count += 1;
        into.push(record);
    }
    Ok(corpus)
}
