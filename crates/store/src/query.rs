use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Filter;

/// The way in which chunks are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// By the words that they share with the query.
    Bm25,
    /// By the nearness of their vector to the query's.
    Dense,
    /// By both, joined by reciprocal rank fusion (k = 60).
    Hybrid,
}

impl Mode {
    /// Every mode.
    pub const ALL: [Mode; 3] = [Mode::Bm25, Mode::Dense, Mode::Hybrid];

    /// The name in specs, arguments and answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Mode::Bm25 => "bm25",
            Mode::Dense => "dense",
            Mode::Hybrid => "hybrid",
        }
    }
}

/// A name that no [`Mode`] has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no mode `{0}`; the modes are bm25, dense, hybrid")]
pub struct UnknownMode(String);

impl FromStr for Mode {
    type Err = UnknownMode;

    fn from_str(s: &str) -> Result<Self, UnknownMode> {
        Mode::ALL.into_iter().find(|mode| mode.name() == s).ok_or_else(|| UnknownMode(s.to_owned()))
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A question to a store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Query {
    /// A question or some words, in plain language: there is no syntax that could be wrong. An embedded index looks for
    /// words in double quotes as a phrase; a server looks for each of them.
    pub text: String,
    /// The way in which chunks are found.
    pub mode: Mode,
    /// The number of hits, at most.
    pub k: usize,
    /// The weight of a word in the heading path, beside 1 in the text (BM25 only); 0 leaves headings out. A server
    /// ignores it: the weight is part of what is stored.
    #[serde(default = "half")]
    pub heading_weight: f32,
    /// The weight of a word in the document's title, as above.
    #[serde(default = "half")]
    pub title_weight: f32,
    /// The query's vector; without one the store's encoder is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vector: Option<Vec<f32>>,
    /// The conditions that chunks must meet.
    #[serde(default)]
    pub filter: Filter,
}

fn half() -> f32 {
    0.5
}

impl Query {
    /// Returns a query with the default weights: 0.5 for the heading path, 0.5 for the title.
    #[must_use]
    pub fn new(text: impl Into<String>, mode: Mode, k: usize) -> Self {
        let filter = Filter::default();
        Self { text: text.into(), mode, k, heading_weight: half(), title_weight: half(), vector: None, filter }
    }

    /// Scores the chunks' text alone, as a comparison of chunkers should.
    #[must_use]
    pub fn text_only(mut self) -> Self {
        (self.heading_weight, self.title_weight) = (0.0, 0.0);
        self
    }

    /// Looks among the chunks that pass a filter.
    #[must_use]
    pub fn with_filter(mut self, filter: Filter) -> Self {
        self.filter = filter;
        self
    }

    /// Gives the query's vector.
    #[must_use]
    pub fn with_vector(mut self, vector: Vec<f32>) -> Self {
        self.vector = Some(vector);
        self
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn modes_are_read_as_they_are_written() {
        for mode in Mode::ALL {
            assert_eq!(mode.to_string().parse(), Ok(mode));
            assert_eq!(serde_json::to_value(mode).unwrap(), mode.to_string());
        }
        assert!("words".parse::<Mode>().unwrap_err().to_string().contains("bm25, dense, hybrid"));
    }

    #[test]
    fn a_query_in_json_needs_text_mode_and_k() {
        let read: Query = serde_json::from_str(r#"{"text": "moon", "mode": "hybrid", "k": 3}"#).unwrap();
        assert_eq!(read, Query::new("moon", Mode::Hybrid, 3));
        let filtered = read.with_filter(Filter::default().path("docs/")).with_vector(vec![0.5]);
        let json = serde_json::to_string(&filtered).unwrap();
        assert_eq!(serde_json::from_str::<Query>(&json).unwrap(), filtered);
    }
}
