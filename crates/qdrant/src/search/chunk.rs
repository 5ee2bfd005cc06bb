use std::collections::HashMap;

use pericope_api::Heading;
use pericope_store::{ChunkId, ChunkRecord, Ranked, file_type_of};
use qdrant_client::qdrant::Value;
use qdrant_client::qdrant::value::Kind;

use crate::fields;

/// A chunk of a collection with its score.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredChunk {
    /// The id.
    pub id: ChunkId,
    /// BM25, the distance's measure or the fused score, by the mode; comparable within one answer only.
    pub score: f64,
    /// The document's revision that it is of.
    pub revision: String,
    /// The chunk itself.
    pub chunk: ChunkRecord,
}

impl ScoredChunk {
    /// Reads the payload; fields that are missing become empty.
    pub(crate) fn from_payload(id: Option<ChunkId>, payload: &HashMap<String, Value>, score: f64) -> Self {
        let number = |field| usize::try_from(integer(payload, field)).unwrap_or(usize::MAX);
        let document = string(payload, fields::DOCUMENT).unwrap_or_default();
        let chunk = ChunkRecord {
            start: number(fields::START),
            end: number(fields::END),
            heading_path: strings(payload, fields::HEADING_PATH).into_iter().map(Heading::from).collect(),
            text: string(payload, fields::TEXT).unwrap_or_default(),
            title: string(payload, fields::TITLE),
            anchor: string(payload, fields::ANCHOR),
            file_type: string(payload, fields::FILE_TYPE).unwrap_or_else(|| file_type_of(&document)),
            ordinal: number(fields::ORDINAL),
            tokens: number(fields::TOKENS),
            leading: string(payload, fields::LEADING).unwrap_or_default(),
            document,
        };
        let revision = string(payload, fields::REVISION).unwrap_or_default();
        Self { id: id.unwrap_or_default(), score, revision, chunk }
    }

    /// Returns the chunk without its text.
    #[must_use]
    pub fn ranked(&self) -> Ranked {
        let (document, ordinal) = (self.chunk.document.clone(), self.chunk.ordinal);
        Ranked { id: self.id, document, ordinal, score: self.score }
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
