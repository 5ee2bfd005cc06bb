//! Passes over the files: what changed is written, what is gone is removed.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use pericope::stores::is_server;
use pericope_api::{Chunk, Document, SegmentError};
use pericope_index::pipeline::{self, Options, Progress};
use pericope_llm::LlmContextWriter;
use pericope_read::{document_id, document_path};
use pericope_segment::Chunker;
use pericope_store::{Destination, Finished, IndexSpec, Publication, StoreMeta};

use super::args::IndexArgs;
use super::files::Files;
use super::plan::Plan;
use crate::input::{AllLeftOut, Input, LeftOut, Unread};
use crate::progress;
use crate::status::Failure;
use crate::stores;
use crate::terminal::name;
use crate::unanswered::Unanswered;
use crate::worker::ReadLimits;

/// What one pass over the files did.
pub(super) struct Pass {
    pub finished: Finished,
    pub report: pipeline::Report,
    /// Files whose documents were removed since the files are gone.
    pub pruned: Vec<String>,
    /// What of the input could not be read.
    pub bad: Unread,
}

/// What every pass takes.
pub(super) struct Job<'a> {
    pub args: &'a IndexArgs,
    pub plan: &'a Plan,
    /// The index as messages name it.
    pub name: String,
    pub spec: IndexSpec,
    pub chunker: Arc<Chunker>,
    /// Writes the contexts of chunks, where anybody does.
    pub contexts: Option<Arc<LlmContextWriter>>,
    pub options: Options,
    pub quiet: bool,
    /// Set where somebody else wants a pass over all files while they are followed.
    pub wake: Arc<AtomicBool>,
    /// Whether a rebuild was left beside the old index, since it would have lost documents.
    pub rebuilding: bool,
    /// Whether a server follows the files, which can ask the index for its settings again.
    pub served: bool,
    /// Whether language models answered for anything.
    pub unanswered: Arc<Unanswered>,
}

/// The files below these paths.
pub(super) fn search(args: &IndexArgs, plan: &Plan, paths: &[PathBuf]) -> Result<Arc<Input>, Failure> {
    let written = (!is_server(&plan.into)).then(|| Path::new(&plan.into));
    Input::search(paths, &args.source.files.walk(), args.source.max_bytes(), limits(args), written).map(Arc::new)
}

pub(super) fn limits(args: &IndexArgs) -> ReadLimits {
    args.source.time.limits(u64::from(args.memory).saturating_mul(1_000_000))
}

impl Job<'_> {
    /// Brings the index up to date with the files, and says what was done.
    pub(super) fn pass(&mut self, found: &Arc<Input>, rebuild: bool, prune: bool) -> Result<Pass, Failure> {
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
        &mut self,
        writer: Box<dyn Destination>,
        report: &pipeline::Report,
        found: &Input,
    ) -> Result<Finished, Failure> {
        let finished = found.missed().finish(writer, report).map_err(stores::failure)?;
        self.rebuilding = matches!(finished.publication, Publication::KeptOld { .. });
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
        let cut = move |document: &Document| -> Result<Vec<Chunk>, SegmentError> {
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
        let unanswered = Arc::clone(&self.unanswered);
        let chunk = move |document: &Document| {
            let made = cut(document);
            unanswered.note(&made);
            made
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
        let keep = |name: &str| !self.is_ours(name) || found.missed().may_hold(name) || !is_superfluous(name);
        // The paths of the command line, as the documents below them are called.
        let roots: Vec<String> = paths.iter().map(document_id).collect();
        pipeline::prune(writer, &roots, &report.met, keep).map_err(stores::failure)
    }

    /// Whether a file is for this worker, by the hash of its name.
    fn is_ours(&self, name: &str) -> bool {
        self.args.shard.is_none_or(|shard| shard.holds(name))
    }

    /// Whether what follows belongs into the rebuild that was left: the old index takes nothing that is cut or embedded in
    /// another way.
    fn goes_on_rebuilding(&self) -> Result<bool, Failure> {
        if !self.rebuilding {
            return Ok(false);
        }
        let old = stores::built_with(&self.plan.into)?;
        Ok(old.is_none_or(|old| old.difference(&StoreMeta::new(&self.spec)).is_some()))
    }

    /// A pass over those paths that are there, while they are watched; what is gone goes, and so does what `gone` names.
    /// Stamps are believed but for `changed`, and not at all where nobody knows what changed.
    pub(super) fn follow_up(
        &mut self,
        paths: &[PathBuf],
        gone: &[PathBuf],
        changed: Option<HashSet<String>>,
    ) -> Result<(Pass, Arc<Input>), Failure> {
        let found = search(self.args, self.plan, paths)?;
        (self.options.trust_stamps, self.options.distrust) = (changed.is_some(), changed.unwrap_or_default());
        // Without a folder that is waited for, a rebuild would lose what is in it.
        let is_all = paths.len() + gone.len() >= self.plan.paths.len();
        let rebuild = is_all && self.goes_on_rebuilding()?;
        let (report, mut writer, bad) = self.write(&found, rebuild)?;
        let mut pruned = Vec::new();
        if !report.interrupted {
            pruned = self.prune(writer.as_mut(), &found, &report, &[paths, gone].concat())?;
        }
        let finished = self.finish(writer, &report, &found)?;
        Ok((Pass { finished, report, pruned, bad }, found))
    }
}

/// True where the system says that there is no such file, or that it is a folder now. Any other answer (no permission, a
/// disk that does not answer) says nothing about the file.
pub(super) fn is_gone(path: &Path) -> bool {
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
