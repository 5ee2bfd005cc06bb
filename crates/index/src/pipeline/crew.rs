//! The threads of the middle stages, and the clock over them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError};

use super::budget::Budget;
use super::seat::{Out, Seat};

/// Threads that may be left behind with documents that take too long; after them nothing more is begun.
pub(super) const MOST_LEFT_BEHIND: usize = 16;
/// How often the clock is looked at.
const TICK: Duration = Duration::from_millis(100);

/// What a thread does at its seat, until nothing more comes.
pub(super) type Duty = dyn Fn(&Seat) + Send + Sync;

/// Threads at their seats. Nobody has to wait for one that is late: another takes its duty over.
pub(super) struct Crew {
    members: Mutex<Vec<Member>>,
    budget: Arc<Budget>,
    /// As many threads as may be are left behind.
    exhausted: Arc<AtomicBool>,
}

struct Member {
    seat: Arc<Seat>,
    duty: Arc<Duty>,
    thread: JoinHandle<()>,
}

impl Crew {
    pub fn new(budget: Arc<Budget>, exhausted: Arc<AtomicBool>) -> Self {
        Self { members: Mutex::default(), budget, exhausted }
    }

    /// Starts a thread.
    pub fn hire(&self, duty: &Arc<Duty>, out: Out) {
        let member = start(duty, out);
        self.members.lock().unwrap_or_else(PoisonError::into_inner).push(member);
    }

    /// Watches the clock until `over` says that nothing more is to be watched.
    pub fn watch(&self, over: &Receiver<()>) {
        let mut left_behind = 0;
        while over.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
            let mut members = self.members.lock().unwrap_or_else(PoisonError::into_inner);
            for member in members.iter_mut() {
                let Some((out, share)) = member.seat.give_up_if_late() else { continue };
                left_behind += 1;
                if left_behind >= MOST_LEFT_BEHIND {
                    self.exhausted.store(true, Ordering::Relaxed);
                }
                self.budget.forfeit(share);
                // The old thread is nobody's any more.
                *member = start(&member.duty, out);
            }
        }
    }

    /// Waits for the threads, which have nothing more to do.
    pub fn join(&self) {
        let members = std::mem::take(&mut *self.members.lock().unwrap_or_else(PoisonError::into_inner));
        for member in members {
            if let Err(panic) = member.thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
    }
}

fn start(duty: &Arc<Duty>, out: Out) -> Member {
    let seat = Arc::new(Seat::new(out));
    let (at, does) = (Arc::clone(&seat), Arc::clone(duty));
    let thread = std::thread::spawn(move || {
        let leave = Leave(at);
        does(&leave.0);
    });
    Member { seat, duty: Arc::clone(duty), thread }
}

/// Leaves the seat, however the thread ends.
struct Leave(Arc<Seat>);

impl Drop for Leave {
    fn drop(&mut self) {
        self.0.leave();
    }
}
