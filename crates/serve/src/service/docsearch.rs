//! Answers in the shape that DocSearch and other widgets for Algolia read.

use std::collections::BTreeMap;
use std::time::Instant;

use pericope::api::Span;
use pericope::store::{Highlighter, Hit};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;
use uuid::Uuid;

use super::requests::within;
use super::{Mode, Problem, Service};

/// Levels of a hierarchy: lvl0 to lvl6.
const LEVELS: usize = 7;
/// Hits that can be paged through.
const MOST_HITS: usize = 100;
/// Queries of one request.
const MOST_QUERIES: usize = 16;

/// One query of a widget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocsearchQuery {
    /// What the user typed.
    pub query: String,
    /// Hits of a page, 1 to 100; 20 by default.
    pub hits_per_page: usize,
    /// The number of the page, from 0.
    pub page: usize,
    /// The name of the index; a name that is none means the default one, since widgets bring names of their own.
    pub index: Option<String>,
    /// By default as the index.
    pub mode: Option<Mode>,
    /// What stands before a word of the query, and behind it.
    pub tags: (String, String),
}

impl Default for DocsearchQuery {
    fn default() -> Self {
        Self {
            query: String::new(),
            hits_per_page: 20,
            page: 0,
            index: None,
            mode: None,
            tags: ("<em>".into(), "</em>".into()),
        }
    }
}

impl DocsearchQuery {
    /// Reads the parameters of one query: pairs of a query string, or a JSON object. Parameters that have no meaning here are
    /// ignored.
    ///
    /// # Errors
    /// [`Problem`] (400) for a number that is none.
    pub fn from_pairs<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, Problem> {
        let mut query = Self::default();
        let (mut pre, mut post) = (None, None);
        for (name, value) in pairs {
            let number = || {
                let wrong = |_| Problem::parameter(format!("`{name}` is {value:?}, and must be a number from 0 on"));
                value.parse::<usize>().map_err(wrong)
            };
            match name {
                "query" | "q" => query.query = value.to_owned(),
                "hitsPerPage" => query.hits_per_page = number()?,
                "page" => query.page = number()?,
                "index" | "indexName" => query.index = Some(value.to_owned()),
                "mode" => {
                    let mode = serde_json::from_value(Value::from(value));
                    query.mode = Some(mode.map_err(|_| Problem::parameter("`mode` is bm25, dense or hybrid"))?);
                }
                "highlightPreTag" => pre = Some(value.to_owned()),
                "highlightPostTag" => post = Some(value.to_owned()),
                _ => {}
            }
        }
        if let (Some(pre), Some(post)) = (pre, post)
            && is_harmless(&pre)
            && is_harmless(&post)
        {
            query.tags = (pre, post);
        }
        Ok(query)
    }

    fn from_object(object: &Map<String, Value>) -> Result<Self, Problem> {
        let mut pairs: Vec<(String, String)> = Vec::new();
        // `params` is a query string in older widgets and an object in newer ones; what stands beside it wins.
        match object.get("params") {
            Some(Value::String(text)) => pairs.extend(form_urlencoded::parse(text.as_bytes()).into_owned()),
            Some(Value::Object(params)) => pairs.extend(texts(params)),
            _ => {}
        }
        pairs.extend(texts(object));
        Self::from_pairs(pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())))
    }
}

fn texts(object: &Map<String, Value>) -> impl Iterator<Item = (String, String)> + '_ {
    object.iter().filter_map(|(name, value)| match value {
        Value::String(text) => Some((name.clone(), text.clone())),
        Value::Number(number) => Some((name.clone(), number.to_string())),
        _ => None,
    })
}

/// Whether a mark cannot do more than mark: an element without attributes but a class, or a word.
fn is_harmless(tag: &str) -> bool {
    const LONGEST: usize = 80;
    let word = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_/ ".contains(c));
    if tag.len() > LONGEST {
        return false;
    }
    let Some(inner) = tag.strip_prefix('<').and_then(|tag| tag.strip_suffix('>')) else {
        return tag.is_empty() || word(tag);
    };
    let inner = inner.strip_prefix('/').unwrap_or(inner);
    let (name, class) = inner.split_once(' ').unwrap_or((inner, ""));
    let class = class.strip_prefix("class=\"").and_then(|class| class.strip_suffix('"')).unwrap_or(class);
    ["em", "mark", "b", "strong", "span", "i"].contains(&name) && (class.is_empty() || word(class))
}

/// A request of a widget: several queries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocsearchRequest {
    /// The queries, answered in their order.
    pub queries: Vec<DocsearchQuery>,
}

impl DocsearchRequest {
    /// Reads the body of a request: `{"requests": [..]}`, or one query alone.
    ///
    /// # Errors
    /// [`Problem`] (400) for anything else, and for more than 16 queries.
    pub fn from_json(body: &Value) -> Result<Self, Problem> {
        let wrong = || Problem::parameter("the body must be {\"requests\": [{\"indexName\": .., \"query\": ..}]}");
        let object = body.as_object().ok_or_else(wrong)?;
        let queries = match object.get("requests") {
            None => vec![DocsearchQuery::from_object(object)?],
            Some(list) => {
                let list = list.as_array().ok_or_else(wrong)?;
                within("requests", list.len(), 1, MOST_QUERIES)?;
                let read = |one: &Value| DocsearchQuery::from_object(one.as_object().ok_or_else(wrong)?);
                list.iter().map(read).collect::<Result<_, _>>()?
            }
        };
        Ok(Self { queries })
    }
}

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

impl Service {
    /// Answers one query of a widget. An empty query has no hits.
    ///
    /// # Errors
    /// As [`Service::search`].
    pub fn docsearch(&self, request: &DocsearchQuery) -> Result<DocsearchAnswer, Problem> {
        let begun = Instant::now();
        within("hitsPerPage", request.hits_per_page, 1, MOST_HITS)?;
        let known = request.index.as_deref().filter(|name| self.names().any(|known| known == *name));
        let slot = self.slot(known)?;
        let index = slot.named.name.as_str();
        let first = request.page.saturating_mul(request.hits_per_page);
        let last = first.saturating_add(request.hits_per_page).min(MOST_HITS);
        let mut answer = DocsearchAnswer {
            hits: Vec::new(),
            nb_hits: 0,
            page: request.page,
            nb_pages: 0,
            hits_per_page: request.hits_per_page,
            exhaustive_nb_hits: false,
            query: request.query.clone(),
            params: "",
            index: index.to_owned(),
            processing_time_ms: 0,
        };
        if !request.query.trim().is_empty() {
            let opened = slot.current();
            // One page more says whether there is one.
            let depth = last.saturating_add(request.hits_per_page).min(MOST_HITS);
            let (query, _) = self.query(&opened, &request.query, request.mode, depth)?;
            let found = opened.retriever.search(&query)?;
            answer.nb_hits = found.len();
            answer.nb_pages = found.len().div_ceil(request.hits_per_page);
            let highlighter = opened.retriever.highlighter(&request.query)?;
            let page = found.into_iter().skip(first).take(last.saturating_sub(first));
            answer.hits = page.map(|hit| self.docsearch_hit(index, hit, &highlighter, &request.tags)).collect();
        }
        answer.processing_time_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(answer)
    }

    /// Answers several queries.
    ///
    /// # Errors
    /// As [`Service::docsearch`].
    pub fn docsearch_all(&self, request: &DocsearchRequest) -> Result<DocsearchResults, Problem> {
        let results = request.queries.iter().map(|query| self.docsearch(query)).collect::<Result<_, _>>()?;
        Ok(DocsearchResults { results })
    }

    fn docsearch_hit(&self, index: &str, hit: Hit, highlighter: &Highlighter, tags: &(String, String)) -> DocsearchHit {
        let chunk = &hit.chunk;
        let headings = chunk.heading_path.iter().map(|heading| heading.as_str());
        let page = chunk.title.as_deref().unwrap_or(&chunk.document);
        let mut levels: Vec<Option<String>> =
            std::iter::once(page).chain(headings).map(|l| Some(l.to_owned())).collect();
        if levels.len() == 1 {
            // Widgets show lvl1 above a text.
            levels.push(levels.first().cloned().flatten());
        }
        levels.resize(LEVELS, None);
        let named = |(n, level): (usize, &Option<String>)| (format!("lvl{n}"), level.clone());
        let hierarchy: BTreeMap<String, Option<String>> = levels.iter().enumerate().map(named).collect();
        let marked = |(name, level): (&String, &Option<String>)| {
            let level = level.as_deref()?;
            Some((name.clone(), mark(level, Span::new(0, level.len()), &highlighter.mark(level).1, tags)))
        };
        let headings: BTreeMap<String, Marked> = hierarchy.iter().filter_map(marked).collect();
        let whole = Span::new(0, chunk.text.len());
        let url = self.addresses.address(index, &chunk.document, chunk.anchor.as_deref());
        DocsearchHit {
            object_id: hit.id,
            url,
            url_without_anchor: self.addresses.address(index, &chunk.document, None),
            anchor: chunk.anchor.clone(),
            kind: "content",
            highlight_result: MarkedHit {
                hierarchy: headings.clone(),
                content: mark(&chunk.text, whole, &hit.highlights, tags),
            },
            snippet_result: MarkedHit {
                hierarchy: headings,
                content: mark(&chunk.text, hit.snippet, &hit.highlights, tags),
            },
            hierarchy,
            content: hit.chunk.text,
        }
    }
}

/// A part of a text as HTML, with marks around some places of it.
fn mark(text: &str, part: Span, places: &[Span], (pre, post): &(String, String)) -> Marked {
    let mut value = String::new();
    let mut at = part.start;
    for place in places.iter().filter(|place| part.contains(place)) {
        escape(Span::new(at, place.start).of(text), &mut value);
        value.push_str(pre);
        escape(place.of(text), &mut value);
        value.push_str(post);
        at = place.end;
    }
    let match_level = if at == part.start { "none" } else { "full" };
    escape(Span::new(at, part.end).of(text), &mut value);
    Marked { value, match_level }
}

fn escape(text: &str, into: &mut String) {
    for c in text.chars() {
        match c {
            '&' => into.push_str("&amp;"),
            '<' => into.push_str("&lt;"),
            '>' => into.push_str("&gt;"),
            '"' => into.push_str("&quot;"),
            '\'' => into.push_str("&#39;"),
            c => into.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;

    #[test]
    fn widgets_of_every_age_are_understood() {
        let expected = DocsearchQuery {
            query: "tides".into(),
            hits_per_page: 5,
            page: 1,
            index: Some("docs".into()),
            tags: ("<mark>".into(), "</mark>".into()),
            ..DocsearchQuery::default()
        };
        let params =
            "query=tides&hitsPerPage=5&page=1&highlightPreTag=%3Cmark%3E&highlightPostTag=%3C%2Fmark%3E&facets=%5B%5D";
        let flat = json!({
            "query": "tides", "hitsPerPage": 5, "page": 1, "highlightPreTag": "<mark>", "highlightPostTag": "</mark>",
            "attributesToRetrieve": ["url"], "clickAnalytics": true
        });
        let mut newest = flat.clone();
        newest["indexName"] = "docs".into();
        for one in [
            json!({ "indexName": "docs", "params": params }),
            json!({ "indexName": "docs", "query": "tides", "params": flat }),
            newest,
        ] {
            let read = DocsearchRequest::from_json(&json!({ "requests": [one.clone()] })).unwrap();
            assert_eq!(read.queries, [expected.clone()], "{one}");
            assert_eq!(DocsearchRequest::from_json(&one).unwrap().queries, [expected.clone()]);
        }
        for bad in [json!(1), json!({ "requests": 1 }), json!({ "requests": [] }), json!({ "requests": [1] })] {
            assert!(DocsearchRequest::from_json(&bad).is_err(), "{bad}");
        }
        assert!(DocsearchQuery::from_pairs([("page", "x")]).is_err());
    }

    #[test]
    fn marks_only_mark() {
        for good in ["<em>", "</em>", "<mark class=\"hit big\">", "__aa-highlight__", "__/aa-highlight__"] {
            assert!(is_harmless(good), "{good}");
        }
        for bad in [
            "<script>",
            "<img src=x onerror=alert(1)>",
            "<em onclick=\"x\">",
            "<em class=\"a\" onclick=\"x\">",
            "<em",
            "\"><b>",
        ] {
            assert!(!is_harmless(bad), "{bad}");
            let query = DocsearchQuery::from_pairs([("highlightPreTag", bad), ("highlightPostTag", "</em>")]).unwrap();
            assert_eq!(query.tags.0, "<em>");
        }
    }

    #[test]
    fn html_in_texts_is_text() {
        let text = "<b>tides</b> & 'more'";
        let marked = mark(text, Span::new(0, text.len()), &[Span::new(3, 8)], &("<em>".into(), "</em>".into()));
        assert_eq!(marked.value, "&lt;b&gt;<em>tides</em>&lt;/b&gt; &amp; &#39;more&#39;");
        assert_eq!(marked.match_level, "full");
        let part = mark(text, Span::new(9, 15), &[Span::new(3, 8)], &("<em>".into(), "</em>".into()));
        assert_eq!((part.value.as_str(), part.match_level), ("/b&gt; &amp;", "none"));
    }
}
