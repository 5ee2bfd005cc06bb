use std::collections::BTreeMap;

use serde::Serialize;

use super::super::squad::SquadFile;
use super::QuestionKind;

/// What is drafted, and how much of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftOptions {
    /// Questions at most; default 200.
    pub questions: usize,
    /// Another seed, other questions; default 7.
    pub seed: u64,
    /// The kinds; default: all that need no model. Half of the questions are answered by sections, half by a few sentences,
    /// and within each half the kinds get equal shares, as far as the documents hold enough of each; what one half lacks, the other
    /// fills.
    pub kinds: Vec<QuestionKind>,
}

impl Default for DraftOptions {
    fn default() -> Self {
        Self { questions: 200, seed: 7, kinds: QuestionKind::WITHOUT_MODEL.to_vec() }
    }
}

/// What was drafted.
#[derive(Debug, Clone, Default)]
pub struct Drafted {
    /// Documents and questions in SQuAD's layout; each question has its kind and the byte range of its answer.
    pub file: SquadFile,
    /// Questions of each kind.
    pub kinds: BTreeMap<QuestionKind, usize>,
    /// Documents that a question is about.
    pub asked: usize,
    /// Candidates that were dropped, by the reason.
    pub dropped: BTreeMap<Dropped, usize>,
}

/// Why a candidate is no question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Dropped {
    /// Another place gives the same query.
    Ambiguous,
    /// The answer, or nearly the same text, stands elsewhere too.
    Copied,
    /// A heading, or another line that stays in the document, says what the query says.
    Leaks,
    /// The heading cannot be taken out without changing what else the document is read as.
    Unmaskable,
    /// Another question says nearly the same.
    Repeated,
}

impl Dropped {
    /// Returns the reason, for people.
    #[must_use]
    pub fn why(self) -> &'static str {
        match self {
            Self::Ambiguous => "several places give the same query",
            Self::Copied => "the answer also stands elsewhere",
            Self::Leaks => "the document says the query elsewhere",
            Self::Unmaskable => "the heading cannot be taken out",
            Self::Repeated => "another question says nearly the same",
        }
    }
}

impl Drafted {
    /// Returns the number of questions.
    #[must_use]
    pub fn questions(&self) -> usize {
        self.kinds.values().sum()
    }

    /// Counts a candidate that was dropped.
    pub(super) fn drop_one(&mut self, why: Dropped) {
        *self.dropped.entry(why).or_default() += 1;
    }
}
