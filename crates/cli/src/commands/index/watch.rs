//! `--watch`: after each burst of changes, a pass over the files.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use notify::event::ModifyKind;
use notify::{Event, EventKind};
use pericope_read::document_id;

use super::job::Job;
use super::sight::Sight;
use crate::input::inside_index;
use crate::project::is_own;
use crate::status::{Failure, Outcome, Status};
use crate::terminal::name;

/// A burst is over when nothing has happened for so long,
const QUIET: Duration = Duration::from_millis(300);
/// or when it has lasted so long.
const LONGEST: Duration = Duration::from_secs(5);
/// How often Ctrl-C is looked for.
const GLANCE: Duration = Duration::from_millis(100);
/// How often the folders themselves are looked at.
const PEEK: Duration = Duration::from_secs(1);
/// How long to wait before a pass that failed is tried again.
pub(super) const AGAIN: Duration = Duration::from_secs(5);

/// The files that may have changed; nothing where any may.
type Changes = Option<HashSet<String>>;

/// Follows the files until the user interrupts; paths that are `gone` are not waited for. The index is closed between bursts, so that
/// others can search it.
pub(super) fn follow(job: &mut Job<'_>, linked: &[PathBuf], gone: &[PathBuf]) -> Outcome {
    let (sender, events) = channel();
    let mut sight = Sight::over(&job.plan.paths, linked, gone, sender)?;
    if !job.quiet {
        tell!("watching; Ctrl-C ends");
    }
    // What changed between the first pass and now has told nobody.
    let mut changed = Some(Some(HashSet::new()));
    while !job.options.stop.load(Ordering::Relaxed) {
        let Some(mut changes) = changed.take() else {
            (changed, sight) = burst(job, &events, sight)?;
            continue;
        };
        if sight.is_stale() {
            (changes, sight) = (None, sight.renew()?);
        }
        let (present, gone) = (sight.present(), sight.gone());
        if present.is_empty() && gone.is_empty() {
            continue;
        }
        match job.follow_up(&present, &gone, changes.clone()) {
            Ok((pass, found)) => {
                for written in &pass.report.written {
                    tell!("indexed: {}", name(written));
                }
                for pruned in &pass.pruned {
                    tell!("removed: {}", name(pruned));
                }
                if sight.follow(found.linked()) {
                    // What changed there before it was watched has told nobody.
                    (changed, sight) = (Some(Some(HashSet::new())), sight.renew()?);
                }
            }
            Err(failure @ Failure::Usage(_)) if job.served => return Err(failure),
            // A search may have the vectors open, or the folder be away for a moment.
            Err(failure) => {
                tell!("{failure}; trying again");
                wait(&job.options.stop, AGAIN);
                changed = Some(changes);
            }
        }
    }
    Ok(Status::Done)
}

/// Waits for the next burst of changes to end, and names the files; nothing where the user interrupts. A folder that is
/// another one now is a change of everything.
fn burst(
    job: &Job<'_>,
    events: &Receiver<notify::Result<Event>>,
    mut sight: Sight,
) -> Result<(Option<Changes>, Sight), Failure> {
    let mut names = Some(HashSet::new());
    let (mut began, mut last, mut peeked) = (None, Instant::now(), Instant::now());
    let here = std::env::current_dir().unwrap_or_default();
    loop {
        if job.options.stop.load(Ordering::Relaxed) {
            return Ok((None, sight));
        }
        if job.wake.swap(false, Ordering::Relaxed) {
            return Ok((Some(None), sight));
        }
        match events.recv_timeout(GLANCE) {
            Ok(Ok(event)) => {
                // The folder itself may have gone, and another one have its name and its number by now.
                let gone = matches!(event.kind, EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_)));
                if gone {
                    event.paths.iter().for_each(|path| sight.lose(path, &here));
                }
                if let Some(paths) = relevant(event) {
                    last = Instant::now();
                    began.get_or_insert(last);
                    if let Some(names) = &mut names {
                        names.extend(paths.iter().flat_map(|path| called(path, &here)));
                    }
                }
            }
            // A folder went away, or cannot be watched: a pass finds out.
            Ok(Err(_)) => {
                last = Instant::now();
                began.get_or_insert(last);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(Failure::runtime("the file system tells nothing more")),
        }
        if peeked.elapsed() >= PEEK {
            peeked = Instant::now();
            if sight.is_stale() {
                (names, sight) = (None, sight.renew()?);
                last = Instant::now();
                began.get_or_insert(last);
            }
        }
        if began.is_some_and(|began| last.elapsed() >= QUIET || began.elapsed() >= LONGEST) {
            return Ok((Some(names), sight));
        }
    }
}

/// The files that an event is about, but for those of an index: writing it is no reason to write it. Nothing where no
/// file changed; no file in particular where the system lost count, and any may have changed.
fn relevant(event: Event) -> Option<Vec<PathBuf>> {
    if event.need_rescan() {
        return Some(Vec::new());
    }
    if matches!(event.kind, EventKind::Access(_)) {
        return None;
    }
    let paths: Vec<PathBuf> = event.paths.into_iter().filter(|path| !inside_index(path) && !is_own(path)).collect();
    (!paths.is_empty()).then_some(paths)
}

/// What a file may be called: events give whole paths, the command line may have named it from the working directory.
fn called(path: &Path, here: &Path) -> Vec<String> {
    [Some(path), path.strip_prefix(here).ok()].into_iter().flatten().map(document_id).collect()
}

/// Waits, unless the user interrupts.
pub(super) fn wait(stop: &AtomicBool, time: Duration) {
    let until = Instant::now() + time;
    while Instant::now() < until && !stop.load(Ordering::Relaxed) {
        std::thread::sleep(GLANCE);
    }
}

#[cfg(test)]
mod tests {
    use notify::event::{AccessKind, Flag};

    use super::*;

    #[test]
    fn a_lost_count_is_a_reason_to_look() {
        let event = |kind, path: &str| Event::new(kind).add_path(PathBuf::from(path));
        let modified = EventKind::Modify(ModifyKind::Any);
        assert_eq!(relevant(event(modified, "/nowhere/a.md")), Some(vec![PathBuf::from("/nowhere/a.md")]));
        assert_eq!(relevant(event(EventKind::Access(AccessKind::Any), "/nowhere/a.md")), None);
        assert_eq!(relevant(Event::new(EventKind::Other).set_flag(Flag::Rescan)), Some(Vec::new()));
        assert_eq!(relevant(Event::new(EventKind::Other)), None);
    }

    #[test]
    fn a_file_has_the_name_that_the_command_line_gave_it() {
        let names = |path: &str| called(Path::new(path), Path::new("/home/me"));
        assert!(names("/home/me/docs/a.md").contains(&"docs/a.md".to_owned()));
        assert!(names("/home/me/./docs/a.md").contains(&"docs/a.md".to_owned()));
        assert!(names("/home/me/../docs/a.md").contains(&"../docs/a.md".to_owned()));
        assert_eq!(names("/data/a.md"), ["/data/a.md"]);
    }
}
