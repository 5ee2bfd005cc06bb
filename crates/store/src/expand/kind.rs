use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The tokens of an expanded hit, at most, where nothing is said.
pub const EXPAND_TOKENS: usize = 512;

/// What is given back in place of a chunk that was found.
///
/// As text: `none`, `parent`, `merge`, `neighbours:N` (`neighbours` is `neighbours:1`), `segment`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Expand {
    /// The chunk alone.
    #[default]
    None,
    /// The coarsest parent that fits: the document, else the section of the outermost heading that does, else as many
    /// neighbours of the chunk within its innermost section as fit.
    Parent,
    /// A section instead of its chunks, the coarsest of which more than half of the chunks were found. Where no section is
    /// one, chunks of a section that were found join if more than half of all from the first to the last were.
    Merge,
    /// So many chunks before and after it.
    Neighbours(usize),
    /// The run of chunks around it with the greatest sum of their weights, each less a penalty. Chunks that were not
    /// found weigh nothing.
    Segment,
}

/// A text that is no [`Expand`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no expansion; they are none, parent, merge, neighbours:N (N from 1 on), segment")]
pub struct UnknownExpand(String);

impl FromStr for Expand {
    type Err = UnknownExpand;

    fn from_str(s: &str) -> Result<Self, UnknownExpand> {
        let unknown = || UnknownExpand(s.to_owned());
        match s {
            "none" => Ok(Self::None),
            "parent" => Ok(Self::Parent),
            "merge" => Ok(Self::Merge),
            "neighbours" => Ok(Self::Neighbours(1)),
            "segment" => Ok(Self::Segment),
            _ => {
                let reach = s.strip_prefix("neighbours:").and_then(|n| n.parse().ok()).filter(|n| *n > 0);
                reach.map(Self::Neighbours).ok_or_else(unknown)
            }
        }
    }
}

impl fmt::Display for Expand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Parent => f.write_str("parent"),
            Self::Merge => f.write_str("merge"),
            Self::Neighbours(reach) => write!(f, "neighbours:{reach}"),
            Self::Segment => f.write_str("segment"),
        }
    }
}

impl Serialize for Expand {
    fn serialize<S: Serializer>(&self, into: S) -> Result<S::Ok, S::Error> {
        into.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Expand {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

/// An expansion with its budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Expansion {
    /// What is given back.
    pub expand: Expand,
    /// The tokens of a run, at most: the sum of its chunks' own, whose special tokens count each time. A chunk that has more
    /// by itself is given back alone.
    pub tokens: usize,
}

impl Expansion {
    /// The same for an answer of so many tokens: what is above them would be left out, and the chunk that was found with it.
    #[must_use]
    pub fn within(self, budget: Option<usize>) -> Self {
        Self { tokens: budget.map_or(self.tokens, |budget| self.tokens.min(budget)), ..self }
    }
}

impl Default for Expansion {
    fn default() -> Self {
        Self { expand: Expand::None, tokens: EXPAND_TOKENS }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn expansions_are_read_as_they_are_written() {
        for expand in [Expand::None, Expand::Parent, Expand::Merge, Expand::Neighbours(3), Expand::Segment] {
            assert_eq!(expand.to_string().parse(), Ok(expand));
            assert_eq!(serde_json::from_value::<Expand>(serde_json::json!(expand)).unwrap(), expand);
        }
        assert_eq!("neighbours".parse(), Ok(Expand::Neighbours(1)));
        for wrong in ["", "parents", "neighbours:", "neighbours:0", "neighbours:-1", "Parent", "segment:2"] {
            let said = wrong.parse::<Expand>().unwrap_err().to_string();
            assert!(said.contains("none, parent, merge, neighbours:N"), "{said}");
        }
    }
}
