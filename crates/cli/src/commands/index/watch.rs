//! `--watch`: after each burst of changes, a pass over the files.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use notify::{Event, EventKind, RecursiveMode, Watcher, recommended_watcher};
use pericope_read::document_id;

use super::Job;
use crate::input::inside_index;
use crate::resources::shown;
use crate::status::{Failure, Outcome, Status};

/// A burst is over when nothing has happened for so long,
const QUIET: Duration = Duration::from_millis(300);
/// or when it has lasted so long.
const LONGEST: Duration = Duration::from_secs(5);
/// How often Ctrl-C is looked for.
const GLANCE: Duration = Duration::from_millis(100);
/// How long to wait before a pass that failed is tried again.
const AGAIN: Duration = Duration::from_secs(5);

/// Follows the files until the user interrupts. The index is closed between bursts, so that others can search it.
pub(super) fn follow(job: &mut Job<'_>) -> Outcome {
    let (sender, events) = channel();
    let mut watcher = recommended_watcher(sender).map_err(Failure::runtime)?;
    for path in &job.args.paths {
        // A file that an editor replaces is another one: its folder tells.
        let (watched, mode) = match path.is_dir() {
            true => (path.as_path(), RecursiveMode::Recursive),
            false => (folder_of(path), RecursiveMode::NonRecursive),
        };
        watcher.watch(watched, mode).map_err(|e| Failure::runtime(format!("{}: {e}", shown(watched))))?;
    }
    anstream::eprintln!("watching; Ctrl-C ends");
    // What changed between the first pass and now has told nobody.
    let mut changed = Some(HashSet::new());
    while !job.options.stop.load(Ordering::Relaxed) {
        let Some(names) = changed.take() else {
            changed = burst(job, &events)?;
            continue;
        };
        match job.follow_up(names.clone()) {
            Ok(pass) => {
                for name in &pass.report.written {
                    anstream::eprintln!("indexed: {name}");
                }
                for name in &pass.pruned {
                    anstream::eprintln!("removed: {name}");
                }
            }
            // A search may have the vectors open, or the folder be away for a moment.
            Err(failure) => {
                anstream::eprintln!("{failure}; trying again");
                wait(job, AGAIN);
                changed = Some(names);
            }
        }
    }
    Ok(Status::Done)
}

/// Waits for the next burst of changes to end, and names the files; nothing where the user interrupts.
fn burst(job: &Job<'_>, events: &Receiver<notify::Result<Event>>) -> Result<Option<HashSet<String>>, Failure> {
    let mut names = HashSet::new();
    let (mut began, mut last) = (None, Instant::now());
    loop {
        if job.options.stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        match events.recv_timeout(GLANCE) {
            Ok(Ok(event)) => {
                let paths: Vec<PathBuf> = relevant(event);
                if !paths.is_empty() {
                    last = Instant::now();
                    began.get_or_insert(last);
                    names.extend(paths.iter().map(document_id));
                }
            }
            // The system lost count, or a folder went away: a pass finds out.
            Ok(Err(_)) => {
                last = Instant::now();
                began.get_or_insert(last);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(Failure::runtime("the file system tells nothing more")),
        }
        if began.is_some_and(|began| last.elapsed() >= QUIET || began.elapsed() >= LONGEST) {
            return Ok(Some(names));
        }
    }
}

/// The files that an event is about, but for those of an index: writing it is no reason to write it.
fn relevant(event: Event) -> Vec<PathBuf> {
    match event.kind {
        EventKind::Access(_) => Vec::new(),
        _ => event.paths.into_iter().filter(|path| !inside_index(path)).collect(),
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn wait(job: &Job<'_>, time: Duration) {
    let until = Instant::now() + time;
    while Instant::now() < until && !job.options.stop.load(Ordering::Relaxed) {
        std::thread::sleep(GLANCE);
    }
}
