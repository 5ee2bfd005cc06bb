use serde_json::{Map, Value};

use crate::service::requests::within;
use crate::service::{Mode, Problem};

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
            assert_eq!(read.queries, std::slice::from_ref(&expected), "{one}");
            assert_eq!(DocsearchRequest::from_json(&one).unwrap().queries, std::slice::from_ref(&expected));
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
}
