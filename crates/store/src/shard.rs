use std::fmt;
use std::str::FromStr;

use twox_hash::XxHash3_128;

/// One of N disjoint shares of all documents, by a hash of their ids: many workers load one store, each its own shard,
/// and together load exactly what one worker would.
///
/// ```
/// # use pericope_store::Shard;
/// let shard: Shard = "2/3".parse()?;
/// let mine: Vec<&str> = ["a.md", "b.md", "c.md", "d.md"].into_iter().filter(|id| shard.holds(id)).collect();
/// # Ok::<(), pericope_store::NoShard>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// The number of the shard, from 1.
    pub number: u32,
    /// The number of shards.
    pub of: u32,
}

/// A text that names no [`Shard`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no shard; write I/N, with I from 1 to N")]
pub struct NoShard(String);

impl Shard {
    /// Returns true if the document belongs to this shard: XXH3-128 (seed 0) of its id, modulo the number of shards.
    #[must_use]
    pub fn holds(&self, document: &str) -> bool {
        XxHash3_128::oneshot(document.as_bytes()) % u128::from(self.of.max(1)) + 1 == u128::from(self.number)
    }
}

impl FromStr for Shard {
    type Err = NoShard;

    fn from_str(s: &str) -> Result<Self, NoShard> {
        let numbers = s.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        match numbers {
            Some((number, of)) if 1 <= number && number <= of => Ok(Self { number, of }),
            _ => Err(NoShard(s.to_owned())),
        }
    }
}

impl fmt::Display for Shard {
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
    fn what_is_no_shard_is_refused() {
        assert_eq!("2/3".parse::<Shard>().unwrap(), Shard { number: 2, of: 3 });
        for text in ["0/3", "4/3", "3", "a/b", "1/0", "-1/2", ""] {
            assert!(text.parse::<Shard>().unwrap_err().to_string().contains("is no shard"), "{text}");
        }
    }

    /// The hash must not change between versions: workers of two versions would load a document twice or not at all.
    #[test]
    fn the_split_is_fixed() {
        let ids = ["guide/install.md", "guide/use.md", "api.html"];
        let shards: Vec<u128> =
            ids.iter().map(|id| (1..=4).find(|&number| Shard { number, of: 4 }.holds(id)).unwrap().into()).collect();
        let expected: Vec<u128> = ids.iter().map(|id| XxHash3_128::oneshot(id.as_bytes()) % 4 + 1).collect();
        assert_eq!(shards, expected);
        // 0x99aa...497f, the published hash of nothing, is 3 modulo 4.
        assert!(Shard { number: 4, of: 4 }.holds(""));
    }

    #[test]
    fn shards_are_about_equal() {
        let held = |number| (0..4000).filter(|i| Shard { number, of: 4 }.holds(&format!("doc/{i}.md"))).count();
        for number in 1..=4 {
            assert!((900..1100).contains(&held(number)), "shard {number} holds {}", held(number));
        }
    }

    proptest! {
        #[test]
        fn every_document_is_in_exactly_one(document in "\\PC{0,40}", of in 1_u32..9) {
            prop_assert_eq!((1..=of).filter(|&number| Shard { number, of }.holds(&document)).count(), 1);
        }
    }
}
