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

/// A number of bytes that is shared out. Who asks for more than there is waits until everything is there, and gets that.
///
/// A single thread asks, in the order in which shares are given back in the end: so the first in flight never waits for
/// one behind it.
pub(super) struct Budget {
    limit: usize,
    state: Mutex<State>,
    freed: Condvar,
}

struct State {
    used: usize,
    closed: bool,
}

impl Budget {
    pub fn new(limit: usize) -> Arc<Self> {
        let state = Mutex::new(State { used: 0, closed: false });
        Arc::new(Self { limit: limit.max(1), state, freed: Condvar::new() })
    }

    /// Takes a share; nothing once the budget is closed. The share is given back when it is dropped.
    pub fn take(self: &Arc<Self>, bytes: usize) -> Option<Share> {
        let bytes = bytes.min(self.limit);
        let mut state = self.lock();
        while !state.closed && state.used.saturating_add(bytes) > self.limit {
            state = self.freed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.closed {
            return None;
        }
        state.used += bytes;
        Some(Share { budget: Arc::clone(self), bytes })
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
}
