//! Documents in, index out: segmentation on all cores, writing in order, bounded memory.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pericope_api::{Chunk, Document, SegmentError};
use rayon::prelude::*;

use crate::{IndexError, IndexWriter};

/// Documents are segmented together in rounds of this many,
const ROUND_DOCUMENTS: usize = 256;
/// or of this much text. A round is all that lies in memory between the reader and the index.
const ROUND_BYTES: usize = 16 << 20;

/// A document that was not indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Its id, or the name under which it could not be read.
    pub document: String,
    /// Why, in one line.
    pub reason: String,
}

/// How far a run has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Documents written.
    pub documents: u64,
    /// Chunks written.
    pub chunks: u64,
    /// Bytes of their sources.
    pub bytes: u64,
    /// Documents that failed.
    pub failed: u64,
}

/// What [`index_documents`] did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// The totals.
    pub progress: Progress,
    /// Every document that failed, in the order of the input.
    pub failures: Vec<Failure>,
}

/// Writes documents into an index: `chunk` cuts them, several at a time on rayon's threads, and the writer gets them in
/// the order of the input, so that the result does not depend on the number of threads.
///
/// A document that could not be read (`Err((name, reason))`), cut (an error or a panic in `chunk`) or written (chunks
/// that do not fit it) is listed in the report, and the rest goes on; what an earlier run indexed under its id stays.
/// The last call of `progress` gives the totals. Nothing is committed at the end: call [`IndexWriter::finish`].
///
/// # Errors
/// Where the index itself fails (disk, encoder): what was committed stays, the rest is not written.
pub fn index_documents<I, C>(
    writer: &mut IndexWriter,
    documents: I,
    chunk: C,
    mut progress: impl FnMut(&Progress),
) -> Result<Report, IndexError>
where
    I: IntoIterator<Item = Result<Document, (String, String)>>,
    C: Fn(&Document) -> Result<Vec<Chunk>, SegmentError> + Sync,
{
    let mut report = Report::default();
    let mut documents = documents.into_iter();
    loop {
        let round = next_round(&mut documents);
        if round.is_empty() {
            break;
        }
        let cut: Vec<Result<(Document, Vec<Chunk>), Failure>> =
            round.into_par_iter().map(|document| cut(document, &chunk)).collect();
        for item in cut {
            let failure = match item {
                Ok((document, chunks)) => match writer.add(&document, &chunks) {
                    Ok(()) => {
                        report.progress.documents += 1;
                        report.progress.chunks += chunks.len() as u64;
                        report.progress.bytes += document.source.len() as u64;
                        None
                    }
                    Err(error @ IndexError::BadChunk { .. }) => {
                        Some(Failure { document: document.id, reason: error.to_string() })
                    }
                    Err(error) => return Err(error),
                },
                Err(failure) => Some(failure),
            };
            if let Some(failure) = failure {
                report.progress.failed += 1;
                report.failures.push(failure);
            }
            progress(&report.progress);
        }
    }
    Ok(report)
}

type Read = Result<Document, (String, String)>;

fn next_round(documents: &mut impl Iterator<Item = Read>) -> Vec<Read> {
    let mut round = Vec::new();
    let mut bytes = 0;
    while round.len() < ROUND_DOCUMENTS && bytes < ROUND_BYTES {
        let Some(document) = documents.next() else { break };
        bytes += document.as_ref().map_or(0, |d| d.source.len());
        round.push(document);
    }
    round
}

fn cut<C>(document: Read, chunk: &C) -> Result<(Document, Vec<Chunk>), Failure>
where
    C: Fn(&Document) -> Result<Vec<Chunk>, SegmentError> + Sync,
{
    let document = document.map_err(|(document, reason)| Failure { document, reason })?;
    let reason = match catch_unwind(AssertUnwindSafe(|| chunk(&document))) {
        Ok(Ok(chunks)) => return Ok((document, chunks)),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "the segmenter panicked".to_owned(),
    };
    Err(Failure { document: document.id, reason })
}
