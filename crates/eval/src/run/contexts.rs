//! The contexts of a chunker's chunks, written by a language model before anything is indexed.

use std::sync::Arc;

use pericope_api::{Chunk, Document};

use super::cut::Cut;
use super::{Observer, RunError};
use crate::asking::Asking;

/// Gives every chunk of a cut its context. A chunk about which the model says nothing usable has none.
pub(super) fn add(
    cut: &mut Cut,
    documents: &[Document],
    asking: Option<&Asking>,
    observer: &dyn Observer,
) -> Result<(), RunError> {
    let asking = asking.ok_or_else(|| RunError::Config(format!("chunker '{}': no model writes contexts", cut.name)))?;
    let writer = asking.context_writer().map_err(|e| RunError::Config(format!("[llm.context]: {e}")))?;
    let pairs: Vec<(&Document, &Chunk)> = (documents.iter().zip(cut.chunks.iter()))
        .flat_map(|(document, chunks)| chunks.iter().map(move |chunk| (document, chunk)))
        .collect();
    observer.stage(&format!("{}: contexts", cut.name), pairs.len());
    let written = writer.contexts(&pairs, &|| observer.advance(1));
    let stopped = |e| RunError::Stopped(format!("the contexts of chunker '{}': {e}", cut.name));
    let mut written = written.map_err(stopped)?.into_iter();
    let mut chunks = cut.chunks.as_ref().clone();
    for chunk in chunks.iter_mut().flatten() {
        chunk.context = written.next().flatten();
    }
    let used = writer.used();
    observer.note(&format!("{}: contexts of chunks: {used}", cut.name));
    cut.chunks = Arc::new(chunks);
    cut.contexts = Some((writer.fingerprint(), used));
    Ok(())
}
