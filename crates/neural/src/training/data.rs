use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::weswin::Sentences;

/// A document whose boundaries are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labelled {
    /// Its id, which decides its [`Part`].
    pub id: String,
    /// Its sentences as the base model's tokens; for WeSWin at most 3 less of each than a sequence has.
    pub sentences: Sentences,
    /// True where a segment ends after the sentence; the last one's entry is not used.
    pub ends: Vec<bool>,
}

/// A question about a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The document's sentences; questions about one document share them.
    pub sentences: Arc<Sentences>,
    /// True for sentences inside the answer.
    pub relevant: Vec<bool>,
    /// The question's tokens.
    pub question: Vec<u32>,
}

/// What WeSWin is trained on.
#[derive(Debug, Clone, Copy, Default)]
pub struct Data<'a> {
    /// Documents to learn boundaries from.
    pub train: &'a [Labelled],
    /// Documents to stop by and to tune on; without boundaries in them all steps are done and the last weights stay.
    pub validation: &'a [Labelled],
    /// Questions to train the retrieval head on; without any the model has none.
    pub questions: &'a [Asked],
    /// Questions that the retrieval head is measured on at each validation.
    pub validation_questions: &'a [Asked],
}

/// What a document serves for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// To learn from: 80 in 100.
    Train,
    /// To stop by and to tune on: 10 in 100.
    Validation,
    /// For figures that are reported: 10 in 100.
    Test,
}

impl Labelled {
    /// True where a segment ends before the last sentence.
    #[must_use]
    pub fn has_boundary(&self) -> bool {
        self.ends.iter().rev().skip(1).any(|&end| end)
    }
}

impl std::str::FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "train" => Ok(Part::Train),
            "validation" => Ok(Part::Validation),
            "test" => Ok(Part::Test),
            _ => Err(format!("{text:?} is no part: known are train, validation and test")),
        }
    }
}

/// The part of a document, by the SHA-256 of its id alone: its first eight bytes, a big-endian number, modulo 10; 0 is
/// test, 1 validation. It stays what it is whatever else a collection holds.
#[must_use]
pub fn part_of(id: &str) -> Part {
    let digest = Sha256::digest(id.as_bytes());
    let number = digest.iter().take(8).fold(0u64, |number, &byte| number << 8 | u64::from(byte));
    match number % 10 {
        0 => Part::Test,
        1 => Part::Validation,
        _ => Part::Train,
    }
}

#[cfg(test)]
mod tests {
    use super::{Part, part_of};

    #[test]
    fn parts_are_of_the_sizes_said_and_stay() {
        let parts: Vec<Part> = (0..10_000).map(|i| part_of(&format!("document {i}"))).collect();
        let count = |part| parts.iter().filter(|&&p| p == part).count();
        assert!((900..1100).contains(&count(Part::Test)) && (900..1100).contains(&count(Part::Validation)));
        // By Python: int.from_bytes(hashlib.sha256(b"a").digest()[:8], "big") % 10 is 0, of b"b" 6, of b"d" 9.
        assert_eq!(["a", "b", "d"].map(part_of), [Part::Test, Part::Train, Part::Train]);
    }
}
