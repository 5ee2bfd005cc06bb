//! The coordinates of a result: chunker, retrieval mode, and the cutoff that limits what the reader gets.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::format;

/// The limit on what is retrieved for one question. Chunk counts order before token budgets.
///
/// In files it is two keys, of which one is `null`: `"k": 3, "token_budget": null`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cutoff {
    /// The best so many chunks, at least 1.
    K(usize),
    /// The best chunks, as many as fill so many tokens, at least 1.
    Tokens(usize),
}

impl Default for Cutoff {
    /// The best chunk.
    fn default() -> Self {
        Cutoff::K(1)
    }
}

/// The two keys of a cutoff in files and in the history's tables.
#[derive(Serialize, Deserialize)]
struct Keys {
    #[serde(default)]
    k: Option<usize>,
    #[serde(default)]
    token_budget: Option<usize>,
}

impl Cutoff {
    /// Returns the cutoff of two keys of which one is absent; none where both or neither are there.
    #[must_use]
    pub fn from_keys(k: Option<usize>, token_budget: Option<usize>) -> Option<Self> {
        match (k, token_budget) {
            (Some(k), None) => Some(Cutoff::K(k)),
            (None, Some(tokens)) => Some(Cutoff::Tokens(tokens)),
            _ => None,
        }
    }

    /// Returns the number of chunks; none for a budget of tokens.
    #[must_use]
    pub fn k(self) -> Option<usize> {
        match self {
            Cutoff::K(k) => Some(k),
            Cutoff::Tokens(_) => None,
        }
    }

    /// Returns the budget in tokens; none for a number of chunks.
    #[must_use]
    pub fn tokens(self) -> Option<usize> {
        match self {
            Cutoff::K(_) => None,
            Cutoff::Tokens(tokens) => Some(tokens),
        }
    }

    /// Returns the number of chunks or of tokens, whichever it is.
    #[must_use]
    pub fn size(self) -> usize {
        match self {
            Cutoff::K(size) | Cutoff::Tokens(size) => size,
        }
    }

    /// Returns `k = 3` or `1,024 tokens`, with spaces that do not break.
    #[must_use]
    pub fn label(self) -> String {
        match self {
            Cutoff::K(k) => format!("k\u{a0}=\u{a0}{k}"),
            Cutoff::Tokens(tokens) => format!("{}\u{a0}tokens", format::count(tokens)),
        }
    }

    /// Returns `At k = 3` or `At an equal budget of 1,024 tokens`, to begin a sentence with.
    #[must_use]
    pub fn at(self) -> String {
        match self {
            Cutoff::K(k) => format!("At k = {k}"),
            Cutoff::Tokens(tokens) => format!("At an equal budget of {} tokens", format::count(tokens)),
        }
    }
}

impl Serialize for Cutoff {
    fn serialize<S: Serializer>(&self, into: S) -> Result<S::Ok, S::Error> {
        Keys { k: self.k(), token_budget: self.tokens() }.serialize(into)
    }
}

impl<'de> Deserialize<'de> for Cutoff {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let keys = Keys::deserialize(from)?;
        Cutoff::from_keys(keys.k, keys.token_budget).filter(|cutoff| cutoff.size() > 0).ok_or_else(|| {
            serde::de::Error::custom("one of k and token_budget must be a number from 1, and the other null")
        })
    }
}

/// A retrieval mode at a cutoff: what all chunkers of a comparison share.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Setting {
    /// Name of the retrieval mode.
    pub mode: String,
    /// The cutoff.
    #[serde(flatten)]
    pub cutoff: Cutoff,
}

impl Setting {
    /// Returns true where mode and cutoff are these.
    #[must_use]
    pub fn is(&self, mode: &str, cutoff: Cutoff) -> bool {
        self.mode == mode && self.cutoff == cutoff
    }

    /// Returns the cutoff's label: `k = 3` or `1,024 tokens`.
    #[must_use]
    pub fn label(&self) -> String {
        self.cutoff.label()
    }
}

/// The key of one cell of a run's table: one chunker in one mode at one cutoff.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct CellKey {
    /// Name of the chunker.
    pub chunker: String,
    /// Name of the retrieval mode.
    pub mode: String,
    /// The cutoff.
    #[serde(flatten)]
    pub cutoff: Cutoff,
}

impl CellKey {
    /// Returns mode and cutoff without the chunker.
    #[must_use]
    pub fn setting(&self) -> Setting {
        Setting { mode: self.mode.clone(), cutoff: self.cutoff }
    }

    /// Returns true where the cell is at this setting.
    #[must_use]
    pub fn is_at(&self, setting: &Setting) -> bool {
        setting.is(&self.mode, self.cutoff)
    }

    /// Returns `k = 3, dense`.
    #[must_use]
    pub fn setting_words(&self) -> String {
        format!("{}, {}", self.cutoff.label(), self.mode)
    }

    /// Returns `semantic at k = 3, dense`.
    #[must_use]
    pub fn words(&self) -> String {
        format!("{} at {}", self.chunker, self.setting_words())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::{CellKey, Cutoff};

    #[test]
    fn files_hold_both_keys_of_a_cutoff() {
        for (cutoff, json) in [
            (Cutoff::K(3), r#"{"chunker":"c","mode":"dense","k":3,"token_budget":null}"#),
            (Cutoff::Tokens(512), r#"{"chunker":"c","mode":"dense","k":null,"token_budget":512}"#),
        ] {
            let key = CellKey { chunker: "c".into(), mode: "dense".into(), cutoff };
            assert_eq!(serde_json::to_string(&key).unwrap(), json);
            assert_eq!(serde_json::from_str::<CellKey>(json).unwrap(), key);
        }
        let one = r#"{"chunker":"c","mode":"dense","k":5}"#;
        assert_eq!(serde_json::from_str::<CellKey>(one).unwrap().cutoff, Cutoff::K(5));
        for wrong in [
            r#"{"chunker":"c","mode":"dense"}"#,
            r#"{"chunker":"c","mode":"dense","k":3,"token_budget":512}"#,
            r#"{"chunker":"c","mode":"dense","k":0}"#,
        ] {
            assert!(serde_json::from_str::<CellKey>(wrong).unwrap_err().to_string().contains("token_budget"));
        }
    }

    #[test]
    fn chunk_counts_come_before_token_budgets() {
        let mut cutoffs = [Cutoff::Tokens(512), Cutoff::K(10), Cutoff::Tokens(64), Cutoff::K(3)];
        cutoffs.sort_unstable();
        assert_eq!(cutoffs, [Cutoff::K(3), Cutoff::K(10), Cutoff::Tokens(64), Cutoff::Tokens(512)]);
        assert_eq!(Cutoff::Tokens(1024).label(), "1,024\u{a0}tokens");
    }
}
