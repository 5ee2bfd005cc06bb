use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// A text with the query's words marked, as HTML.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Marked {
    /// The text as HTML: everything is escaped but the marks.
    pub value: String,
    /// `none`, or `full` where a word of the query is in it.
    pub match_level: &'static str,
}

/// Marked texts by their attributes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct MarkedHit {
    /// The levels that are not null.
    pub hierarchy: BTreeMap<String, Marked>,
    /// The text, or the piece of it that shows most of the query's words.
    pub content: Marked,
}

/// A hit as DocSearch knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct DocsearchHit {
    /// The id of the chunk.
    #[serde(rename = "objectID")]
    pub object_id: Uuid,
    /// The address of the place; null without `--url-prefix`.
    pub url: Option<String>,
    /// The same without the place on the page.
    pub url_without_anchor: Option<String>,
    /// The place on the page.
    pub anchor: Option<String>,
    /// Always `content`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The text of the chunk.
    pub content: String,
    /// The title of the page (lvl0) and the headings above the chunk (from lvl1 on); null below them.
    pub hierarchy: BTreeMap<String, Option<String>>,
    /// The whole texts, marked.
    #[serde(rename = "_highlightResult")]
    pub highlight_result: MarkedHit,
    /// The pieces to show, marked.
    #[serde(rename = "_snippetResult")]
    pub snippet_result: MarkedHit,
}

/// The answer to one query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocsearchAnswer {
    /// The hits of the page.
    pub hits: Vec<DocsearchHit>,
    /// Hits that were looked at: at most 100.
    pub nb_hits: usize,
    /// The number of the page, from 0.
    pub page: usize,
    /// The number of pages.
    pub nb_pages: usize,
    /// Hits of a page.
    pub hits_per_page: usize,
    /// False: there may be more hits.
    pub exhaustive_nb_hits: bool,
    /// The query as it was given.
    pub query: String,
    /// Always empty.
    pub params: &'static str,
    /// The name of the index.
    pub index: String,
    /// Milliseconds that the search took.
    #[serde(rename = "processingTimeMS")]
    pub processing_time_ms: u64,
}

/// The answers to several queries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct DocsearchResults {
    /// One answer a query.
    pub results: Vec<DocsearchAnswer>,
}
