//! Language models that answer for no document at all.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use pericope_api::SegmentError;

use crate::status::Failure;

/// Whether anything became of the documents that a language model was asked about. One that it gave no answer for is left out, and
/// the others go on; where there are no others, the model is at fault and not the input.
#[derive(Debug, Default)]
pub struct Unanswered {
    /// Some document was cut, or left out for another reason.
    any_other: AtomicBool,
    /// The first failure of a model.
    problem: Mutex<Option<String>>,
}

impl Unanswered {
    /// Takes note of what became of a document.
    pub fn note<T>(&self, made: &Result<T, SegmentError>) {
        match made {
            Err(SegmentError::Model { problem, .. }) => {
                self.problem.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| problem.clone());
            }
            _ => self.any_other.store(true, Ordering::Relaxed),
        }
    }

    /// The failure of a command that came to nothing since its model gave no answer. With `offline` nothing was asked.
    pub fn failure(&self, offline: bool) -> Option<Failure> {
        if offline || self.any_other.load(Ordering::Relaxed) {
            return None;
        }
        let problem = self.problem.lock().unwrap_or_else(PoisonError::into_inner);
        problem.as_ref().map(|problem| Failure::runtime(format!("no document was cut: the language model: {problem}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_document_that_was_cut_is_enough() {
        let down = || Err::<(), _>(SegmentError::Model { problem: "no answer".to_owned(), stops: false });
        let unanswered = Unanswered::default();
        assert!(unanswered.failure(false).is_none(), "nothing was asked");
        unanswered.note(&down());
        unanswered.note(&down());
        assert!(unanswered.failure(true).is_none());
        let failure = unanswered.failure(false);
        assert_eq!(failure.as_ref().map(Failure::code), Some(3));
        assert!(failure.is_some_and(|failure| failure.to_string().ends_with("the language model: no answer")));
        unanswered.note(&Ok(()));
        assert!(unanswered.failure(false).is_none());
    }
}
