//! Sources in, index out: read, segment, embed, write as stages on threads, in bounded memory.
//!
//! ```text
//! feed ──▶ read (all cores) ──▶ segment (all cores) ──▶ put in order, embed ──▶ write
//!          hash; unchanged?      chunks, entries          batches, caches        destination
//! ```
//! Sources are fed in their order, each against a share of the memory that it gives back when it is written; what the
//! stages in the middle finish in any order is written in the order of the sources, so that the result does not depend on
//! the number of threads.
//!
//! Reading and cutting cannot be ended from outside. A thread that takes too long with a document is left behind, the
//! document has failed, and another thread takes its place ([`Options::time`]); so the threads of these stages own what
//! they work with. The same is true of embedding when the run is told to stop.

mod budget;
mod crew;
mod documents;
mod embed;
mod files;
mod read;
mod report;
mod seat;
mod sink;
mod source;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pericope_api::{Chunk, Document, SegmentError};
use pericope_store::{Destination, StoreError};

use self::budget::Budget;
use self::crew::{Crew, Duty};
use self::embed::EmbedStage;
pub use self::files::hash_file;
use self::read::ReadStage;
pub use self::report::{DEFAULT_MEMORY, Failure, Options, Progress, Report};
use self::seat::{Out, Seat};
use self::sink::SinkStage;
pub use self::source::{Metadata, Source};
use crate::embed::Embedder;

/// Brings sources into a destination.
///
/// `chunk` cuts a document; it is called on several threads, some of which may outlive the run ([`Options::time`]). A source that the destination knows by its hash is left
/// alone, and so is a document that it knows from within a source that changed. The documents that a source has no more
/// are removed; those of sources that are not among `items` are not (see [`prune`]).
///
/// A source, document or line that cannot be read, cut (an error or a panic in `chunk`) or written (chunks that do not
/// fit it) is listed in the report, and the rest goes on; what an earlier run indexed of it stays, and the next run tries
/// again; so is one that takes too long. A document without text ([`Document::has_text`]) is no failure: nothing of it is
/// indexed, and what was indexed of it before goes. `progress` is called after every document and source. Nothing is committed at the end: that is left to the
/// caller.
///
/// # Errors
/// Where the destination or the encoder fails: what was committed stays, the rest is not written.
pub fn run<D, S, C>(
    destination: &mut D,
    source: S,
    items: impl IntoIterator<Item = S::Item, IntoIter: Send>,
    chunk: C,
    options: &Options,
    mut progress: impl FnMut(&Progress),
) -> Result<Report, StoreError>
where
    D: Destination + ?Sized,
    S: Source,
    C: Fn(&Document) -> Result<Vec<Chunk>, SegmentError> + Send + Sync + 'static,
{
    let threads = match options.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    let known = Arc::new(destination.known()?);
    let about = destination.about().clone();
    let (fingerprint, embedding, language) = (about.fingerprint, about.embedding, about.language);
    let encoder = embedding.as_ref().map(|embedding| Arc::clone(&embedding.encoder));
    let texts_cut = || encoder.as_ref().map_or(0, |encoder| encoder.texts_cut());
    let cut_before = texts_cut();
    let embedder = embedding.as_ref().map(|embedding| Embedder {
        encoder: Arc::clone(&embedding.encoder),
        caches: about.vectors.into_iter().chain(options.cache.clone()).collect(),
    });
    let budget = Budget::new(options.memory);
    let exhausted = Arc::new(AtomicBool::new(false));
    let items = items.into_iter();
    let read = Arc::new(ReadStage {
        source: Arc::new(source),
        known: Arc::clone(&known),
        fingerprint: fingerprint.clone(),
        options: options.clone(),
        budget: Arc::clone(&budget),
        exhausted: Arc::clone(&exhausted),
    });
    // The share of memory that is taken before a source enters bounds what these queues hold.
    let (feed, fed) = crossbeam_channel::unbounded();
    let (to_segment, documents) = crossbeam_channel::unbounded();
    let (finished, parts) = crossbeam_channel::unbounded();
    let (batches, steps) = crossbeam_channel::bounded(2);

    let crew = Crew::new(Arc::clone(&budget), exhausted);
    let reads: Arc<Duty> = {
        let read = Arc::clone(&read);
        Arc::new(move |seat: &Seat| read.work(&fed, seat))
    };
    let time = options.time;
    let cuts: Arc<Duty> =
        Arc::new(move |seat: &Seat| read::segment(&documents, seat, &chunk, (embedding.as_ref(), language), time));
    for _ in 0..threads {
        crew.hire(&reads, Out { to_segment: Some(to_segment.clone()), finished: finished.clone() });
        crew.hire(&cuts, Out { to_segment: None, finished: finished.clone() });
    }
    drop((to_segment, finished, reads, cuts));
    let stage = EmbedStage::new(embedder, Arc::clone(&options.stop), Arc::clone(&budget));
    let embeds = std::thread::spawn(move || stage.work(&parts, &batches));

    std::thread::scope(|scope| {
        // Whatever ends this scope, an error or a panic among it, ends the stages: they stop waiting for each other.
        let _close = budget.close_on_drop();
        let (over, watched) = crossbeam_channel::bounded::<()>(0);
        scope.spawn(move || read.feed(items, &feed));
        if !time.is_zero() {
            let crew = &crew;
            scope.spawn(move || crew.watch(&watched));
        }
        let mut sink = SinkStage::new(destination, &known, &fingerprint);
        let ended = sink.work(&steps, &options.stop, &mut progress)?;
        drop((over, steps));
        if ended && !options.stop.load(Ordering::Relaxed) {
            // Those who have nothing more to do; a panic in one of them is ours.
            embeds.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            crew.join();
        }
        let mut report = sink.finish();
        // What its length in tokens tells, and what only the encoder knows, are mostly the same texts.
        let cut = texts_cut().saturating_sub(cut_before).min(report.progress.chunks);
        report.truncated = report.truncated.max(cut);
        report.interrupted = options.stop.load(Ordering::Relaxed);
        Ok(report)
    })
}

/// Removes the documents of the sources that a finished run over `roots` did not meet. Sources outside of `roots` stay,
/// and so do those for which `keep` says so. Says which sources went. What was written before is committed first; the
/// removals are not.
///
/// A root is the name of a source or of a folder of sources, as they are named; the empty one stands for every relative
/// name.
///
/// # Errors
/// Where the destination fails.
pub fn prune<D: Destination + ?Sized>(
    destination: &mut D,
    roots: &[String],
    met: &HashSet<String>,
    keep: impl Fn(&str) -> bool,
) -> Result<Vec<String>, StoreError> {
    // What is known is as of the last commit, where a document may still belong to a file that has another name by now:
    // with the old name the document would go.
    destination.commit()?;
    let known = destination.known()?;
    let mut gone: Vec<_> = known
        .sources
        .into_iter()
        .filter(|(name, _)| !met.contains(name) && roots.iter().any(|root| is_under(name, root)) && !keep(name))
        .collect();
    gone.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    for (name, source) in &gone {
        for (document, _) in &source.documents {
            destination.remove(document)?;
        }
        destination.record(name, None)?;
    }
    Ok(gone.into_iter().map(|(name, _)| name).collect())
}

/// True where a source lies in a folder, or is that file, both by their names.
#[must_use]
pub fn is_under(name: &str, root: &str) -> bool {
    match root {
        "" => !name.starts_with('/') && name != ".." && !name.starts_with("../"),
        "/" => name.starts_with('/'),
        root => name.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')),
    }
}

/// Writes documents that come from no source in particular: each is read, cut and written anew.
///
/// As [`run`], with the default [`Options`]. A [`Failure`] stands for a document that could not be read.
///
/// # Errors
/// As [`run`].
pub fn index_documents<D, I, C>(
    destination: &mut D,
    documents: I,
    chunk: C,
    progress: impl FnMut(&Progress),
) -> Result<Report, StoreError>
where
    D: Destination + ?Sized,
    I: IntoIterator<Item = Result<Document, Failure>, IntoIter: Send>,
    C: Fn(&Document) -> Result<Vec<Chunk>, SegmentError> + Send + Sync + 'static,
{
    index_documents_with(destination, documents, chunk, &Options::default(), progress)
}

/// As [`index_documents`], with settings of one's own.
///
/// # Errors
/// As [`run`].
pub fn index_documents_with<D, I, C>(
    destination: &mut D,
    documents: I,
    chunk: C,
    options: &Options,
    progress: impl FnMut(&Progress),
) -> Result<Report, StoreError>
where
    D: Destination + ?Sized,
    I: IntoIterator<Item = Result<Document, Failure>, IntoIter: Send>,
    C: Fn(&Document) -> Result<Vec<Chunk>, SegmentError> + Send + Sync + 'static,
{
    let items = documents.into_iter().map(Some);
    run(destination, documents::Documents, items, chunk, options, progress)
}

#[cfg(test)]
mod tests;
