//! What `pericope train` reads: documents and questions, parted.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use pericope::training::read_records;
use pericope_api::Document;
use pericope_encode::Base;
use pericope_eval::data::{DataKind, QuestionSet, load};
use pericope_learn::corpus::{Beside, Corpus, Record, Records, Shingles, SplitOptions, SplitReport, Unit};
use pericope_learn::training::{AskedDocument, LabelledDocument, PreparedQuestion};
use pericope_segment::split::Split;
use rayon::prelude::*;
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
    /// Reads the data that the flags name, and parts it; the parts of the documents `beside` come too.
    pub fn read(
        args: &TrainArgs,
        base: &Base,
        tokens: usize,
        beside: &[Beside],
    ) -> Result<(Self, Vec<Split>), Failure> {
        let (corpus, others) = corpus_beside(&args.data, &args.holdout.split, args.holdout.no_holdout, beside)?;
        if corpus.train.is_empty() {
            return Err(Failure::usage("no document is left to train on: give more data, or --no-holdout"));
        }
        let labelled = |record: &Record| {
            let document = Document::from_sentences(&record.id, &record.sentences);
            LabelledDocument::new(&document, &record.boundaries, base, tokens)
        };
        let prepared = |records: &[Record]| records.iter().map(labelled).collect();
        let (train, validation) = (prepared(&corpus.train), prepared(&corpus.validation));
        let documents = Self { train, validation, split: corpus.report, unreadable: corpus.skipped.count };
        Ok((documents, others))
    }
}

/// Reads documents in all layouts that segment-eval reads, segmentation JSONL also in folders, and parts them; names what
/// cannot be read. With `all`, nothing but what is held out is kept from training.
pub fn corpus(data: &[PathBuf], args: &SplitArgs, all: bool) -> Result<Corpus, Failure> {
    corpus_beside(data, args, all, &[]).map(|(corpus, _)| corpus)
}

/// The same with documents `beside`, whose parts are in the second part of the result; without `data`, what is held out is all that
/// they are compared with.
pub fn corpus_beside(
    data: &[PathBuf],
    args: &SplitArgs,
    all: bool,
    beside: &[Beside],
) -> Result<(Corpus, Vec<Split>), Failure> {
    let records = match data.is_empty() && args.held_out.is_empty() {
        true => Records::default(),
        false => read_records(data, &args.held_out).map_err(failure)?,
    };
    input::report_skipped(&records.skipped);
    if records.documents.is_empty() && !data.is_empty() {
        let first = records.skipped.problems.first().map_or("it is empty", String::as_str);
        return Err(Failure::usage(format!("no document in the data can be used ({first})")));
    }
    records.split_beside(beside, &args.options(all)).map_err(corpus_failure)
}

/// Says which part a document that questions are asked about is for, by the flags that part documents.
struct Parting {
    options: SplitOptions,
    /// Ids of documents that are held out.
    ids: BTreeSet<String>,
    /// Sources that are held out.
    sources: BTreeSet<String>,
}

impl Parting {
    /// Reads what is held out.
    fn read(holdout: &HoldoutArgs) -> Result<Self, Failure> {
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
    fn part(&self, set: &QuestionSet, document: &Document, path: &Path) -> Split {
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

/// Files of questions.
#[derive(Default)]
pub struct Asked {
    sets: Vec<QuestionSet>,
    /// The documents of all of them, for near copies to go with each other.
    pub documents: Vec<Beside>,
}

impl Asked {
    /// Reads the files.
    pub fn read(paths: &[PathBuf], holdout: &HoldoutArgs) -> Result<Self, Failure> {
        let mut asked = Self::default();
        if paths.is_empty() {
            return Ok(asked);
        }
        let parting = Parting::read(holdout)?;
        for path in paths {
            let set = load(DataKind::Squad, path).map_err(Failure::usage)?;
            let beside = |document: &Document| Beside {
                part: parting.part(&set, document, path),
                shingles: Shingles::of([&*document.source]),
            };
            asked.documents.par_extend(set.documents.par_iter().map(beside));
            asked.sets.push(set);
        }
        Ok(asked)
    }

    /// Each file's questions with the parts of its documents; `parts` are those of all [`documents`](Self::documents).
    pub fn parted<'a>(&'a self, parts: &'a [Split]) -> impl Iterator<Item = (&'a QuestionSet, &'a [Split])> {
        let mut rest = parts;
        self.sets.iter().map(move |set| {
            let (own, behind) = rest.split_at(set.documents.len().min(rest.len()));
            rest = behind;
            (set, own)
        })
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
    /// Adds a file's questions. A document is tokenized once, however many ask about it.
    pub fn add(&mut self, set: &QuestionSet, parts: &[Split], base: &Base) {
        let mut known: HashMap<usize, AskedDocument> = HashMap::new();
        for question in &set.questions {
            let at = question.document;
            let Some((document, part)) = set.documents.get(at).zip(parts.get(at)) else { continue };
            let asked = match part {
                Split::Train => &mut self.train,
                Split::Validation => &mut self.validation,
                Split::Test => {
                    self.test += 1;
                    continue;
                }
            };
            let document = known.entry(at).or_insert_with(|| AskedDocument::new(document, base));
            asked.push(document.question(&question.text, &question.gold, base));
        }
    }
}
