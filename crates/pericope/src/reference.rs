//! The size of another segmenter's chunks, by which `same-size` cuts.

use pericope_api::Document;
use pericope_segment::Chunker;
use pericope_segment::fixed::MeanWords;

/// Visits all documents of a corpus once; `same-size` needs it to size itself by its reference.
pub type Corpus<'a> = dyn Fn(&mut dyn FnMut(&Document)) + 'a;

/// The mean number of words of a chunker's chunks over a corpus.
pub(crate) fn mean_words(chunker: &Chunker, corpus: &Corpus<'_>) -> Result<f64, String> {
    let (mut mean, mut problem) = (MeanWords::default(), None);
    corpus(&mut |document: &Document| match chunker.chunks(document) {
        Ok(chunks) => mean.add(document, &chunks),
        Err(e) => problem = Some(format!("{}: {e}", document.id)),
    });
    match problem {
        Some(problem) => Err(problem),
        None => mean.value().ok_or_else(|| "the corpus is empty, so there is no mean size".into()),
    }
}
