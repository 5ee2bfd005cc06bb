//! Work that can be left behind when it takes too long.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Results on their way to whoever waits for them.
const AHEAD: usize = 16;
/// Threads that may be left behind; after them nothing more is begun.
const MOST_LEFT_BEHIND: usize = 16;

type Job = Box<dyn FnOnce() + Send>;

/// A thread that does one job after the other. One that is late is left behind, and another takes its place.
#[derive(Default)]
pub struct Hand {
    jobs: Mutex<Option<Sender<Job>>>,
    left_behind: Arc<AtomicUsize>,
}

/// A job that has begun, or waits for the one before it.
pub struct Running<T>(Receiver<Said<T>>);

/// Why a job has no end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// It took too long.
    Late,
    /// It panicked.
    Panicked,
    /// It was not begun: too many others are still being worked on.
    Crowded,
}

enum Said<T> {
    Result(T),
    End,
}

impl Hand {
    /// Another hand beside this one; what either leaves behind is counted together.
    pub fn beside(&self) -> Self {
        Self { jobs: Mutex::default(), left_behind: Arc::clone(&self.left_behind) }
    }

    /// Does a job, which hands its results to `each` on this thread as they come. Where there is a limit, the job is left
    /// behind when it takes longer than that to its next result.
    ///
    /// # Errors
    /// Where the job did not come to its end. The results before that are valid.
    pub fn run<T: Send + 'static>(
        &self,
        limit: Option<Duration>,
        job: impl FnOnce(&mut dyn FnMut(T)) + Send + 'static,
        each: &mut dyn FnMut(T),
    ) -> Result<(), Stopped> {
        let running = self.start(job)?;
        self.finish(&running, limit, &mut |result| {
            each(result);
            true
        })
    }

    /// Begins a job, which goes on until it is so many results ahead.
    ///
    /// # Errors
    /// Where too many are left behind.
    pub fn start<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut dyn FnMut(T)) + Send + 'static,
    ) -> Result<Running<T>, Stopped> {
        if self.left_behind.load(Ordering::Relaxed) >= MOST_LEFT_BEHIND {
            return Err(Stopped::Crowded);
        }
        let (sender, results) = sync_channel(AHEAD);
        let job: Job = Box::new(move || {
            let ended = catch_unwind(AssertUnwindSafe(|| job(&mut |result| drop(sender.send(Said::Result(result))))));
            if ended.is_ok() {
                let _ = sender.send(Said::End);
            }
        });
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.get_or_insert_with(hire).send(job).map_err(|_| Stopped::Panicked)?;
        Ok(Running(results))
    }

    /// Hands the results of a job of this hand to `each`, as [`run`](Self::run) does, until that wants no more. The clock runs from
    /// here on.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn finish<T>(
        &self,
        running: &Running<T>,
        limit: Option<Duration>,
        each: &mut dyn FnMut(T) -> bool,
    ) -> Result<(), Stopped> {
        let stopped = receive(&running.0, limit, each);
        if stopped == Err(Stopped::Late) {
            *self.jobs.lock().unwrap_or_else(PoisonError::into_inner) = None;
            self.left_behind.fetch_add(1, Ordering::Relaxed);
        }
        stopped
    }
}

fn receive<T>(
    results: &Receiver<Said<T>>,
    limit: Option<Duration>,
    each: &mut dyn FnMut(T) -> bool,
) -> Result<(), Stopped> {
    loop {
        let said = match limit {
            Some(limit) => results.recv_timeout(limit),
            None => results.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match said {
            Ok(Said::Result(result)) => {
                if !each(result) {
                    return Ok(());
                }
            }
            Ok(Said::End) => return Ok(()),
            Err(RecvTimeoutError::Timeout) => return Err(Stopped::Late),
            Err(RecvTimeoutError::Disconnected) => return Err(Stopped::Panicked),
        }
    }
}

fn hire() -> Sender<Job> {
    let (jobs, queue) = channel::<Job>();
    std::thread::spawn(move || queue.into_iter().for_each(|job| job()));
    jobs
}

impl Stopped {
    /// The reason, for people.
    pub fn why(self, limit: Option<Duration>) -> String {
        match self {
            Self::Late => format!("took longer than {} s", limit.unwrap_or_default().as_secs_f64()),
            Self::Panicked => "the reader or the segmenter panicked".into(),
            Self::Crowded => {
                format!("not read: {MOST_LEFT_BEHIND} documents that took too long are still being worked on")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_that_hang_or_panic_cost_themselves_alone() {
        let hand = Hand::default();
        let mut seen = Vec::new();
        let short = Some(Duration::from_millis(20));
        for round in 0..3 {
            let hangs = |say: &mut dyn FnMut(i32)| {
                say(1);
                std::thread::park_timeout(Duration::from_secs(600));
            };
            assert_eq!(hand.run(short, hangs, &mut |n| seen.push(n)), Err(Stopped::Late), "{round}");
            let panics = |say: &mut dyn FnMut(i32)| {
                say(2);
                panic!("on purpose");
            };
            assert_eq!(hand.run(None, panics, &mut |n| seen.push(n)), Err(Stopped::Panicked));
            assert_eq!(hand.run(None, |say| (3..100).for_each(say), &mut |n| seen.push(n)), Ok(()));
        }
        assert_eq!(seen, [vec![1, 2], (3..100).collect()].concat().repeat(3));
    }

    #[test]
    fn a_crowd_of_late_jobs_is_the_end() {
        let hand = Hand::default();
        let hangs = |_: &mut dyn FnMut(())| std::thread::park_timeout(Duration::from_secs(600));
        let run = || hand.run(Some(Duration::from_millis(1)), hangs, &mut |()| {});
        for _ in 0..MOST_LEFT_BEHIND {
            assert_eq!(run(), Err(Stopped::Late));
        }
        assert_eq!(run(), Err(Stopped::Crowded));
        assert_eq!(hand.beside().run(None, |_: &mut dyn FnMut(())| {}, &mut |()| {}), Err(Stopped::Crowded));
    }

    #[test]
    fn jobs_of_hands_beside_each_other_run_at_once() {
        let (one, barrier) = (Hand::default(), Arc::new(std::sync::Barrier::new(2)));
        let other = one.beside();
        let meet = || {
            let barrier = Arc::clone(&barrier);
            move |say: &mut dyn FnMut(i32)| say(i32::from(barrier.wait().is_leader()))
        };
        let (first, second) = (one.start(meet()), other.start(meet()));
        let mut leaders = 0;
        for (hand, running) in [(&one, first), (&other, second)] {
            let limit = Some(Duration::from_secs(60));
            let mut count = |leads| {
                leaders += leads;
                true
            };
            let done = running.and_then(|running| hand.finish(&running, limit, &mut count));
            assert_eq!(done, Ok(()));
        }
        assert_eq!(leaders, 1);
    }
}
