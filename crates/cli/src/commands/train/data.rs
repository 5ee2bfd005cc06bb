//! What `pericope train` reads: documents and questions, parted.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use pericope::training::read_records;
use pericope_api::Document;
use pericope_encode::Base;
use pericope_eval::data::{DataKind, QuestionSet, load};
use pericope_learn::corpus::{Corpus, Record, SplitOptions, SplitReport, Unit};
use pericope_learn::training::{AskedDocument, LabelledDocument, PreparedQuestion};
use pericope_segment::split::Split;
use serde::Serialize;

use super::shared::{HoldoutArgs, TrainArgs};
use crate::commands::dataset::{SplitArgs, corpus_failure};
use crate::input;
use crate::resources::failure;
use crate::status::Failure;

/// How many serve for what.
#[derive(Serialize, Clone, Copy)]
pub struct Counts {
    pub train: usize,
    pub validation: usize,
    pub test: usize,
}

impl Counts {
    /// The documents of each part.
    pub fn of(split: &SplitReport) -> Self {
        let SplitReport { train, validation, test, .. } = split;
        Self { train: train.documents, validation: validation.documents, test: test.documents }
    }
}

/// The documents of a training, by part.
pub struct Documents {
    pub train: Vec<LabelledDocument>,
    pub validation: Vec<LabelledDocument>,
    /// What the split did.
    pub split: SplitReport,
    /// How much of the data could not be read.
    pub unreadable: usize,
}

impl Documents {
    /// Reads the data that the flags name, and parts it.
    pub fn read(args: &TrainArgs, base: &Base, tokens: usize) -> Result<Self, Failure> {
        let corpus = corpus(&args.data, &args.holdout.split, args.holdout.no_holdout)?;
        if corpus.train.is_empty() {
            return Err(Failure::usage("no document is left to train on: give more data, or --no-holdout"));
        }
        let labelled = |record: &Record| {
            let document = Document::from_sentences(&record.id, &record.sentences);
            LabelledDocument::new(&document, &record.boundaries, base, tokens)
        };
        let prepared = |records: &[Record]| records.iter().map(labelled).collect();
        let (train, validation) = (prepared(&corpus.train), prepared(&corpus.validation));
        Ok(Self { train, validation, split: corpus.report, unreadable: corpus.skipped.count })
    }
}

/// Reads documents in all layouts that segment-eval reads, segmentation JSONL also in folders, and parts them; names what
/// cannot be read. With `all`, nothing but what is held out is kept from training.
pub fn corpus(data: &[PathBuf], args: &SplitArgs, all: bool) -> Result<Corpus, Failure> {
    let records = read_records(data, &args.held_out).map_err(failure)?;
    input::report_skipped(&records.skipped);
    if records.documents.is_empty() {
        let first = records.skipped.problems.first().map_or("it is empty", String::as_str);
        return Err(Failure::usage(format!("no document in the data can be used ({first})")));
    }
    records.split(&args.options(all)).map_err(corpus_failure)
}

/// Parts the documents that questions are asked about, by the flags that part documents. Near copies are not looked for.
pub struct Parting {
    options: SplitOptions,
    /// Ids of documents that are held out.
    ids: BTreeSet<String>,
    /// Sources that are held out.
    sources: BTreeSet<String>,
}

impl Parting {
    /// Reads what is held out.
    pub fn read(holdout: &HoldoutArgs) -> Result<Self, Failure> {
        let mut parting = Self { options: holdout.options(), ids: BTreeSet::new(), sources: BTreeSet::new() };
        let paths = &holdout.split.held_out;
        let apart = if paths.is_empty() { Vec::new() } else { read_records(&[], paths).map_err(failure)?.held_out };
        for record in apart {
            if parting.options.held_out == Unit::Source && !record.source.is_empty() {
                parting.sources.insert(record.source);
            }
            parting.ids.insert(record.id);
        }
        Ok(parting)
    }

    /// The part of a document of `set`, which was read from `path`: a document that names no source is of one named as the file.
    pub fn part(&self, set: &QuestionSet, document: &Document, path: &Path) -> Split {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let file = file.split('.').next().unwrap_or_default();
        let id = set.renamed.get(&document.id).unwrap_or(&document.id);
        let source = set.sources.get(&document.id).map_or(file, String::as_str);
        if self.ids.contains(id) || self.sources.contains(source) {
            return Split::Test;
        }
        match self.options.unit {
            Unit::Document => self.options.shares.part(id),
            Unit::Source => self.options.shares.part(source),
        }
    }
}

/// The questions of a training, by the part of their documents.
#[derive(Default)]
pub struct Questions {
    pub train: Vec<PreparedQuestion>,
    pub validation: Vec<PreparedQuestion>,
    pub test: usize,
}

impl Questions {
    /// Adds a file's questions; gives what was left out. A document is tokenized once, however many ask about it.
    pub fn read(&mut self, path: &Path, parting: &Parting, base: &Base) -> Result<Vec<String>, Failure> {
        let set = load(DataKind::Squad, path).map_err(Failure::usage)?;
        let mut known: HashMap<usize, AskedDocument> = HashMap::new();
        for question in &set.questions {
            let Some(document) = set.documents.get(question.document) else { continue };
            let asked = match parting.part(&set, document, path) {
                Split::Train => &mut self.train,
                Split::Validation => &mut self.validation,
                Split::Test => {
                    self.test += 1;
                    continue;
                }
            };
            let document = known.entry(question.document).or_insert_with(|| AskedDocument::new(document, base));
            asked.push(document.question(&question.text, &question.gold, base));
        }
        Ok(set.skipped)
    }
}
