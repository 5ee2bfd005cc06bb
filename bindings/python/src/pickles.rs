//! What pickles and copies hold of values that the library makes.

use pericope::api::{self, Format, Heading, Kind, Rewrite, Span};
use pericope::store::{self, ChunkId, ChunkRecord, Passage, Places, Position};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use serde::{Deserialize, Serialize};

use crate::errors::{failed, usage};

/// What makes a value again: the function of its class that does, and what that takes.
pub type Reduced<'py> = (Bound<'py, PyAny>, Bound<'py, PyTuple>);

/// The method `_restored` of the value's class, with what it is given.
pub fn reduced<'py>(value: &Bound<'py, PyAny>, kept: &impl Serialize) -> PyResult<Reduced<'py>> {
    let text = serde_json::to_string(kept).map_err(failed)?;
    Ok((value.get_type().getattr("_restored")?, (text,).into_pyobject(value.py())?))
}

/// What a pickle holds.
pub fn restored<T: for<'de> Deserialize<'de>>(kept: &str) -> PyResult<T> {
    serde_json::from_str(kept).map_err(|error| usage(format!("this is no pickle of Pericope: {error}")))
}

#[derive(Serialize, Deserialize)]
pub struct KeptDocument {
    id: String,
    title: Option<String>,
    format: Format,
    source: String,
    sentences: Vec<(Span, Kind, u32, u32)>,
    sections: Vec<Vec<Heading>>,
    anchors: Vec<Option<String>>,
    encoding: Option<String>,
    rewrites: Vec<(Span, String)>,
}

impl From<&api::Document> for KeptDocument {
    fn from(document: &api::Document) -> Self {
        let sentence = |found: &api::Sentence| (found.span, found.kind, found.paragraph, found.section);
        Self {
            id: document.id.clone(),
            title: document.title.clone(),
            format: document.format,
            source: document.source.to_string(),
            sentences: document.sentences.iter().map(sentence).collect(),
            sections: document.sections.clone(),
            anchors: document.anchors.iter().map(|anchor| anchor.as_deref().map(str::to_owned)).collect(),
            encoding: document.encoding.clone(),
            rewrites: document.rewrites.iter().map(|rewrite| (rewrite.span, rewrite.with.to_string())).collect(),
        }
    }
}

impl From<KeptDocument> for api::Document {
    fn from(kept: KeptDocument) -> Self {
        let sentence = |(span, kind, paragraph, section)| api::Sentence { span, kind, paragraph, section };
        Self {
            id: kept.id,
            title: kept.title,
            format: kept.format,
            source: kept.source.into(),
            sentences: kept.sentences.into_iter().map(sentence).collect(),
            sections: kept.sections,
            anchors: kept.anchors.into_iter().map(|anchor| anchor.map(Into::into)).collect(),
            encoding: kept.encoding,
            rewrites: kept.rewrites.into_iter().map(|(span, with)| Rewrite { span, with: with.into() }).collect(),
        }
    }
}

#[derive(Serialize, Deserialize)]
pub struct KeptHit {
    rank: usize,
    score: f64,
    id: ChunkId,
    chunk: ChunkRecord,
    // A record and a passage leave these out of their JSON.
    begins: Option<Position>,
    ends: Option<Position>,
    snippet: Span,
    highlights: Vec<Span>,
    context: Option<(usize, usize, String, Places)>,
    chunks: Vec<ChunkId>,
}

impl From<&store::Hit> for KeptHit {
    fn from(hit: &store::Hit) -> Self {
        Self {
            rank: hit.rank,
            score: hit.score,
            id: hit.id,
            chunk: hit.chunk.clone(),
            begins: hit.chunk.begins,
            ends: hit.chunk.ends,
            snippet: hit.snippet,
            highlights: hit.highlights.clone(),
            context: hit.context.clone().map(|Passage { start, end, text, places }| (start, end, text, places)),
            chunks: hit.chunks.clone(),
        }
    }
}

impl From<KeptHit> for store::Hit {
    fn from(kept: KeptHit) -> Self {
        Self {
            rank: kept.rank,
            score: kept.score,
            id: kept.id,
            chunk: ChunkRecord { begins: kept.begins, ends: kept.ends, ..kept.chunk },
            snippet: kept.snippet,
            highlights: kept.highlights,
            context: kept.context.map(|(start, end, text, places)| Passage { start, end, text, places }),
            chunks: kept.chunks,
        }
    }
}
