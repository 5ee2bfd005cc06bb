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

/// The shares of documents that are not trained on, and the seed that chooses them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shares {
    /// The share to validate on, 0..=1.
    pub validation: f64,
    /// The share to test on, 0..=1.
    pub test: f64,
    /// Another seed, other documents.
    pub seed: u64,
}

impl Default for Shares {
    /// 10 in 100 to validate on and 10 in 100 to test on: those of [`split_of`].
    fn default() -> Self {
        Self { validation: 0.1, test: 0.1, seed: 0 }
    }
}

/// Places that a name may have; the shares are counted in them.
const PLACES: u64 = 10_000_000;

impl Shares {
    /// All documents to train on.
    pub const NONE: Self = Self { validation: 0.0, test: 0.0, seed: 0 };

    /// Checks the shares.
    ///
    /// # Errors
    /// What is wrong with them: a share that is negative or no number, or two that are more than 1 together.
    pub fn check(&self) -> Result<(), String> {
        for (name, share) in [("validation", self.validation), ("test", self.test)] {
            if !(0.0..=1.0).contains(&share) {
                return Err(format!("the share for {name} is {share}: it must be from 0 to 1"));
            }
        }
        match self.validation + self.test {
            both if both > 1.0 => Err(format!("the shares for validation and test are {both} together, more than 1")),
            _ => Ok(()),
        }
    }

    /// Returns the part of what has this name: a document's id, or a source's name. It depends on the name, the shares
    /// and the seed alone, and stays the same whatever else a collection holds. A larger share holds the smaller one's
    /// test documents.
    #[must_use]
    pub fn part(&self, name: &str) -> Split {
        let place = self.place(name) as f64 / PLACES as f64;
        if place < self.test {
            Split::Test
        } else if place < self.test + self.validation {
            Split::Validation
        } else {
            Split::Train
        }
    }

    /// A number below [`PLACES`], from the SHA-256 of the name, behind the seed where that is not 0. The last digit of its
    /// first eight bytes, a big-endian number, comes first.
    fn place(&self, name: &str) -> u64 {
        let mut digest = Sha256::new();
        if self.seed != 0 {
            digest.update(self.seed.to_be_bytes());
        }
        digest.update(name.as_bytes());
        let number = digest.finalize().iter().take(8).fold(0u64, |number, &byte| number << 8 | u64::from(byte));
        number % 10 * (PLACES / 10) + number / 10 % (PLACES / 10)
    }
}

/// Returns the split of a document by the SHA-256 of its id alone: its first eight bytes, a big-endian number, modulo
/// 10; 0 is test, 1 validation. It stays the same whatever else a collection holds. These are the default [`Shares`].
///
/// ```
/// use pericope_segment::split::{Split, split_of};
///
/// assert_eq!(split_of("a"), Split::Test);
/// assert_eq!(split_of("b"), Split::Train);
/// ```
#[must_use]
pub fn split_of(id: &str) -> Split {
    Shares::default().part(id)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use sha2::{Digest, Sha256};

    use super::{Shares, Split, split_of};

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

    #[test]
    fn the_default_shares_are_those_of_the_last_digit() {
        for i in 0..2_000 {
            let id = format!("document {i}");
            let digest = Sha256::digest(id.as_bytes());
            let number = u64::from_be_bytes(*digest.first_chunk().unwrap());
            let wanted = match number % 10 {
                0 => Split::Test,
                1 => Split::Validation,
                _ => Split::Train,
            };
            assert_eq!(split_of(&id), wanted, "{id}");
        }
    }

    #[test]
    fn shares_are_kept_and_seeds_choose_others() {
        let ids: Vec<String> = (0..20_000).map(|i| format!("document {i}")).collect();
        let shares = Shares { validation: 0.05, test: 0.333, seed: 3 };
        let count = |split| ids.iter().filter(|id| shares.part(id) == split).count() as f64 / ids.len() as f64;
        assert!((count(Split::Test) - 0.333).abs() < 0.01 && (count(Split::Validation) - 0.05).abs() < 0.01);
        let tested = |seed, test| -> Vec<&String> {
            let shares = Shares { validation: 0.1, test, seed };
            ids.iter().filter(|id| shares.part(id) == Split::Test).collect()
        };
        let (small, large) = (tested(3, 0.02), tested(3, 0.05));
        assert!(small.iter().all(|id| large.contains(id)) && small.len() < large.len());
        assert!(tested(4, 0.02).iter().filter(|id| small.contains(id)).count() < small.len() / 5);
        assert!(ids.iter().all(|id| Shares::NONE.part(id) == Split::Train));
        let all = Shares { validation: 0.0, test: 1.0, seed: 0 };
        assert!(ids.iter().all(|id| all.part(id) == Split::Test));
    }

    #[test]
    fn shares_that_cannot_be_are_refused() {
        let check = |validation, test| Shares { validation, test, seed: 0 }.check();
        assert!(check(0.5, 0.5).is_ok() && check(0.0, 0.0).is_ok());
        assert!(check(-0.1, 0.0).unwrap_err().contains("validation is -0.1"));
        assert!(check(0.0, f64::NAN).unwrap_err().contains("test is NaN"));
        assert!(check(0.6, 0.5).unwrap_err().contains("more than 1"));
    }
}
