//! The size of another segmenter's chunks, by which `same-size` cuts.

use pericope_api::Document;
use pericope_segment::Chunker;

/// Visits all documents of a corpus once; `same-size` needs it to size itself by its reference.
pub type Corpus<'a> = dyn Fn(&mut dyn FnMut(&Document)) + 'a;

/// The mean number of words of a chunker's chunks over a corpus.
pub(crate) fn mean_words(chunker: &Chunker, corpus: &Corpus<'_>) -> Result<f64, String> {
    let (mut words, mut chunks, mut problem) = (0_usize, 0_usize, None);
    corpus(&mut |document: &Document| match chunker.chunks(document) {
        Ok(found) => {
            chunks += found.len();
            words += found.iter().map(|c| document.text(c.span).split_whitespace().count()).sum::<usize>();
        }
        Err(e) => problem = Some(format!("{}: {e}", document.id)),
    });
    match problem {
        Some(problem) => Err(problem),
        None if chunks == 0 => Err("the corpus is empty, so there is no mean size".into()),
        None => Ok(words as f64 / chunks as f64),
    }
}
