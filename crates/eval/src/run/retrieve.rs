use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use pericope_api::Embeddings;
use pericope_index::pipeline;
use pericope_store::{IndexSpec, Query, RunSummary};

use super::cut::Cut;
use super::found::{Built, Hit};
use super::stores::place;
use super::{Corpus, Observer, RunError, Setup};
use crate::config::Retrieval;

/// For every question the chunks that one mode finds, best first.
#[derive(Clone, Default)]
pub(super) struct Ranking {
    pub(super) mode: String,
    pub(super) hits: Vec<Vec<Hit>>,
    /// Questions whose search failed, with the reason; they have no hits.
    pub(super) failed: HashMap<usize, String>,
    /// Seconds of each question's search, reranking included, where it did not fail; the question's embedding is not in them.
    pub(super) seconds: Vec<Option<f64>>,
}

impl Ranking {
    /// The time within which a share of the queries was answered, in milliseconds.
    pub(super) fn percentile_ms(&self, share: f64) -> Option<f64> {
        let mut seconds: Vec<f64> = self.seconds.iter().copied().flatten().collect();
        seconds.sort_by(f64::total_cmp);
        let at = (share * seconds.len() as f64).ceil() as usize;
        seconds.get(at.saturating_sub(1)).map(|s| s * 1000.0)
    }
}

/// Builds the index of one cut, asks it every question in every mode, and removes it again.
#[allow(clippy::too_many_arguments)]
pub(super) fn all(
    cut: &Cut,
    corpus: &Corpus,
    setup: &Setup<'_>,
    retrieval: &Retrieval,
    vectors: Option<&Embeddings>,
    depth: usize,
    out: &Path,
    observer: &dyn Observer,
) -> Result<(Vec<Ranking>, Built), RunError> {
    let failed = |source| RunError::Index { chunker: cut.name.clone(), source };
    let at = place(retrieval.place.as_deref(), &cut.name, out);
    let folder = retrieval.place.is_none().then(|| Path::new(&at));
    folder.map_or(Ok(()), remove)?;
    observer.stage(&format!("{}: indexing", cut.name), corpus.documents.len());
    let start = Instant::now();
    let mut spec = IndexSpec::new(cut.spec.clone(), setup.counter.name())
        .with_context(cut.contexts.as_ref().map(|(writer, _)| writer.clone()))
        .with_language(retrieval.language);
    if let Some(encoder) = &setup.encoder {
        spec = (spec.with_encoder(encoder.clone()))
            .with_heading_prefix(cut.prefix_headings)
            .with_late_chunking(cut.late_chunking);
    }
    let mut writer = setup.stores.create(&at, &spec).map_err(failed)?;
    let numbers: HashMap<&str, usize> = corpus.documents.iter().enumerate().map(|(i, d)| (d.id.as_str(), i)).collect();
    let mut before = 0;
    // The threads of the pipeline own what they work with.
    let places: HashMap<String, usize> = numbers.iter().map(|(id, &i)| ((*id).to_owned(), i)).collect();
    let chunks = Arc::clone(&cut.chunks);
    let report = pipeline::index_documents(
        writer.as_mut(),
        corpus.documents.iter().cloned().map(Ok),
        move |document| Ok(places.get(&document.id).map(|&i| chunks[i].clone()).unwrap_or_default()),
        |progress| {
            observer.advance((progress.documents - before) as usize);
            before = progress.documents;
        },
    )
    .map_err(failed)?;
    if let Some(failure) = report.failures.first() {
        return Err(RunError::Chunker {
            chunker: cut.name.clone(),
            document: failure.document.clone(),
            problem: failure.reason.clone(),
        });
    }
    let truncated = report.truncated;
    writer.finish(&RunSummary::default()).map_err(failed)?;
    let seconds = start.elapsed().as_secs_f64();
    let built = Built { seconds, bytes: folder.map(folder_bytes), truncated };

    let store = setup.stores.open(&at).map_err(failed)?;
    let mut rankings = Vec::with_capacity(retrieval.modes.len());
    for &mode in &retrieval.modes {
        observer.stage(&format!("{}: {mode} retrieval", cut.name), corpus.set.questions.len());
        // Repeats are passed over after the search, so some more are asked for.
        let wanted = if retrieval.drop_repeats { depth * 2 } else { depth };
        // One query at a time: what is timed is one search, not the wait for the others.
        let found: Vec<Result<(Vec<Hit>, f64), String>> = (corpus.set.questions.iter().enumerate())
            .map(|(i, question)| {
                // The text of the chunk alone: what the headings add is not the chunker's doing.
                let mut query = Query::new(&question.text, mode, wanted).text_only();
                if let Some(vectors) = vectors {
                    query = query.with_vector(vectors.row(i).to_vec());
                }
                let start = Instant::now();
                let found = store.rank(&query);
                let seconds = start.elapsed().as_secs_f64();
                observer.advance(1);
                let hits = found.map_err(|e| format!("search failed: {e}"))?;
                let hits = hits
                    .into_iter()
                    .filter_map(|h| {
                        let document = *numbers.get(h.document.as_str())?;
                        Some(Hit { document, ordinal: h.ordinal, score: h.score, run: None })
                    })
                    .collect::<Vec<_>>();
                Ok((if retrieval.drop_repeats { without_repeats(hits, cut, depth) } else { hits }, seconds))
            })
            .collect();
        let mut ranking =
            Ranking { mode: mode.to_string(), hits: Vec::with_capacity(found.len()), ..Ranking::default() };
        for (question, one) in found.into_iter().enumerate() {
            let hits = match one {
                Ok((hits, seconds)) => {
                    ranking.seconds.push(Some(seconds));
                    hits
                }
                Err(problem) => {
                    ranking.seconds.push(None);
                    ranking.failed.insert(question, problem);
                    Vec::new()
                }
            };
            ranking.hits.push(hits);
        }
        rankings.push(ranking);
    }
    drop(store);
    folder.map_or(Ok(()), remove)?;
    Ok((rankings, built))
}

/// Drops chunks whose text a better one has already.
fn without_repeats(hits: Vec<Hit>, cut: &Cut, depth: usize) -> Vec<Hit> {
    let mut seen = HashSet::new();
    hits.into_iter().filter(|hit| seen.insert(cut.chunk(hit).hash)).take(depth).collect()
}

fn remove(dir: &Path) -> Result<(), RunError> {
    match fs::remove_dir_all(dir) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(RunError::io(dir)(e)),
        _ => Ok(()),
    }
}

fn folder_bytes(dir: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(dir) else { return 0 };
    entries
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(meta) if meta.is_dir() => folder_bytes(&entry.path()),
            Ok(meta) => bytes_on_disk(&meta),
            Err(_) => 0,
        })
        .sum()
}

/// What a file takes up: a file with holes takes less than its length.
#[cfg(unix)]
fn bytes_on_disk(meta: &fs::Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;
    meta.len().min(meta.blocks() * 512)
}

#[cfg(not(unix))]
fn bytes_on_disk(meta: &fs::Metadata) -> u64 {
    meta.len()
}
