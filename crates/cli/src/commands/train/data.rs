//! What `pericope train` reads: documents and questions, parted.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use pericope::training::read_records;
use pericope_api::Document;
use pericope_encode::Base;
use pericope_eval::data::{DataKind, load};
use pericope_learn::corpus::{Corpus, Record, SplitReport};
use pericope_learn::training::{AskedDocument, LabelledDocument, PreparedQuestion};
use pericope_segment::split::{Shares, Split};
use serde::Serialize;

use super::shared::TrainArgs;
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

/// The questions of a training, by the part of their documents.
#[derive(Default)]
pub struct Questions {
    pub train: Vec<PreparedQuestion>,
    pub validation: Vec<PreparedQuestion>,
    pub test: usize,
}

impl Questions {
    /// Adds a file's questions; gives what was left out. A document is tokenized once, however many ask about it.
    pub fn read(&mut self, path: &Path, shares: &Shares, base: &Base) -> Result<Vec<String>, Failure> {
        let set = load(DataKind::Squad, path).map_err(Failure::usage)?;
        let mut known: HashMap<usize, AskedDocument> = HashMap::new();
        for question in &set.questions {
            let Some(document) = set.documents.get(question.document) else { continue };
            let id = set.renamed.get(&document.id).unwrap_or(&document.id);
            let asked = match shares.part(id) {
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
