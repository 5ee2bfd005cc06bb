//! What the tools are asked with. The comments here are what agents read.

use pericope::store::{EXPAND_TOKENS, Expand};
use rmcp::schemars::{self, JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer};

use crate::service::Mode;

/// Hits of a search that says nothing of it.
const HITS: usize = 8;
/// Tokens of an answer that says nothing of it.
pub(super) const BUDGET: usize = 4000;
/// Documents of a page that says nothing of it.
const PAGE: usize = 100;

/// `search`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchArguments {
    /// A question in plain words, or some words that the passage holds. Words in double quotes are a phrase.
    pub query: String,
    /// Number of passages, 1 to 100.
    #[serde(default = "hits")]
    #[schemars(range(min = 1, max = 100))]
    pub k: usize,
    /// Only documents whose ids begin with one of these: "docs/guide/".
    #[serde(default, deserialize_with = "one_or_more")]
    pub path: Vec<String>,
    /// Only passages below a heading, or with one in them, that holds one of these words or phrases.
    #[serde(default, deserialize_with = "one_or_more")]
    pub heading: Vec<String>,
    /// "bm25" ranks by words, "dense" by meaning, "hybrid" by both. Without it, what suits the index best.
    #[serde(default)]
    #[schemars(schema_with = "mode_or_none")]
    pub mode: Option<Mode>,
    /// More than the passage that was found, as one passage: "parent" is the coarsest section around it that fits, "merge" a
    /// section where most of its passages are found, "neighbours:2" two passages before and after it, "segment" the best
    /// run of passages around it. Without it, "none".
    #[serde(default)]
    #[schemars(with = "String")]
    pub expand: Expand,
    /// Most tokens of an expanded passage.
    #[serde(default = "expand_tokens")]
    #[schemars(range(min = 1, max = 100_000))]
    pub expand_tokens: usize,
    /// What orders the passages that were found anew, by comparing each with the query: a reranker that `status` names, or
    /// "none". Without it, the first of them, where there is one.
    #[serde(default)]
    pub rerank: Option<String>,
    /// The index to search, as `status` names it. Without it, the first.
    #[serde(default)]
    pub index: Option<String>,
    /// Most tokens of all passages together. Passages that do not fit are left out, the best come first.
    #[serde(default = "budget")]
    #[schemars(range(min = 1))]
    pub budget: usize,
}

/// `fetch`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FetchArguments {
    /// The id of a passage, as `search` gives it, or of a document.
    pub id: String,
    /// Passages before and after a passage that come with it, 0 to 10.
    #[serde(default = "one")]
    #[schemars(range(min = 0, max = 10))]
    pub context: usize,
    /// The index, as `status` names it. Without it, the first.
    #[serde(default)]
    pub index: Option<String>,
}

/// `read`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadArguments {
    /// The id of the document: its path, as `search` and `list` give it.
    pub document: String,
    /// First and last line, from 1: "10-20", "10-" to the end, "10" for one line. Without lines and bytes, the whole
    /// document.
    #[serde(default)]
    pub lines: Option<String>,
    /// The first byte, from 0, instead of lines.
    #[serde(default)]
    pub start: Option<usize>,
    /// One past the last byte.
    #[serde(default)]
    pub end: Option<usize>,
    /// Lines before and after the range that come with it, 0 to 200.
    #[serde(default)]
    #[schemars(range(min = 0, max = 200))]
    pub context: usize,
    /// The index, as `status` names it. Without it, the first.
    #[serde(default)]
    pub index: Option<String>,
}

/// `list`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListArguments {
    /// Only documents whose ids begin with this: "docs/guide/".
    #[serde(default)]
    pub prefix: String,
    /// Number of documents, 1 to 1000.
    #[serde(default = "page")]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: usize,
    /// Go on after this id: `next` of the answer before.
    #[serde(default)]
    pub after: Option<String>,
    /// The index, as `status` names it. Without it, the first.
    #[serde(default)]
    pub index: Option<String>,
}

/// `status`
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StatusArguments {
    /// Only this index. Without it, all.
    #[serde(default)]
    pub index: Option<String>,
}

/// The schema of a mode that may be missing.
fn mode_or_none(generator: &mut SchemaGenerator) -> Schema {
    let names: Vec<Option<&str>> = Mode::ALL.into_iter().map(|mode| Some(mode.name())).chain([None]).collect();
    let mut schema = <Option<String>>::json_schema(generator);
    schema.insert("enum".into(), names.into());
    schema
}

fn hits() -> usize {
    HITS
}

fn expand_tokens() -> usize {
    EXPAND_TOKENS
}

fn budget() -> usize {
    BUDGET
}

fn one() -> usize {
    1
}

fn page() -> usize {
    PAGE
}

/// A list, or one text for a list of one: agents write both.
fn one_or_more<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a text or a list of texts is expected")]
    enum OneOrMore {
        None(()),
        One(String),
        More(Vec<String>),
    }
    Ok(match OneOrMore::deserialize(deserializer)? {
        OneOrMore::None(()) => Vec::new(),
        OneOrMore::One(one) => vec![one],
        OneOrMore::More(more) => more,
    })
}
