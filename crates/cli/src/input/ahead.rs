//! Many files on all cores, their results in the order of the files.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::Arc;
use std::thread;

use crossbeam_channel::{Receiver, Sender};
use pericope_api::Document;

use super::{Input, LeftOut, read_with, tell_note};
use crate::limited::Hand;

/// A result, and what is to be said of its document.
type Said<T> = (Option<String>, Result<T, LeftOut>);

/// Bytes from which on a file of many documents is worked on by several threads.
const MANY: u64 = 256 << 10;

impl Input {
    /// Reads all files, does something with each document, and hands over the results in order: those of a file, as long as `each`
    /// wants more, then `ended`, which says whether to go on. A file that takes too long, or panics, ends with a line that
    /// says so.
    ///
    /// So many `threads` work on files side by side, or on the documents of one large file. More than one is for work that is done by
    /// one thread and waits for nobody: else the time of one file would run while another is worked on.
    pub fn read_ahead<T: Send + 'static>(
        &self,
        threads: usize,
        work: impl Fn(Document) -> T + Clone + Send + Sync + 'static,
        each: &mut dyn FnMut(Result<T, LeftOut>) -> bool,
        ended: &mut dyn FnMut() -> bool,
    ) {
        let hands: Vec<Hand> = (0..threads.max(1)).map(|_| self.hand.beside()).collect();
        let mut free: Vec<&Hand> = hands.iter().collect();
        let (mut files, mut running) = (self.files.iter().peekable(), VecDeque::new());
        let mut takes_all = false;
        loop {
            while !takes_all && let Some(path) = files.peek() {
                // A file that all threads work on begins when all others are done.
                let wide = threads > 1 && holds_many(path);
                if wide && !running.is_empty() {
                    break;
                }
                let Some(hand) = free.pop() else { break };
                running.push_back((
                    hand,
                    *path,
                    hand.start(self.job(path, if wide { threads } else { 1 }, work.clone())),
                ));
                files.next();
                takes_all = wide;
            }
            let Some((hand, path, job)) = running.pop_front() else { return };
            let limit = self.limit(path);
            let done = job.and_then(|job| {
                hand.finish(&job, limit, &mut |(note, read): Said<T>| {
                    tell_note(note);
                    each(read)
                })
            });
            if let Err(stopped) = done {
                each(Err(LeftOut::unfinished(path, stopped, limit)));
            }
            free.push(hand);
            takes_all = false;
            if !ended() {
                return;
            }
        }
    }

    /// The work on a file, which can be left behind.
    pub(super) fn job<T: Send + 'static>(
        &self,
        path: &Path,
        threads: usize,
        work: impl Fn(Document) -> T + Send + Sync + 'static,
    ) -> impl FnOnce(&mut dyn FnMut(Said<T>)) + Send + 'static {
        let (file, options) = (path.to_owned(), Arc::clone(&self.options));
        move |say| {
            if threads > 1 {
                let read = |each: &mut dyn FnMut(_, _)| read_with(&file, &options, each);
                return in_order(threads, read, &work, say);
            }
            read_with(&file, &options, &mut |note, read| say((note, read.map(&work))));
        }
    }
}

fn holds_many(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("jsonl"))
        && path.metadata().is_ok_and(|about| about.len() > MANY)
}

/// A result that is on its way, or was there at once.
enum Next<T> {
    Coming(Receiver<thread::Result<T>>),
    LeftOut(LeftOut),
}

/// A document, and where what becomes of it goes.
type Task<T> = (Document, Sender<thread::Result<T>>);

/// Works on documents on several threads while they are read, and says what becomes of them in their order. A panic of the work
/// is this function's.
fn in_order<T: Send>(
    threads: usize,
    read: impl FnOnce(&mut dyn FnMut(Option<String>, Result<Document, LeftOut>)),
    work: &(impl Fn(Document) -> T + Sync),
    say: &mut dyn FnMut(Said<T>),
) {
    /// Documents on their way, for each thread.
    const AHEAD: usize = 4;
    thread::scope(|scope| {
        let (tasks, queue) = crossbeam_channel::unbounded::<Task<T>>();
        for _ in 0..threads {
            let queue = queue.clone();
            scope.spawn(move || {
                for (document, result) in queue {
                    // Nobody listens where a panic has ended it all.
                    let _ = result.send(catch_unwind(AssertUnwindSafe(|| work(document))));
                }
            });
        }
        let mut on_their_way: VecDeque<(Option<String>, Next<T>)> = VecDeque::new();
        let mut first = |on_their_way: &mut VecDeque<(Option<String>, Next<T>)>| {
            let Some((note, next)) = on_their_way.pop_front() else { return };
            match next {
                Next::LeftOut(one) => say((note, Err(one))),
                Next::Coming(result) => match result.recv() {
                    Ok(Ok(done)) => say((note, Ok(done))),
                    Ok(Err(panic)) => resume_unwind(panic),
                    Err(_) => say((note, Err(LeftOut::Bad("a document was lost on its way".to_owned())))),
                },
            }
        };
        read(&mut |note, read| {
            let next = match read {
                Err(one) => Next::LeftOut(one),
                Ok(document) => {
                    let (sender, result) = crossbeam_channel::bounded(1);
                    let _ = tasks.send((document, sender));
                    Next::Coming(result)
                }
            };
            on_their_way.push_back((note, next));
            if on_their_way.len() > AHEAD * threads {
                first(&mut on_their_way);
            }
        });
        while !on_their_way.is_empty() {
            first(&mut on_their_way);
        }
        drop(tasks);
    });
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs;
    use std::sync::Mutex;
    use std::time::Duration;

    use super::*;
    use crate::worker::ReadLimits;

    /// Files of one document each but the second, which holds so many that several threads work on it.
    fn folder() -> (tempfile::TempDir, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let mut names = Vec::new();
        for file in 0..12 {
            if file == 1 {
                let mut lines = String::new();
                for line in 0..400 {
                    let id = format!("many-{line:03}");
                    lines += &format!("{}\n", serde_json::json!({ "id": id, "text": "A page. ".repeat(100) }));
                    names.push(id);
                }
                assert!(lines.len() as u64 > MANY);
                fs::write(folder.path().join("01.jsonl"), lines).unwrap();
            } else {
                fs::write(folder.path().join(format!("{file:02}.md")), "# Page\n\nOf its own.\n").unwrap();
                names.push(format!("{file:02}.md"));
            }
        }
        (folder, names)
    }

    fn input(folder: &tempfile::TempDir, time: Duration) -> Input {
        let limits = ReadLimits { time, memory: 1 << 30 };
        Input::find(&[folder.path().to_owned()], false, limits).ok().unwrap()
    }

    #[test]
    fn results_come_in_the_order_of_the_files() {
        let (folder, names) = folder();
        let input = input(&folder, Duration::ZERO);
        let late = |document: Document| {
            // The first ones take longest.
            let wait = if document.id.ends_with("00.md") || document.id.ends_with("many-000") { 100 } else { 0 };
            thread::sleep(Duration::from_millis(wait));
            document.id
        };
        let (found, mut files) = (Mutex::new(Vec::new()), 0);
        let mut keep = |read: Result<String, LeftOut>| {
            found.lock().unwrap().push(read.ok().unwrap());
            true
        };
        input.read_ahead(3, late, &mut keep, &mut || {
            files += 1;
            true
        });
        let found: Vec<String> =
            found.into_inner().unwrap().iter().map(|id| id.rsplit('/').next().unwrap().to_owned()).collect();
        assert_eq!((found, files), (names, 12));
        // Whoever has enough gets no more, of a file or of all.
        let (mut seen, mut files) = (0, 0);
        let mut five = |_| {
            seen += 1;
            seen < 5
        };
        input.read_ahead(2, |document| document.id, &mut five, &mut || {
            files += 1;
            files < 2
        });
        assert_eq!((seen, files), (5, 2));
    }

    #[test]
    fn what_hangs_or_panics_costs_its_file_alone() {
        let (folder, _) = folder();
        // A panic takes a while where backtraces are printed.
        let input = input(&folder, Duration::from_secs(10));
        let work = |document: Document| {
            if document.id.ends_with("03.md") {
                thread::park_timeout(Duration::from_secs(600));
            }
            assert!(!document.id.ends_with("many-200") && !document.id.ends_with("05.md"), "on purpose");
            document.id
        };
        let (mut done, mut bad) = (0, Vec::new());
        let mut take = |read| {
            match read {
                Ok(_) => done += 1,
                Err(LeftOut::Bad(problem)) => bad.push(problem),
                Err(LeftOut::Empty(name) | LeftOut::InPart(name)) => panic!("{name}"),
            }
            true
        };
        input.read_ahead(2, work, &mut take, &mut || true);
        assert_eq!((done, bad.len()), (200 + 9, 3), "{bad:?}");
        assert!(bad[0].contains("01.jsonl: the reader or the segmenter panicked"), "{bad:?}");
        assert!(bad[1].contains("03.md: took longer than") && bad[2].contains("05.md: "), "{bad:?}");
    }
}
