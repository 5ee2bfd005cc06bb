//! What `pericope train` reads: documents and questions, parted.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use pericope_api::{Boundaries, Document};
use pericope_encode::Base;
use pericope_eval::data::{DataKind, load};
use pericope_learn::Sentences;
use pericope_learn::corpus::{CorpusError, Member, Record, SplitReport, each_record, files, has_documents, split};
use pericope_learn::training::{LabelledDocument, PreparedQuestion};
use pericope_learn::weswin::QUESTION;
use pericope_segeval::read::Segmented;
use pericope_segment::language;
use pericope_segment::split::{Shares, Split};
use serde::Serialize;

use crate::args::TrainArgs;
use crate::commands::dataset::corpus_failure;
use crate::commands::segment_eval::read_set;
use crate::input;
use crate::resources::shown;
use crate::status::Failure;

/// How many serve for what.
#[derive(Serialize, Clone, Copy)]
pub struct Counts {
    pub train: usize,
    pub validation: usize,
    pub test: usize,
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
        let mut found = Gathered::default();
        for path in &args.split.held_out {
            found.read(path, true)?;
        }
        let apart = found.documents.len();
        for path in args.data.iter().filter(|path| !args.split.held_out.contains(path)) {
            found.read(path, false)?;
        }
        if found.documents.len() == apart {
            return Err(Failure::usage("no document is left to train on: give more data"));
        }
        let division = split(&found.members, &args.split.options(args.no_holdout)).map_err(corpus_failure)?;
        let (mut train, mut validation) = (Vec::new(), Vec::new());
        for (one, part) in found.documents.iter().zip(&division.parts) {
            match part {
                Some(Split::Train) => train.push(labelled(one, base, tokens)),
                Some(Split::Validation) => validation.push(labelled(one, base, tokens)),
                Some(Split::Test) | None => {}
            }
        }
        if train.is_empty() {
            return Err(Failure::usage("no document is left to train on: give more data, or --no-holdout"));
        }
        Ok(Self { train, validation, split: division.report, unreadable: found.unreadable })
    }

    /// The number of documents of each part.
    pub fn counts(&self) -> Counts {
        let SplitReport { train, validation, test, .. } = &self.split;
        Counts { train: train.documents, validation: validation.documents, test: test.documents }
    }

    /// What the checkpoint says about its training.
    pub fn notes(&self, args: &TrainArgs, more: &str) -> String {
        let names = args.data.iter().filter_map(|path| path.file_name()).map(|name| name.to_string_lossy());
        let names = names.collect::<Vec<_>>().join(", ");
        format!("pericope {}: {} documents of {names}{more}", env!("CARGO_PKG_VERSION"), self.train.len())
    }
}

/// Documents of several files, with what the split needs of each.
#[derive(Default)]
struct Gathered {
    documents: Vec<Segmented>,
    members: Vec<Member>,
    unreadable: usize,
}

impl Gathered {
    /// Reads segmentation JSONL, packed or not and in folders at any depth, or another layout that segment-eval reads.
    fn read(&mut self, path: &Path, held_out: bool) -> Result<(), Failure> {
        let files = if path.is_dir() || has_documents(path) { files(&[path.to_owned()]) } else { Ok(Vec::new()) };
        let files = match files {
            // A folder in another layout.
            Err(CorpusError::Nothing { .. }) => Vec::new(),
            files => files.map_err(corpus_failure)?,
        };
        if files.is_empty() {
            let set = read_set(path, None, (0, 0), None)?;
            self.unreadable += input::report(&set.skipped);
            for one in set.documents {
                let record = record(&one, set.renamed.get(&one.document.id), &set.name);
                self.members.push(Member::of(&record, held_out));
                self.documents.push(one);
            }
            return Ok(());
        }
        let before = self.documents.len();
        let skipped = each_record(&files, &mut |record| {
            if let Some(one) = segmented(&record) {
                self.members.push(Member::of(&record, held_out));
                self.documents.push(one);
            }
            ControlFlow::Continue(())
        });
        let skipped = skipped.map_err(corpus_failure)?;
        self.unreadable += input::report_skipped(&skipped);
        if self.documents.len() == before {
            let first = skipped.problems.first().map_or("it is empty", String::as_str);
            return Err(Failure::usage(format!("{}: no document in it can be used ({first})", shown(path))));
        }
        Ok(())
    }
}

/// A document of a layout without sources: its source is the set, its id that in the file.
fn record(one: &Segmented, id: Option<&String>, set: &str) -> Record {
    let Segmented { document, reference, .. } = one;
    Record {
        id: id.unwrap_or(&document.id).clone(),
        source: set.to_owned(),
        sentences: (0..document.len()).map(|i| document.sentence(i).to_owned()).collect(),
        boundaries: reference.after().to_vec(),
        labels: one.labels.clone(),
        ..Record::default()
    }
}

/// A record as segmenters read it. What [`Record::parse`] has checked has boundaries inside its sentences.
fn segmented(record: &Record) -> Option<Segmented> {
    let document = Document::from_sentences(&record.id, &record.sentences);
    let reference = Boundaries::new(document.len(), record.boundaries.clone()).ok()?;
    Some(Segmented { document, reference, labels: record.labels.clone() })
}

/// A document as the trainer reads it: as the segmenter will, without code and tables.
pub fn labelled(one: &Segmented, base: &Base, tokens: usize) -> LabelledDocument {
    let Segmented { document, reference, .. } = one;
    let read = language::sentences(document);
    let limit = tokens.saturating_sub(3);
    let ids: Vec<Vec<u32>> =
        read.iter().map(|&i| base.tokens.ids(&document.visible(document.sentences[i].span), limit)).collect();
    // A boundary behind what is not read belongs to the last sentence that is.
    let mut ends = vec![false; read.len()];
    for &after in reference.after() {
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
