//! `pericope index`

mod args;
mod dry_run;
mod files;
mod plan;
mod sight;
mod tell;
mod verify;
mod watch;

pub use args::{INDEX_EXAMPLES, IndexArgs};

use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use pericope::encode::registry::{counter, tokenizer_of};
use pericope::reads_with;
use pericope::stores::is_server;
use pericope_api::{Document, SegmentError};
use pericope_index::pipeline::{self, Options, Progress};
use pericope_index::{EmbeddingCache, foreign_files, is_index};
use pericope_llm::LlmContextWriter;
use pericope_read::{document_id, document_path};
use pericope_segment::Chunker;
use pericope_store::{
    CONTEXT_TOKENS, Destination, Finished, HEADING_TOKENS, IndexSpec, Publication, RunSummary, VectorCache,
};

use self::files::Files;
use self::plan::Plan;
use crate::input::{AllLeftOut, Input, LeftOut, Unread};
use crate::progress;
use crate::resources::{
    EMBEDDER, asks_model, checked_spec, chunker, embedder, engine, failure, is_static, loading, patient, shown,
};
use crate::status::{Failure, Outcome, Status};
use crate::stores;
use crate::terminal::name;
use crate::worker::ReadLimits;

/// What one pass over the files did.
struct Pass {
    finished: Finished,
    report: pipeline::Report,
    /// Files whose documents were removed since the files are gone.
    pruned: Vec<String>,
    /// What of the input could not be read.
    bad: Unread,
}

/// What every pass takes.
struct Job<'a> {
    args: &'a IndexArgs,
    plan: &'a Plan,
    /// The index as messages name it.
    name: String,
    spec: IndexSpec,
    chunker: Arc<Chunker>,
    /// Writes the contexts of chunks, where anybody does.
    contexts: Option<Arc<LlmContextWriter>>,
    options: Options,
    quiet: bool,
    /// Set where somebody else wants a pass over all files while they are followed.
    wake: Arc<AtomicBool>,
    /// Whether a server follows the files, which can ask the index for its settings again.
    served: bool,
}

/// Runs the command.
pub fn run(args: IndexArgs, quiet: bool) -> Outcome {
    if let Some(dir) = &args.verify {
        return verify::run(dir, args.json);
    }
    work(args, quiet, None)
}

/// Keeps an index up to date until the user interrupts, and looks at all files at once whenever the flag is set. Ends with a
/// failure of usage where the index cannot be written with these settings any more: another may have taken its place.
pub fn follow(args: IndexArgs, wake: Arc<AtomicBool>) -> Outcome {
    work(args, true, Some(wake))
}

/// Waits for what a pass that failed waits for before it is tried again, unless the user interrupts.
pub fn wait_to_try_again(stop: &AtomicBool) {
    watch::wait(stop, watch::AGAIN);
}

/// Bytes of texts and vectors that are remembered, of sentences that were read to cut and may be chunks: some 30,000.
const READ_ONCE: usize = 64 << 20;

fn work(mut args: IndexArgs, quiet: bool, follow: Option<Arc<AtomicBool>>) -> Outcome {
    let plan = Plan::of(&mut args)?;
    if args.policy.segment_embedder.is_none() && is_static(&plan.embedder) {
        args.policy.segment_embedder = Some(plan.embedder.clone());
    }
    let name = stores::name(&plan.into)?;
    // With --prune, what is gone by its own name leaves the index as what is gone below a folder does.
    let (there, gone): (Vec<PathBuf>, Vec<PathBuf>) =
        plan.paths.iter().cloned().partition(|path| !args.prune || path.is_dir() || !is_gone(path));
    let found = search(&args, &plan, &there)?;
    // What was said when the index was made holds for all that is added to it.
    let before = if args.rebuild { None } else { stores::built_with(&plan.into)? };
    args.policy.tokenizer = args.policy.tokenizer.take().or_else(|| Some(before.as_ref()?.tokenizer.clone()));
    if args.dry_run && args.policy.tokenizer.is_none() {
        // An estimate does without the model of another embedder.
        let own = tokenizer_of(&plan.embedder).filter(|own| own != EMBEDDER);
        args.policy.tokenizer = own.filter(|own| counter(own).is_err()).map(|_| "words".to_owned());
    }
    let counter = loading(&args.policy, &plan.embedder);
    let corpus = |visit: &mut dyn FnMut(&Document)| {
        for path in found.files() {
            // What cannot be read is named by the pass over the files.
            found.read_in_time(path, |document| document, &mut |read| drop(read.map(|document| visit(&document))));
        }
    };
    let resources = engine(&args.policy, &plan.embedder).with_loading(counter).with_corpus(&corpus);
    let resources = resources.with_reference(before.as_ref().and_then(|before| before.reference.clone()));
    if args.dry_run {
        // Nothing is asked over the network, what is not there is not needed, and MiniLM reads what is the limit anyway.
        let is_read = plan.embedder != EMBEDDER && !plan.embedder.starts_with("openai:");
        let encoder = is_read.then(|| embedder(&plan.embedder, true).ok().flatten()).flatten();
        let resources = resources.with_limits_of(before.as_ref(), encoder.as_deref(), room(&plan));
        return dry_run::run(&args, &plan, &found, &resources);
    }
    let encoder = embedder(&plan.embedder, args.policy.offline).map_err(|failure| without_embedder(&plan, failure))?;
    let mut resources = resources.with_limits_of(before.as_ref(), encoder.as_deref(), room(&plan));
    // Static vectors are made as quickly as they are found again.
    // What is embedded with more around it was not read before.
    let alone = !plan.late_chunking && !plan.prefix_headings && plan.context_llm.is_none();
    let shares = alone && !is_static(&plan.embedder) && reads_with(&checked_spec(&args.policy)?, &plan.embedder);
    let encoder = encoder.map(|encoder| match shares {
        true => resources.share_encoder(&plan.embedder, encoder, READ_ONCE),
        false => encoder,
    });
    let contexts = plan.context_llm.as_ref().map(|file| resources.context_writer(file)).transpose();
    let contexts = contexts.map_err(|error| failure(error).about("--context-llm"))?.map(Arc::new);
    let chunker = chunker(&args.policy, &resources)?;
    let mut cache: Option<Arc<dyn VectorCache>> = None;
    if let (Some(encoder), Some(path)) = (&encoder, &args.embedding_cache) {
        cache = Some(Arc::new(EmbeddingCache::for_encoder(path, encoder.as_ref()).map_err(Failure::usage)?));
    }
    if let Some(encoder) = encoder.as_deref().filter(|_| plan.late_chunking) {
        encoder.encode_spans(&[]).map_err(|error| Failure::usage(error).about("late chunking"))?;
        if !quiet {
            let window = encoder.max_tokens();
            tell!(
                "late chunking: {} reads {window} tokens at a time, longer documents in windows that overlap",
                encoder.name()
            );
        }
    }
    let spec = resources.index_spec(&chunker, encoder).map_err(failure)?.with_heading_prefix(plan.prefix_headings);
    let spec = spec.with_late_chunking(plan.late_chunking);
    let spec = spec.with_context(contexts.as_ref().map(|writer| writer.fingerprint())).with_language(args.language);
    let options = Options {
        memory: (args.memory as usize).saturating_mul(1_000_000),
        time: patient(limits(&args).time, contexts.is_some() || asks_model(&args.policy)),
        trust_stamps: args.trust_mtime,
        cache,
        stop: crate::interrupt::flag()?,
        ..Options::default()
    };
    let (chunker, wake, served) = (Arc::new(chunker), follow.clone().unwrap_or_default(), follow.is_some());
    let mut job = Job { args: &args, plan: &plan, name, spec, chunker, contexts, options, quiet, wake, served };
    if !args.rebuild && stores::has_old_vectors(&plan.into) {
        tell!(
            "{} holds vectors of an earlier version, which this version does not read: its texts are embedded again",
            job.name
        );
    }
    if follow.is_some() {
        return watch::follow(&mut job, found.linked());
    }
    if args.rebuild {
        tell_foreign(&plan.into)?;
    }
    let pass = job.pass(&found, args.rebuild, args.prune && !args.watch)?;
    job.tell(&pass)?;
    if pass.report.interrupted {
        tell!("interrupted: the same command goes on from here");
        return Ok(Status::Interrupted);
    }
    // A name that the index never had is a mistake. What a new index or another worker had is not known.
    let was_there = |path: &PathBuf| pass.pruned.iter().any(|name| pipeline::is_under(name, &document_id(path)));
    if !args.rebuild
        && !args.watch
        && args.shard.is_none()
        && let Some(path) = gone.iter().find(|path| !was_there(path))
    {
        return Err(Failure::usage(format!("{}: no such file or folder, and none in the index", shown(path))));
    }
    found.tell_rules();
    if args.watch {
        return watch::follow(&mut job, found.linked());
    }
    let were = |n: usize| if n == 1 { "was" } else { "were" };
    if pass.bad.left_out > 0 {
        tell!("{} of the inputs {} left out (named above)", pass.bad.left_out, were(pass.bad.left_out));
    }
    if pass.bad.in_part > 0 {
        tell!("{} of the inputs {} read in part (named above)", pass.bad.in_part, were(pass.bad.in_part));
    }
    Ok(if pass.bad.total() > 0 { Status::Incomplete } else { Status::Done })
}

/// The failure to load the embedder; where its model is not installed, with what does without one.
fn without_embedder(plan: &Plan, failure: Failure) -> Failure {
    let failure = failure.about(&plan.embedder_from);
    if plan.embedder == EMBEDDER && pericope_encode::models::locate(EMBEDDER).is_err() {
        return Failure::usage(format!("{failure}, or index and search by words alone with the embedder `none`"));
    }
    failure
}

/// Tokens that the embedder reads before a chunk.
fn room(plan: &Plan) -> usize {
    let headings = if plan.prefix_headings { HEADING_TOKENS } else { 0 };
    let context = if plan.context_llm.is_some() && plan.embedder != "none" { CONTEXT_TOKENS } else { 0 };
    headings + context
}

/// The files below these paths.
fn search(args: &IndexArgs, plan: &Plan, paths: &[PathBuf]) -> Result<Arc<Input>, Failure> {
    let written = (!is_server(&plan.into)).then(|| Path::new(&plan.into));
    Input::search(paths, &args.files.walk(), max_bytes(args), limits(args), written).map(Arc::new)
}

/// Says which files a rebuild leaves in the index's folders, since others put them there.
fn tell_foreign(into: &str) -> Result<(), Failure> {
    if !is_server(into) && is_index(Path::new(into)) {
        for file in foreign_files(Path::new(into)).map_err(Failure::runtime)? {
            tell!("left alone: {}: not written by Pericope", shown(&file));
        }
    }
    Ok(())
}

fn max_bytes(args: &IndexArgs) -> u64 {
    args.max_file_mb.saturating_mul(1_000_000)
}

fn limits(args: &IndexArgs) -> ReadLimits {
    args.time.limits(u64::from(args.memory).saturating_mul(1_000_000))
}

impl Job<'_> {
    /// Brings the index up to date with the files, and says what was done.
    fn pass(&self, found: &Arc<Input>, rebuild: bool, prune: bool) -> Result<Pass, Failure> {
        let (report, mut writer, bad) = self.write(found, rebuild)?;
        let mut pruned = Vec::new();
        if prune && !report.interrupted {
            pruned = self.prune(writer.as_mut(), found, &report, &self.plan.paths)?;
        }
        let finished = self.finish(writer, &report, found)?;
        Ok(Pass { finished, report, pruned, bad })
    }

    /// Commits and publishes; tells where the old index serves on.
    fn finish(
        &self,
        writer: Box<dyn Destination>,
        report: &pipeline::Report,
        found: &Input,
    ) -> Result<Finished, Failure> {
        let unseen = |source: &str| found.may_miss(source);
        let run = RunSummary { unseen: if found.saw_all() { None } else { Some(&unseen) }, ..report.summary() };
        let finished = writer.finish(&run).map_err(stores::failure)?;
        if let Publication::KeptOld { lost } = &finished.publication {
            tell!(
                "the rebuild is not published: {} of the documents in {} could not be read this time ({} for one); the \
                 old one still serves, and the same command publishes when they can be read or are gone",
                lost.len(),
                self.name,
                lost.first().map_or("".into(), |lost| name(lost))
            );
        }
        Ok(finished)
    }

    /// Reads, cuts, embeds and writes what changed; nothing is committed at the end. Also says how much was left out.
    fn write(
        &self,
        found: &Arc<Input>,
        rebuild: bool,
    ) -> Result<(pipeline::Report, Box<dyn Destination>, Unread), Failure> {
        let commit_bytes = (self.args.commit_mb * 1e6) as u64;
        let mut writer = stores::create(&self.plan.into, &self.spec, rebuild, commit_bytes)?;
        let mut bad = Unread { left_out: found.report(), in_part: 0 };
        let ours = found.files().iter().filter(|path| self.is_ours(&document_id(path))).count();
        let bar = progress::files(ours as u64, self.quiet);
        let started = Instant::now();
        let show = |progress: &Progress| {
            bar.set_position(progress.sources);
            let speed = progress.bytes as f64 / 1e6 / started.elapsed().as_secs_f64().max(1e-3);
            bar.set_message(format!("{} chunks, {speed:.1} MB/s", progress.chunks));
        };
        let files = found.files().iter().filter(|path| self.is_ours(&document_id(path))).cloned();
        let chunker = Arc::clone(&self.chunker);
        let contexts = self.contexts.clone();
        let chunk = move |document: &Document| {
            let mut chunks = chunker.chunks(document)?;
            // What is not indexed needs no context.
            chunks.retain(|chunk| document.shows(chunk.span));
            if let Some(writer) = &contexts {
                let failed =
                    |e: pericope_llm::LlmError| SegmentError::Model { stops: e.aborts_run(), problem: e.to_string() };
                writer.write(document, &mut chunks).map_err(failed)?;
            }
            Ok(chunks)
        };
        let source = Files { input: Arc::clone(found) };
        let report =
            pipeline::run(writer.as_mut(), source, files, chunk, &self.options, show).map_err(stores::failure)?;
        bar.finish_and_clear();
        let mut left_out = AllLeftOut::default();
        for pipeline::Failure { document, reason, in_part } in &report.failures {
            let problem = if document.is_empty() { reason.clone() } else { format!("{document}: {reason}") };
            left_out.add(if *in_part { LeftOut::InPart(problem) } else { LeftOut::Bad(problem) });
        }
        bad += left_out.report();
        Ok((report, writer, bad))
    }

    /// Removes what is gone below these paths, of our shard of it. What could not be read was met, and stays. So does what
    /// lies where nobody could look, and what is there and was not met, for whatever reason. What has another path too is
    /// not lost.
    fn prune(
        &self,
        writer: &mut dyn Destination,
        found: &Input,
        report: &pipeline::Report,
        paths: &[PathBuf],
    ) -> Result<Vec<String>, Failure> {
        let is_superfluous = |name: &str| found.is_twice(name) || is_gone(&document_path(name));
        let keep = |name: &str| !self.is_ours(name) || found.may_miss(name) || !is_superfluous(name);
        // The paths of the command line, as the documents below them are called.
        let roots: Vec<String> = paths.iter().map(document_id).collect();
        pipeline::prune(writer, &roots, &report.met, keep).map_err(stores::failure)
    }

    /// Whether a file is for this worker, by the hash of its name.
    fn is_ours(&self, name: &str) -> bool {
        self.args.shard.is_none_or(|shard| shard.holds(name))
    }

    /// A pass over those paths that are there, while they are watched; what is gone goes. Stamps are believed but for
    /// `changed`, and not at all where nobody knows what changed.
    fn follow_up(
        &mut self,
        paths: &[PathBuf],
        changed: Option<HashSet<String>>,
    ) -> Result<(Pass, Arc<Input>), Failure> {
        let found = search(self.args, self.plan, paths)?;
        (self.options.trust_stamps, self.options.distrust) = (changed.is_some(), changed.unwrap_or_default());
        let (report, mut writer, bad) = self.write(&found, false)?;
        let mut pruned = Vec::new();
        if !report.interrupted {
            pruned = self.prune(writer.as_mut(), &found, &report, paths)?;
        }
        let finished = self.finish(writer, &report, &found)?;
        Ok((Pass { finished, report, pruned, bad }, found))
    }
}

/// True where the system says that there is no such file, or that it is a folder now. Any other answer (no permission, a
/// disk that does not answer) says nothing about the file.
fn is_gone(path: &Path) -> bool {
    let gone = [ErrorKind::NotFound, ErrorKind::NotADirectory];
    match path.symlink_metadata() {
        Ok(about) => about.is_dir(),
        Err(error) => gone.contains(&error.kind()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn only_what_the_system_does_not_find_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let page = folder.path().join("page.md");
        std::fs::write(&page, "Foxes dig.").unwrap();
        assert!(!is_gone(&page));
        assert!(is_gone(&folder.path().join("other.md")));
        assert!(is_gone(&page.join("below.md")));
        assert!(is_gone(folder.path()), "it is no file any more");
        // An answer that is neither yes nor no, whoever asks.
        assert!(!is_gone(&folder.path().join("x".repeat(5000))));
    }
}
