use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use pericope_api::Embeddings;
use pericope_index::pipeline;
use pericope_store::{IndexSpec, Mode, Query, Ranked, Retriever, RunSummary};

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

/// What is the same for every cut that is searched.
pub(super) struct Search<'a> {
    pub(super) corpus: &'a Corpus,
    pub(super) setup: &'a Setup<'a>,
    pub(super) retrieval: &'a Retrieval,
    /// The vectors of the questions, where there is an encoder.
    pub(super) vectors: Option<&'a Embeddings>,
    /// The folder of the run.
    pub(super) out: &'a Path,
    pub(super) observer: &'a dyn Observer,
}

impl Search<'_> {
    /// Builds the index of one cut, asks it every question in every mode, and removes it again.
    pub(super) fn all(&self, cut: &Cut, depth: usize) -> Result<(Vec<Ranking>, Built), RunError> {
        let at = place(self.retrieval.place.as_deref(), &cut.name, self.out);
        let folder = self.retrieval.place.is_none().then(|| Path::new(&at));
        folder.map_or(Ok(()), remove)?;
        let mut built = self.index(cut, &at)?;
        built.bytes = folder.map(folder_bytes);
        let failed = |source| RunError::Index { chunker: cut.name.clone(), source };
        let store = self.setup.stores.open(&at).map_err(failed)?;
        let documents = self.corpus.documents.iter().enumerate();
        let numbers: HashMap<&str, usize> = documents.map(|(i, document)| (document.id.as_str(), i)).collect();
        let modes = self.retrieval.modes.iter();
        let rankings = modes.map(|&mode| self.ranking(cut, store.as_ref(), &numbers, mode, depth)).collect();
        drop(store);
        folder.map_or(Ok(()), remove)?;
        Ok((rankings, built))
    }

    /// Writes the chunks of a cut into a store; the bytes that it takes are not looked at.
    fn index(&self, cut: &Cut, at: &str) -> Result<Built, RunError> {
        let Self { corpus, setup, observer, .. } = self;
        let failed = |source| RunError::Index { chunker: cut.name.clone(), source };
        observer.stage(&format!("{}: indexing", cut.name), corpus.documents.len());
        let start = Instant::now();
        let mut writer = setup.stores.create(at, &self.spec(cut)).map_err(failed)?;
        let mut before = 0;
        // The threads of the pipeline own what they work with.
        let documents = corpus.documents.iter().enumerate();
        let places: HashMap<String, usize> = documents.map(|(i, document)| (document.id.clone(), i)).collect();
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
        Ok(Built { seconds: start.elapsed().as_secs_f64(), bytes: None, truncated })
    }

    fn spec(&self, cut: &Cut) -> IndexSpec {
        let spec = IndexSpec::new(cut.spec.clone(), self.setup.counter.name())
            .with_context(cut.contexts.as_ref().map(|(writer, _)| writer.clone()))
            .with_language(self.retrieval.language);
        match &self.setup.encoder {
            Some(encoder) => (spec.with_encoder(encoder.clone()))
                .with_heading_prefix(cut.prefix_headings)
                .with_late_chunking(cut.late_chunking),
            None => spec,
        }
    }

    /// Asks every question in one mode, one at a time: what is timed is one search, not the wait for the others.
    fn ranking(
        &self,
        cut: &Cut,
        store: &dyn Retriever,
        numbers: &HashMap<&str, usize>,
        mode: Mode,
        depth: usize,
    ) -> Ranking {
        let questions = &self.corpus.set.questions;
        self.observer.stage(&format!("{}: {mode} retrieval", cut.name), questions.len());
        // Repeats are passed over after the search, so some more are asked for.
        let wanted = if self.retrieval.drop_repeats { depth * 2 } else { depth };
        let placed = |hit: Ranked| {
            let document = *numbers.get(hit.document.as_str())?;
            Some(Hit { document, ordinal: hit.ordinal, score: hit.score, run: None })
        };
        let mut ranking =
            Ranking { mode: mode.to_string(), hits: Vec::with_capacity(questions.len()), ..Ranking::default() };
        for (at, question) in questions.iter().enumerate() {
            // The text of the chunk alone: what the headings add is not the chunker's doing.
            let mut query = Query::new(&question.text, mode, wanted).text_only();
            if let Some(vectors) = self.vectors {
                query = query.with_vector(vectors.row(at).to_vec());
            }
            let start = Instant::now();
            let found = store.rank(&query);
            let seconds = start.elapsed().as_secs_f64();
            self.observer.advance(1);
            ranking.seconds.push(found.is_ok().then_some(seconds));
            let found = found.unwrap_or_else(|e| {
                ranking.failed.insert(at, format!("search failed: {e}"));
                Vec::new()
            });
            let hits: Vec<Hit> = found.into_iter().filter_map(placed).collect();
            ranking.hits.push(if self.retrieval.drop_repeats { without_repeats(hits, cut, depth) } else { hits });
        }
        ranking
    }
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
