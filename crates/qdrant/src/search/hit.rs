use std::collections::HashMap;

use qdrant_client::qdrant::Value;
use qdrant_client::qdrant::value::Kind;
use serde::Serialize;
use uuid::Uuid;

use crate::fields;

/// A chunk that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hit {
    /// Its id.
    pub id: Uuid,
    /// BM25, the distance's measure or the fused score, by the mode; comparable within one answer only.
    pub score: f64,
    /// Id of the document.
    pub document: String,
    /// The document's revision that it is of.
    pub revision: String,
    /// Place among the document's chunks, from 0.
    pub ordinal: u64,
    /// First byte in the document's source.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
    /// Headings above, outermost first.
    pub heading_path: Vec<String>,
    /// Where in the page a link to it leads, without `#`.
    pub anchor: Option<String>,
    /// Title of the document.
    pub title: Option<String>,
    /// Exactly the source under `start..end`.
    pub text: String,
    /// Tokens of the text.
    pub tokens: u64,
    /// What kind of file the document is; empty where nothing says it.
    pub file_type: String,
    /// The blank source between the chunk before and this one.
    pub lead: String,
}

impl Hit {
    /// Reads the payload; what somebody else stored without our fields becomes empty.
    pub(crate) fn from_payload(id: Option<Uuid>, payload: HashMap<String, Value>, score: f64) -> Self {
        Self {
            id: id.unwrap_or_default(),
            score,
            document: string(&payload, fields::DOCUMENT).unwrap_or_default(),
            revision: string(&payload, fields::REVISION).unwrap_or_default(),
            ordinal: integer(&payload, fields::ORDINAL),
            start: integer(&payload, fields::START),
            end: integer(&payload, fields::END),
            heading_path: strings(&payload, fields::HEADING_PATH),
            anchor: string(&payload, fields::ANCHOR),
            title: string(&payload, fields::TITLE),
            text: string(&payload, fields::TEXT).unwrap_or_default(),
            tokens: integer(&payload, fields::TOKENS),
            file_type: string(&payload, fields::FILE_TYPE).unwrap_or_default(),
            lead: string(&payload, fields::LEAD).unwrap_or_default(),
        }
    }
}

fn text(value: &Value) -> Option<String> {
    match &value.kind {
        Some(Kind::StringValue(text)) => Some(text.clone()),
        _ => None,
    }
}

pub(crate) fn string(payload: &HashMap<String, Value>, field: &str) -> Option<String> {
    payload.get(field).and_then(text)
}

pub(crate) fn integer(payload: &HashMap<String, Value>, field: &str) -> u64 {
    match payload.get(field).and_then(|value| value.kind.as_ref()) {
        Some(Kind::IntegerValue(number)) => u64::try_from(*number).unwrap_or(0),
        _ => 0,
    }
}

fn strings(payload: &HashMap<String, Value>, field: &str) -> Vec<String> {
    match payload.get(field).and_then(|value| value.kind.as_ref()) {
        Some(Kind::ListValue(list)) => list.values.iter().filter_map(text).collect(),
        _ => Vec::new(),
    }
}
