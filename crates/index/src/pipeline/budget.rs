//! Who may be in flight: shares of memory, taken in the order of the sources.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// A document in flight takes about so many times its size: the source, its sentences, the text of its chunks, what the
/// encoder reads of them.
const FACTOR: usize = 4;
/// And at least this much,
const LEAST: usize = 512;
/// with the source around it.
const SOURCE: usize = 8 << 10;

/// Bytes that a document of this size is reckoned to take on its way.
pub(super) fn document_cost(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX).saturating_mul(FACTOR).saturating_add(LEAST)
}

/// Bytes that a source of this size is reckoned to take.
pub(super) fn source_cost(bytes: u64) -> usize {
    document_cost(bytes).saturating_add(SOURCE)
}

/// The share of the memory that documents which were left behind may use up, for the rest of the run: they still hold it.
const LOST: usize = 2;

/// A number of bytes that is shared out. Who asks for more than there is waits until everything is there, and gets that.
///
/// A single thread asks, in the order in which shares are given back in the end: so the first in flight never waits for
/// one behind it.
pub(super) struct Budget {
    whole: usize,
    state: Mutex<State>,
    freed: Condvar,
}

struct State {
    limit: usize,
    used: usize,
    /// The number of the source that goes to the destination next: it waits for no other.
    turn: u64,
    closed: bool,
}

impl Budget {
    pub fn new(limit: usize) -> Arc<Self> {
        let whole = limit.max(1);
        let state = Mutex::new(State { limit: whole, used: 0, turn: 0, closed: false });
        Arc::new(Self { whole, state, freed: Condvar::new() })
    }

    /// Takes a share; nothing once the budget is closed. The share is given back when it is dropped.
    pub fn take(self: &Arc<Self>, bytes: usize) -> Option<Share> {
        let mut state = self.lock();
        while !state.closed && state.used.saturating_add(bytes.min(state.limit)) > state.limit {
            state = self.freed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.closed {
            return None;
        }
        let bytes = bytes.min(state.limit);
        state.used += bytes;
        Some(Share { budget: Arc::clone(self), bytes, more: None })
    }

    /// Takes bytes that are in use already, whether they are there or not: a document turned out larger than its source.
    pub fn overdraw(self: &Arc<Self>, bytes: usize) -> Share {
        let mut state = self.lock();
        state.used = state.used.saturating_add(bytes);
        Share { budget: Arc::clone(self), bytes, more: None }
    }

    /// Waits while more is used than there is, unless it is this source's turn. False once the budget is closed.
    pub fn admit(&self, number: u64) -> bool {
        let mut state = self.lock();
        while !state.closed && state.used > state.limit && number > state.turn {
            state = self.freed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        !state.closed
    }

    /// True while more is used than there is.
    pub fn is_overdrawn(&self) -> bool {
        let state = self.lock();
        state.used > state.limit
    }

    /// Says which source goes to the destination next.
    pub fn turn(&self, number: u64) {
        let mut state = self.lock();
        state.turn = number;
        if state.used > state.limit {
            self.freed.notify_all();
        }
    }

    /// Gives a share up for the rest of the run: who has it is left behind, and does not let go of it. At least half of
    /// all remains for the others.
    pub fn forfeit(&self, share: Share) {
        let mut state = self.lock();
        state.limit = state.limit.saturating_sub(share.bytes).max(self.whole / LOST).max(1);
        drop(state);
        drop(share);
    }

    /// Nobody waits any more once the guard is dropped.
    pub fn close_on_drop(self: &Arc<Self>) -> Close {
        Close(Arc::clone(self))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// See [`Budget::close_on_drop`].
pub(super) struct Close(Arc<Budget>);

impl Drop for Close {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.freed.notify_all();
    }
}

/// Bytes that were taken.
pub(super) struct Share {
    budget: Arc<Budget>,
    pub bytes: usize,
    /// Given back with it.
    more: Option<Box<Share>>,
}

impl Share {
    /// The two as one.
    pub fn with(mut self, more: Option<Share>) -> Self {
        self.more = more.map(Box::new);
        self
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.budget.lock().used -= self.bytes;
        self.budget.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::time::Duration;

    use super::*;

    #[test]
    fn shares_are_waited_for_and_never_exceed_the_limit() {
        let budget = Budget::new(100);
        let first = budget.take(70).unwrap();
        std::thread::scope(|scope| {
            let second = scope.spawn(|| budget.take(1_000_000).map(|share| share.bytes));
            std::thread::sleep(Duration::from_millis(30));
            assert!(!second.is_finished(), "the whole is not there yet");
            drop(first);
            assert_eq!(second.join().unwrap(), Some(100));
        });
        assert_eq!(budget.lock().used, 0);
    }

    #[test]
    fn who_waits_is_sent_away_when_it_closes() {
        let budget = Budget::new(10);
        let held = budget.take(10).unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| budget.take(1).is_none());
            std::thread::sleep(Duration::from_millis(30));
            drop(budget.close_on_drop());
            assert!(waiting.join().unwrap());
        });
        drop(held);
        assert!(budget.take(1).is_none());
    }

    #[test]
    fn an_overdraft_holds_up_all_but_the_next_in_turn() {
        let budget = Budget::new(100);
        let grown = budget.take(60).unwrap().with(Some(budget.overdraw(1_000)));
        budget.turn(3);
        assert!(budget.admit(3) && budget.admit(2));
        std::thread::scope(|scope| {
            let later = scope.spawn(|| budget.admit(4));
            std::thread::sleep(Duration::from_millis(30));
            assert!(!later.is_finished());
            drop(grown);
            assert!(later.join().unwrap());
        });
        assert_eq!(budget.lock().used, 0);
    }

    #[test]
    fn what_is_left_behind_takes_half_at_most() {
        let budget = Budget::new(100);
        let limit_and_used = || {
            let state = budget.lock();
            (state.limit, state.used)
        };
        budget.forfeit(budget.take(30).unwrap());
        assert_eq!(limit_and_used(), (70, 0));
        budget.forfeit(budget.take(1_000).unwrap());
        assert_eq!(limit_and_used(), (50, 0));
        assert_eq!(budget.take(1_000).unwrap().bytes, 50);
    }
}
