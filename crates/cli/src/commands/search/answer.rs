//! The answer of `--json`.

use pericope_serve::service::AddressRules;
use pericope_store::{Group, Hit, Mode};
use serde::Serialize;

use super::Found;

#[derive(Serialize)]
pub(super) struct Answer<'a> {
    query: &'a str,
    mode: Mode,
    /// The spec of what ordered the hits anew.
    #[serde(skip_serializing_if = "Option::is_none")]
    rerank: Option<&'a str>,
    hits: Vec<Shown<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<Vec<ShownGroup<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timing: Option<Timing>,
}

/// A hit with its address, where its project knows addresses: as the service answers.
#[derive(Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    hit: &'a Hit,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
}

#[derive(Serialize)]
struct ShownGroup<'a> {
    document: &'a str,
    title: Option<&'a str>,
    score: f64,
    hits: Vec<Shown<'a>>,
}

/// How long the query took, in milliseconds.
#[derive(Serialize)]
pub(super) struct Timing {
    pub runs: usize,
    pub p50_ms: f64,
    pub p95_ms: f64,
}

impl<'a> Answer<'a> {
    /// What was found, with the addresses that documents have.
    pub(super) fn new(
        query: &'a str,
        mode: Mode,
        rerank: Option<&'a str>,
        found: &'a Found,
        addresses: &AddressRules,
        timing: Option<Timing>,
    ) -> Self {
        let shown = |hit: &'a Hit| {
            let url = addresses.address("", &hit.chunk.document, hit.chunk.anchor.as_deref());
            Shown { hit, url }
        };
        let group = |group: &'a Group| ShownGroup {
            document: &group.document,
            title: group.title.as_deref(),
            score: group.score,
            hits: group.hits.iter().map(shown).collect(),
        };
        let groups = match found {
            Found::Hits(_) => None,
            Found::Groups(groups) => Some(groups.iter().map(group).collect()),
        };
        Self { query, mode, rerank, hits: found.hits().into_iter().map(shown).collect(), groups, timing }
    }
}
