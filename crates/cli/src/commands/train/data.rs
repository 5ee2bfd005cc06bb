//! What `pericope train` reads: documents and questions, parted.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pericope::experiments::segmentation::{Drawn, read_set};
use pericope_api::Document;
use pericope_encode::Base;
use pericope_eval::data::{DataKind, load};
use pericope_learn::Sentences;
use pericope_learn::corpus::{Corpus, CorpusError, Record, Records, Skipped, SplitReport, files, has_documents};
use pericope_learn::training::{LabelledDocument, PreparedQuestion};
use pericope_learn::weswin::QUESTION;
use pericope_segeval::read::Segmented;
use pericope_segment::language;
use pericope_segment::split::{Shares, Split};
use serde::Serialize;

use super::args::TrainArgs;
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
        let prepared = |records: &[Record]| records.iter().map(|one| labelled_record(one, base, tokens)).collect();
        let (train, validation) = (prepared(&corpus.train), prepared(&corpus.validation));
        Ok(Self { train, validation, split: corpus.report, unreadable: corpus.skipped.count })
    }
}

/// Reads documents in all layouts that segment-eval reads, segmentation JSONL also in folders, and parts them; names what
/// cannot be read. With `all`, nothing but what is held out is kept from training.
pub fn corpus(data: &[PathBuf], args: &SplitArgs, all: bool) -> Result<Corpus, Failure> {
    let (lines, others) = by_layout(data)?;
    let (lines_apart, others_apart) = by_layout(&args.held_out)?;
    let mut records = Records::read(&lines, &lines_apart).map_err(corpus_failure)?;
    for path in &others {
        records.skipped.extend(add(path, &mut records.documents)?);
    }
    for path in &others_apart {
        records.skipped.extend(add(path, &mut records.held_out)?);
    }
    input::report_skipped(&records.skipped);
    if records.documents.is_empty() {
        let first = records.skipped.problems.first().map_or("it is empty", String::as_str);
        return Err(Failure::usage(format!("no document in the data can be used ({first})")));
    }
    records.split(&args.options(all)).map_err(corpus_failure)
}

/// Files and folders of segmentation JSONL, and those in other layouts.
fn by_layout(paths: &[PathBuf]) -> Result<(Vec<PathBuf>, Vec<PathBuf>), Failure> {
    let (mut lines, mut others) = (Vec::new(), Vec::new());
    for path in paths {
        let is_lines = match path.is_dir() {
            true => match files(std::slice::from_ref(path)) {
                Ok(_) => true,
                Err(CorpusError::Nothing { .. }) => false,
                Err(error) => return Err(corpus_failure(error)),
            },
            false => has_documents(path),
        };
        if is_lines { lines.push(path.clone()) } else { others.push(path.clone()) }
    }
    Ok((lines, others))
}

/// Adds the documents of a layout without sources: their source is the set.
fn add(path: &Path, records: &mut Vec<Record>) -> Result<Skipped, Failure> {
    let set = read_set(path, None, Drawn::default()).map_err(failure)?;
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

/// A record as the trainer reads it.
fn labelled_record(record: &Record, base: &Base, tokens: usize) -> LabelledDocument {
    let document = Document::from_sentences(&record.id, &record.sentences);
    prepare(&document, &record.boundaries, base, tokens)
}

/// A document as the trainer reads it: as the segmenter will, without code and tables.
pub fn labelled(one: &Segmented, base: &Base, tokens: usize) -> LabelledDocument {
    prepare(&one.document, one.reference.after(), base, tokens)
}

fn prepare(document: &Document, boundaries: &[usize], base: &Base, tokens: usize) -> LabelledDocument {
    let read = language::sentences(document);
    let limit = tokens.saturating_sub(3);
    let ids: Vec<Vec<u32>> =
        read.iter().map(|&i| base.tokens.ids(&document.visible(document.sentences[i].span), limit)).collect();
    // A boundary behind what is not read belongs to the last sentence that is.
    let mut ends = vec![false; read.len()];
    for &after in boundaries {
        if let Some(end) = read.partition_point(|&i| i < after).checked_sub(1).and_then(|at| ends.get_mut(at)) {
            *end = true;
        }
    }
    LabelledDocument { id: document.id.clone(), sentences: Sentences::new(ids.iter().map(Vec::as_slice), limit), ends }
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
        let mut known: HashMap<usize, (Vec<usize>, Arc<Sentences>)> = HashMap::new();
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
            let (read, sentences) = known.entry(question.document).or_insert_with(|| {
                let read = language::sentences(document);
                let text = |&i: &usize| document.visible(document.sentences[i].span);
                let ids: Vec<Vec<u32>> = read.iter().map(|i| base.tokens.ids(&text(i), usize::MAX)).collect();
                (read, Arc::new(Sentences::new(ids.iter().map(Vec::as_slice), usize::MAX)))
            });
            let relevant = read.iter().map(|&i| {
                let span = document.sentences[i].span;
                question.gold.iter().any(|gold| gold.start < span.end && span.start < gold.end)
            });
            asked.push(PreparedQuestion {
                relevant: relevant.collect(),
                sentences: Arc::clone(sentences),
                question: base.tokens.ids(&question.text, QUESTION),
            });
        }
        Ok(set.skipped)
    }
}
