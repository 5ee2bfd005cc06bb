use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;

use pericope_segment::split::Split;
use rayon::prelude::*;
use serde::Serialize;

use super::files::{Skipped, each_record, files};
use super::split::{Beside, Member, SplitOptions, SplitReport, split_beside};
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

/// Documents as they are read, before they are parted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Records {
    /// Documents for all parts.
    pub documents: Vec<Record>,
    /// Documents that are kept apart.
    pub held_out: Vec<Record>,
    /// Lines that are no document.
    pub skipped: Skipped,
}

impl Records {
    /// Reads the documents under `data` and those under `held_out`. A file that both name is held out.
    ///
    /// # Errors
    /// As [`files`].
    pub fn read(data: &[PathBuf], held_out: &[PathBuf]) -> Result<Self, CorpusError> {
        let apart = files(held_out)?;
        let same = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
        let known: Vec<PathBuf> = apart.iter().map(same).collect();
        let mut others = files(data)?;
        others.retain(|path| !known.contains(&same(path)));
        let mut all = Self::default();
        for (files, records) in [(&others, &mut all.documents), (&apart, &mut all.held_out)] {
            let skipped = each_record(files, &mut |record| {
                records.push(record);
                ControlFlow::Continue(())
            })?;
            all.skipped.extend(skipped);
        }
        Ok(all)
    }

    /// Parts the documents.
    ///
    /// # Errors
    /// As [`split_beside()`].
    pub fn split(self, options: &SplitOptions) -> Result<Corpus, CorpusError> {
        self.split_beside(&[], options).map(|(corpus, _)| corpus)
    }

    /// The same with documents `beside`, whose parts are in the second part of the result.
    ///
    /// # Errors
    /// As [`split_beside()`].
    pub fn split_beside(self, beside: &[Beside], options: &SplitOptions) -> Result<(Corpus, Vec<Split>), CorpusError> {
        let member = |held_out: bool| move |record: &Record| Member::of(record, held_out);
        let mut members: Vec<Member> = self.documents.par_iter().map(member(false)).collect();
        members.par_extend(self.held_out.par_iter().map(member(true)));
        let (division, others) = split_beside(&members, beside, options)?;
        let mut corpus = Corpus { report: division.report, skipped: self.skipped, ..Corpus::default() };
        for (record, part) in self.documents.into_iter().chain(self.held_out).zip(division.parts) {
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
        Ok((corpus, others))
    }
}

/// Reads the documents under `data` and parts them. Those under `held_out` are read too: they and near copies of them are
/// never trained on, nor (by default) their sources. A file that both name is held out. All texts are in memory then.
///
/// # Errors
/// As [`files`] and [`split_beside()`]; [`CorpusError::Nothing`] where there is no document.
pub fn load(data: &[PathBuf], held_out: &[PathBuf], options: &SplitOptions) -> Result<Corpus, CorpusError> {
    let records = Records::read(data, held_out)?;
    if records.documents.is_empty() && records.held_out.is_empty() {
        let path = data.first().cloned().unwrap_or_default();
        let problem = records.skipped.problems.first().cloned().unwrap_or_else(|| "no document in it".to_owned());
        return Err(CorpusError::Nothing { path, problem });
    }
    records.split(options)
}
