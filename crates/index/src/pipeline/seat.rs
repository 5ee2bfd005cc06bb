//! What a thread works on, seen by whoever watches the clock.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::Sender;
use pericope_store::FileStamp;

use super::budget::Share;
use super::read::{Part, Position, SourceEnd, Task};
use super::report::Failure;

/// Where the results of a thread go.
pub(super) struct Out {
    /// Readers alone have this one.
    pub to_segment: Option<Sender<Task>>,
    pub finished: Sender<(Position, Part)>,
}

/// A source that is read, or a document that is cut.
pub(super) struct Job {
    /// Where the next part of it belongs.
    pub position: Position,
    /// How failures name it.
    pub name: String,
    /// The source that ends with this job, by its name; nothing where the job is a document.
    pub source: Option<Option<String>>,
    /// The stamp of that source.
    pub stamp: Option<FileStamp>,
    /// The time it may take from one result to the next.
    pub limit: Option<Duration>,
    pub share: Share,
}

/// The place of a thread: its job, and where its results go. Whoever finds it late takes both away, and then what the
/// thread still does reaches nobody.
#[derive(Default)]
pub(super) struct Seat {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    out: Option<Out>,
    job: Option<Job>,
    /// When the clock of the job was set; nothing while it waits for others.
    since: Option<Instant>,
}

impl Seat {
    pub fn new(out: Out) -> Self {
        Self { state: Mutex::new(State { out: Some(out), ..State::default() }) }
    }

    /// Begins a job.
    pub fn begin(&self, job: Job) {
        let mut state = self.lock();
        state.since = job.limit.map(|_| Instant::now());
        state.job = Some(job);
    }

    /// Hands on a part of the job. Nothing where nobody wants it any more.
    pub fn send(&self, part: Part) -> Option<()> {
        let mut state = self.lock();
        let position = state.next()?;
        state.out.as_ref()?.finished.send((position, part)).ok()
    }

    /// Hands on a document that is to be cut. Nothing where nobody wants it any more.
    pub fn pass(&self, task: impl FnOnce(Position) -> Task) -> Option<()> {
        let mut state = self.lock();
        let position = state.next()?;
        state.out.as_ref()?.to_segment.as_ref()?.send(task(position)).ok()
    }

    /// Ends the job with its last part, which may keep the job's share of the memory.
    pub fn end(&self, last: impl FnOnce(Share) -> Part) -> Option<()> {
        let mut state = self.lock();
        let Job { position, share, .. } = state.job.take()?;
        state.out.as_ref()?.finished.send((position, last(share))).ok()
    }

    /// Stops the clock while the job waits for others.
    pub fn wait<T>(&self, wait: impl FnOnce() -> T) -> T {
        let timed = self.lock().since.take().is_some();
        let waited = wait();
        if timed {
            let mut state = self.lock();
            state.since = state.job.as_ref().map(|_| Instant::now());
        }
        waited
    }

    /// Takes a job that is late away from its thread, and tells those who wait for it. Returns what the next thread needs,
    /// and the job's share.
    pub fn give_up_if_late(&self) -> Option<(Out, Share)> {
        let mut state = self.lock();
        let limit = state.job.as_ref()?.limit?;
        if state.since?.elapsed() <= limit {
            return None;
        }
        let (out, job) = (state.out.take()?, state.job.take()?);
        let what = if job.source.is_some() { "reading" } else { "cutting" };
        let reason = format!("{what} it took longer than {} s", limit.as_secs_f64());
        Some((fail(out, &job, reason), job.share))
    }

    /// The thread leaves. A job that it did not end has failed.
    pub fn leave(&self) {
        let mut state = self.lock();
        if let Some(out) = state.out.take()
            && let Some(job) = state.job.take()
        {
            fail(out, &job, "the thread that worked on it panicked".into());
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The place of the next part; the clock begins anew.
    fn next(&mut self) -> Option<Position> {
        let job = self.job.as_mut()?;
        let position = job.position;
        job.position.1 += 1;
        self.since = self.since.map(|_| Instant::now());
        Some(position)
    }
}

/// Tells of a job that has no end.
fn fail(out: Out, job: &Job, reason: String) -> Out {
    let (number, part) = job.position;
    let failed = Part::Failed(Failure::new(job.name.clone(), reason));
    // Nobody may listen any more: then nobody waits, either.
    let _ = out.finished.send(((number, part), failed));
    if let Some(name) = job.source.clone() {
        let stamp = job.stamp;
        let end = SourceEnd { name, unchanged: false, complete: false, record: None, stamp, share: None };
        let _ = out.finished.send(((number, part + 1), Part::End(end)));
    }
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use crossbeam_channel::unbounded;

    use super::*;
    use crate::pipeline::budget::Budget;

    fn job(limit: Option<Duration>, share: Share) -> Job {
        let source = Some(Some("slow.md".into()));
        Job { position: (7, 2), name: "slow.md".into(), source, stamp: None, limit, share }
    }

    #[test]
    fn what_a_late_thread_still_does_reaches_nobody() {
        let budget = Budget::new(100);
        let (finished, parts) = unbounded();
        let seat = Seat::new(Out { to_segment: None, finished });
        seat.begin(job(Some(Duration::ZERO), budget.take(10).unwrap()));
        let (out, _share) = seat.give_up_if_late().unwrap();
        let told: Vec<_> = parts.try_iter().collect();
        assert!(matches!(&told[0], ((7, 2), Part::Failed(failure)) if failure.document == "slow.md"));
        assert!(matches!(&told[1], ((7, 3), Part::End(end)) if !end.complete && end.name.is_some()));
        assert!(seat.send(Part::Same { id: "late".into() }).is_none());
        assert!(seat.end(|_| Part::Same { id: "late".into() }).is_none());
        assert!(seat.give_up_if_late().is_none());
        drop(out);
        assert!(parts.recv().is_err(), "nothing keeps the channel open");
    }

    #[test]
    fn who_waits_for_others_is_not_late() {
        let budget = Budget::new(100);
        let (finished, _parts) = unbounded();
        let seat = Seat::new(Out { to_segment: None, finished });
        seat.begin(job(Some(Duration::ZERO), budget.take(10).unwrap()));
        seat.wait(|| assert!(seat.give_up_if_late().is_none()));
        assert!(seat.give_up_if_late().is_some());
        seat.begin(job(None, budget.take(10).unwrap()));
        assert!(seat.give_up_if_late().is_none(), "no limit");
    }
}
