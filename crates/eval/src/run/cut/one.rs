//! Cutting by one chunker.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use pericope_api::{Chunk, Document, SegmentError};
use pericope_segment::Chunker;
use pericope_segment::fixed::MeanWords;
use pericope_segment::spec::Spec;
use pericope_store::Expansion;

use super::super::{Observer, RunError};
use super::Cut;

/// Cuts documents by one chunker, which `spec` names.
pub(super) fn cut_by(
    chunker: &Chunker,
    name: &str,
    spec: &Spec,
    documents: &[Document],
    observer: &dyn Observer,
) -> Result<Cut, RunError> {
    let all: Vec<&Document> = documents.iter().collect();
    let start = Instant::now();
    let cut = chunker.chunks_all(&all, &|| observer.advance(1));
    let seconds = start.elapsed().as_secs_f64();
    let mut chunks = Vec::with_capacity(cut.len());
    let mut failed = BTreeMap::new();
    for (at, (document, result)) in documents.iter().zip(cut).enumerate() {
        if let Err(SegmentError::Model { problem, stops: true }) = &result {
            return Err(RunError::Stopped(format!("chunker '{name}': {problem}")));
        }
        let mut own = result.unwrap_or_else(|e| {
            let problem = format!("chunker '{name}' failed on document '{}': {e}", document.id);
            observer.note(&problem);
            failed.insert(at, problem);
            Vec::new()
        });
        // As stores leave them out: a hit's number is its place among these.
        own.retain(|chunk| document.shows(chunk.span));
        chunks.push(own);
    }
    if failed.len() == documents.len()
        && let Some(problem) = failed.values().next()
    {
        return Err(RunError::Stopped(format!("{problem} (and on every other)")));
    }
    let asked = chunker.segmenter().model_use();
    if let Some(used) = &asked {
        observer.note(&format!("{name}: groups of passages: {used}"));
    }
    // A same-size chunker resolves to the fixed one that it came down to.
    let found = chunker.spec();
    let (spec, resolved) = if found.name == spec.name {
        (found.to_string(), None)
    } else {
        let mut asked = spec.clone();
        asked.args.extend(found.get("max_tokens").map(|max| ("max_tokens".into(), max.to_owned())));
        (asked.to_string(), Some(found.to_string()))
    };
    Ok(Cut {
        name: name.to_owned(),
        spec,
        resolved,
        mean_words: mean_words(documents, &chunks),
        chunks: Arc::new(chunks),
        seconds,
        limit: chunker.policy().max_tokens,
        failed,
        fingerprint: chunker.fingerprint(),
        lost: None,
        same_size: None,
        reranking: None,
        expansion: Expansion::default(),
        prefix_headings: false,
        late_chunking: false,
        asked,
        generator: None,
        contexts: None,
    })
}

/// Mean words of a chunk over the corpus; 0 where there is none.
fn mean_words(documents: &[Document], chunks: &[Vec<Chunk>]) -> f64 {
    let mut mean = MeanWords::default();
    documents.iter().zip(chunks).for_each(|(document, chunks)| mean.add(document, chunks));
    mean.value().unwrap_or(0.0)
}
