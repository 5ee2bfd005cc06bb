use std::path::Path;
use std::sync::Arc;

use pericope_api::Document;

use super::{Observer, RunError};
use crate::config::Experiment;
use crate::data::{self, DataError, DataKind, QuestionSet, Sampling, Selection};

/// The documents and questions that an experiment asks for, sampled; what was left out is noted.
///
/// # Errors
/// [`RunError::Config`] where the path holds a variable that is not set, [`RunError::Data`] where nothing can be read.
pub fn load(experiment: &Experiment, observer: &dyn Observer) -> Result<QuestionSet, RunError> {
    let path = experiment.data_path().map_err(|e| RunError::Config(e.to_string()))?;
    let sampling = Sampling {
        documents: experiment.data.documents,
        questions: experiment.data.questions,
        seed: experiment.data.seed,
    };
    let selection = Selection { sources: experiment.data.sources.clone(), split: experiment.data.split.clone() };
    let read = data::select(experiment.data.kind, &path, &selection);
    let mut set = read.map_err(|error| with_variable(error, &experiment.data.path, &path))?.sample(sampling);
    if experiment.data.limit > 0 {
        set.questions.truncate(experiment.data.limit);
    }
    note_skipped(&set.skipped, observer);
    note_mended(&set.mended, experiment.data.kind, observer);
    Ok(set)
}

/// Says what was left out of the data: the first reasons, and how many more there are.
pub(super) fn note_skipped(skipped: &[String], observer: &dyn Observer) {
    const SHOWN: usize = 5;
    for reason in skipped.iter().take(SHOWN) {
        observer.note(&format!("left out: {reason}"));
    }
    if skipped.len() > SHOWN {
        observer.note(&format!("left out: {} more", skipped.len() - SHOWN));
    }
}

/// Says what of the data was taken otherwise than it stands in the file: how much, and the first of it.
fn note_mended(mended: &[String], kind: DataKind, observer: &dyn Observer) {
    let Some(first) = mended.first() else { return };
    let (questions, are) = if mended.len() == 1 { ("question", "is") } else { ("questions", "are") };
    let all = if kind == DataKind::Squad { " (`pericope dataset validate` names all)" } else { "" };
    let count = mended.len();
    observer
        .note(&format!("{count} {questions} {are} taken otherwise than the data has them{all}, the first: {first}"));
}

/// Says where a path that is not there comes from, where a variable may name another.
fn with_variable(error: DataError, written: &str, path: &Path) -> DataError {
    if !written.contains("${") || path.exists() {
        return error;
    }
    let problem = format!(
        "there is no such file or folder; it comes from data.path = \"{written}\", whose variable may name another"
    );
    DataError::Layout { path: path.to_owned(), problem }
}

/// The corpus in the shape that the parts of a run share.
pub(crate) struct Corpus {
    pub(crate) documents: Arc<Vec<Document>>,
    /// The questions; its own `documents` are empty.
    pub(crate) set: QuestionSet,
}

impl Corpus {
    pub(super) fn new(mut set: QuestionSet) -> Self {
        let documents = Arc::new(std::mem::take(&mut set.documents));
        Self { documents, set }
    }
}
