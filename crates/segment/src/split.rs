//! The one division of documents into those to train on, to validate on and to test on.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The use of a document, which [`split_of`] reads from its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Split {
    /// Documents to learn from: 80 in 100.
    Train,
    /// Documents to stop by and to tune on: 10 in 100.
    Validation,
    /// Documents for figures that are reported: 10 in 100.
    Test,
}

impl FromStr for Split {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "train" => Ok(Split::Train),
            "validation" => Ok(Split::Validation),
            "test" => Ok(Split::Test),
            _ => Err(format!("{text:?} is no part: known are train, validation and test")),
        }
    }
}

impl fmt::Display for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Split::Train => "train",
            Split::Validation => "validation",
            Split::Test => "test",
        })
    }
}

/// Returns the split of a document by the SHA-256 of its id alone: its first eight bytes, a big-endian number, modulo
/// 10; 0 is test, 1 validation. It stays the same whatever else a collection holds.
///
/// ```
/// use pericope_segment::split::{Split, split_of};
///
/// assert_eq!(split_of("a"), Split::Test);
/// assert_eq!(split_of("b"), Split::Train);
/// ```
#[must_use]
pub fn split_of(id: &str) -> Split {
    let digest = Sha256::digest(id.as_bytes());
    let number = digest.iter().take(8).fold(0u64, |number, &byte| number << 8 | u64::from(byte));
    match number % 10 {
        0 => Split::Test,
        1 => Split::Validation,
        _ => Split::Train,
    }
}

#[cfg(test)]
mod tests {
    use super::{Split, split_of};

    #[test]
    fn splits_are_of_the_sizes_said_and_stay() {
        let splits: Vec<Split> = (0..10_000).map(|i| split_of(&format!("document {i}"))).collect();
        let count = |split| splits.iter().filter(|&&s| s == split).count();
        assert!((900..1100).contains(&count(Split::Test)) && (900..1100).contains(&count(Split::Validation)));
        // By Python: int.from_bytes(hashlib.sha256(b"a").digest()[:8], "big") % 10 is 0, of b"b" 6, of b"d" 9.
        assert_eq!(["a", "b", "d"].map(split_of), [Split::Test, Split::Train, Split::Train]);
        for split in [Split::Train, Split::Validation, Split::Test] {
            assert_eq!(split.to_string().parse(), Ok(split));
        }
    }
}
