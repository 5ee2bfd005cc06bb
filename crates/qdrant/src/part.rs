use std::fmt;
use std::str::FromStr;

use twox_hash::XxHash3_128;

/// One of `of` disjoint parts of all documents, by a hash of their ids: so that many workers can load one collection,
/// each its own part, and together load exactly what one worker would.
///
/// ```
/// # use pericope_qdrant::Part;
/// let part: Part = "2/3".parse()?;
/// let mine: Vec<&str> = ["a.md", "b.md", "c.md", "d.md"].into_iter().filter(|id| part.holds(id)).collect();
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Which one, from 1.
    pub number: u32,
    /// How many there are.
    pub of: u32,
}

impl Part {
    /// All documents.
    pub const WHOLE: Self = Self { number: 1, of: 1 };

    /// True where the document belongs to this part: XXH3-128 (seed 0) of its id, modulo the number of parts.
    #[must_use]
    pub fn holds(&self, document: &str) -> bool {
        XxHash3_128::oneshot(document.as_bytes()) % u128::from(self.of.max(1)) == u128::from(self.number) - 1
    }
}

impl FromStr for Part {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let numbers = s.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        match numbers {
            Some((number, of)) if 1 <= number && number <= of => Ok(Self { number, of }),
            _ => Err(format!("`{s}` is no part; write I/N, with I from 1 to N")),
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_no_part_is_refused() {
        assert_eq!("2/3".parse::<Part>().unwrap(), Part { number: 2, of: 3 });
        for text in ["0/3", "4/3", "3", "a/b", "1/0", "-1/2", ""] {
            assert!(text.parse::<Part>().unwrap_err().contains("is no part"), "{text}");
        }
    }

    /// The hash must not change between versions: workers of two versions would load a document twice or not at all.
    #[test]
    fn the_split_is_fixed() {
        let parts: Vec<u128> = ["guide/install.md", "guide/use.md", "api.html"]
            .iter()
            .map(|id| (1..=4).find(|&number| Part { number, of: 4 }.holds(id)).unwrap().into())
            .collect();
        let expected: Vec<u128> = ["guide/install.md", "guide/use.md", "api.html"]
            .iter()
            .map(|id| XxHash3_128::oneshot(id.as_bytes()) % 4 + 1)
            .collect();
        assert_eq!(parts, expected);
        // 0x99aa...497f, the published hash of nothing, is 3 modulo 4.
        assert!(Part { number: 4, of: 4 }.holds(""));
    }

    #[test]
    fn parts_are_about_equal() {
        let held = |number| (0..4000).filter(|i| Part { number, of: 4 }.holds(&format!("doc/{i}.md"))).count();
        for number in 1..=4 {
            assert!((900..1100).contains(&held(number)), "part {number} holds {}", held(number));
        }
    }

    proptest! {
        #[test]
        fn every_document_is_in_exactly_one(document in "\\PC{0,40}", of in 1_u32..9) {
            prop_assert_eq!((1..=of).filter(|&number| Part { number, of }.holds(&document)).count(), 1);
        }
    }
}
