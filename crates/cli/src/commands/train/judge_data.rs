//! What `pericope train judge` reads: questions in SQuAD's layout, and those that sections ask, parted.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use pericope_encode::Base;
use pericope_eval::data::{Question, QuestionSet};
use pericope_learn::corpus::{Corpus, CorpusError, Record, files, has_documents};
use pericope_learn::training::{JudgeQuestion, JudgeText, PairOptions, pairs_of};
use pericope_segment::split::Split;
use rayon::prelude::*;

use super::data::{Asked, Counts, corpus_beside};
use super::shared::HoldoutArgs;
use crate::commands::dataset::corpus_failure;
use crate::input;
use crate::status::Failure;

/// The questions of a training, by part.
pub struct Questions {
    pub train: Vec<JudgeQuestion>,
    pub validation: Vec<JudgeQuestion>,
    /// The documents whose sections ask.
    pub corpus: Corpus,
    /// How many questions serve for what, those of sections that are kept for the test not counted.
    pub counts: Counts,
    /// How much of the data could not be read.
    pub unreadable: usize,
}

impl Questions {
    /// Reads what the flags name, and parts it; names what cannot be read.
    pub fn read(data: &[PathBuf], holdout: &HoldoutArgs, base: &Base, pairs: &PairOptions) -> Result<Self, Failure> {
        let (asked, documents) = by_layout(data)?;
        let asked = Asked::read(&asked, holdout)?;
        let (corpus, parts) = corpus_beside(&documents, &holdout.split, holdout.no_holdout, &asked.documents)?;
        // What is held out is no document whose sections ask.
        let corpus = if documents.is_empty() { Corpus::default() } else { corpus };
        let mut unreadable = corpus.skipped.count;
        let of_sections = |records: &[Record]| -> Vec<JudgeQuestion> {
            let each = records.par_iter().map(|record| pairs_of(record, &base.tokens, pairs));
            each.collect::<Vec<_>>().into_iter().flatten().collect()
        };
        let (mut train, mut validation) = (of_sections(&corpus.train), of_sections(&corpus.validation));
        let mut test = 0;
        for (set, parts) in asked.parted(&parts) {
            unreadable += input::report(&set.skipped);
            let found = File::of(set, parts, base, pairs);
            train.extend(found.train);
            validation.extend(found.validation);
            test += found.test;
        }
        let counts = Counts { train: train.len(), validation: validation.len(), test };
        Ok(Self { train, validation, corpus, counts, unreadable })
    }
}

/// Files of questions, and paths of documents.
fn by_layout(data: &[PathBuf]) -> Result<(Vec<PathBuf>, Vec<PathBuf>), Failure> {
    let (mut asked, mut documents) = (Vec::new(), Vec::new());
    for path in data {
        if !path.is_dir() {
            let is_json = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
            if is_json && !has_documents(path) {
                asked.push(path.clone())
            } else {
                documents.push(path.clone())
            }
            continue;
        }
        match files(std::slice::from_ref(path)) {
            Ok(_) => {
                documents.push(path.clone());
                let left = json_files(path).unwrap_or_default().len();
                if left > 0 {
                    tell!(
                        "{}: {left} *.json beside its documents are not read; name them to have their questions",
                        path.display()
                    );
                }
            }
            Err(CorpusError::Nothing { .. }) => asked.extend(json_files(path)?),
            Err(error) => return Err(corpus_failure(error)),
        }
    }
    Ok((asked, documents))
}

/// The files *.json of a folder, by name.
fn json_files(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let wrong = |error: std::io::Error| Failure::usage(format!("{}: {error}", folder.display()));
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(wrong)? {
        let path = entry.map_err(wrong)?.path();
        if path.is_file() && path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json")) {
            found.push(path);
        }
    }
    if found.is_empty() {
        return Err(Failure::usage(format!("{}: no *.json, *.jsonl or *.jsonl.gz in this folder", folder.display())));
    }
    found.sort();
    Ok(found)
}

/// The questions of one file, by the part of their documents.
#[derive(Default)]
struct File {
    train: Vec<JudgeQuestion>,
    validation: Vec<JudgeQuestion>,
    test: usize,
}

impl File {
    fn of(set: &QuestionSet, parts: &[Split], base: &Base, pairs: &PairOptions) -> Self {
        let mut questions: HashMap<usize, Vec<&Question>> = HashMap::new();
        for question in &set.questions {
            questions.entry(question.document).or_default().push(question);
        }
        let of_document = |(i, document): (usize, &pericope_api::Document)| {
            let (asked, part) = (questions.get(&i)?, *parts.get(i)?);
            let text = JudgeText::new(&document.source, &base.tokens, pairs.block);
            let made = asked.iter().filter_map(|one| text.question(&one.text, &one.gold, pairs.query));
            Some((part, made.collect::<Vec<_>>()))
        };
        let documents: Vec<(usize, &pericope_api::Document)> = set.documents.iter().enumerate().collect();
        let made: Vec<_> = documents.into_par_iter().map(of_document).collect();
        let mut found = Self::default();
        for (part, questions) in made.into_iter().flatten() {
            match part {
                Split::Train => found.train.extend(questions),
                Split::Validation => found.validation.extend(questions),
                Split::Test => found.test += questions.len(),
            }
        }
        found
    }
}
