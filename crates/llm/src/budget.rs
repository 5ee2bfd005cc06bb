use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::cache::{Cache, Charge, Room};
use crate::error::LlmError;
use crate::notices::tell;

/// The time after which a budget that another process holds is looked at again.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// Counts money, and stops before more is spent than allowed. One budget serves all clients of a run.
///
/// A try of a call reserves the most that it may cost before it is made, and gives back what it did not use. A call waits
/// while others hold what it needs; only where the rest can never be enough is it refused. So spending stays within the
/// budget as far as prompts are counted rightly (give the model's `tokenizer`).
#[derive(Debug, Default)]
pub struct Budget {
    limit: Option<f64>,
    state: Mutex<State>,
    changed: Condvar,
    /// The cache that keeps what is spent, and the name of the run.
    ledger: Option<(Arc<Cache>, String)>,
}

#[derive(Debug, Default)]
struct State {
    spent: f64,
    /// The part of `spent` that is an estimate.
    estimated: f64,
    reserved: f64,
    /// Calls are served in the order in which they came, so that none waits for ever.
    last_ticket: u64,
    serving: u64,
}

impl Budget {
    /// Allows at most `limit`; `None`: no limit.
    #[must_use]
    pub fn new(limit: Option<f64>) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Allows a run that may be interrupted at most `limit`. What it spends is written down in `cache` under the name of
    /// the `run`, call by call. With `resume`, what its earlier sessions spent counts; else it begins with nothing spent.
    ///
    /// Calls that were under way when an earlier session was killed count at the most that they may have cost. Sessions
    /// that go on at the same time share the budget.
    ///
    /// # Errors
    /// [`LlmError::Cache`].
    pub fn of_run(limit: Option<f64>, cache: Arc<Cache>, run: &str, resume: bool) -> Result<Self, LlmError> {
        if resume {
            cache.count_interrupted(run)?;
        } else {
            cache.forget_paid(run)?;
        }
        let (spent, estimated) = cache.paid(run)?;
        let state = State { spent, estimated, ..State::default() };
        Ok(Self { limit, state: Mutex::new(state), changed: Condvar::new(), ledger: Some((cache, run.to_owned())) })
    }

    /// Returns what has been spent.
    #[must_use]
    pub fn spent(&self) -> f64 {
        self.state().spent
    }

    /// Returns the part of what has been spent that is an estimate: servers that broke off, or did not say what they used.
    #[must_use]
    pub fn estimated(&self) -> f64 {
        self.state().estimated
    }

    /// Returns what calls under way have set aside.
    #[must_use]
    pub fn reserved(&self) -> f64 {
        self.state().reserved
    }

    /// Returns the limit.
    #[must_use]
    pub fn limit(&self) -> Option<f64> {
        self.limit
    }

    /// Sets `most` aside for a try. Waits while it is only other calls under way that hold it.
    ///
    /// # Errors
    /// [`LlmError::Budget`] where so much is not left whatever they give back; [`LlmError::Cache`].
    pub(crate) fn reserve(&self, most: f64) -> Result<Reserved<'_>, LlmError> {
        // What costs nothing needs no place in the row.
        if most <= 0.0 {
            return Ok(Reserved { budget: self, most: 0.0, id: None, open: true });
        }
        let mut state = self.state();
        let ticket = state.last_ticket;
        state.last_ticket += 1;
        while state.serving != ticket {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let mut told = false;
        let result = loop {
            match self.room(&state, most) {
                Err(error) => break Err(error),
                Ok(Room::Reserved(id)) => {
                    state.reserved += most;
                    break Ok(Reserved { budget: self, most, id, open: true });
                }
                Ok(Room::Lack { spent, reserved }) => {
                    let budget = self.limit.unwrap_or_default();
                    break Err(LlmError::Budget { budget, spent, reserved, next: most });
                }
                Ok(Room::Held) if state.reserved <= 0.0 => {
                    if !told {
                        tell("the budget is held by calls of another process: waiting for them");
                        told = true;
                    }
                    let waited = self.changed.wait_timeout(state, LOOK_AGAIN);
                    state = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
                Ok(Room::Held) => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        };
        state.serving += 1;
        drop(state);
        self.changed.notify_all();
        result
    }

    /// Looks whether there is room for `most`, and takes it in the ledger where there is one.
    fn room(&self, state: &State, most: f64) -> Result<Room, LlmError> {
        if let Some((cache, run)) = &self.ledger {
            return cache.reserve(run, most, self.limit);
        }
        Ok(Room::of(state.spent, state.reserved, most, self.limit))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Numbers are never half written.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Money set aside for one try; goes back when dropped.
#[derive(Debug)]
pub(crate) struct Reserved<'a> {
    budget: &'a Budget,
    most: f64,
    /// The line of the ledger.
    id: Option<i64>,
    open: bool,
}

impl Reserved<'_> {
    /// Returns the most that the try may cost.
    pub(crate) fn most(&self) -> f64 {
        self.most
    }

    /// Counts a charge as spent.
    ///
    /// # Errors
    /// [`LlmError::Cache`] where it cannot be written down.
    pub(crate) fn settle(mut self, charge: Charge) -> Result<(), LlmError> {
        self.close(charge)
    }

    fn close(&mut self, charge: Charge) -> Result<(), LlmError> {
        if !std::mem::replace(&mut self.open, false) {
            return Ok(());
        }
        let mut state = self.budget.state();
        state.reserved = (state.reserved - self.most).max(0.0);
        state.spent += charge.cost;
        state.estimated += if charge.estimated { charge.cost } else { 0.0 };
        let written = match &self.budget.ledger {
            Some((cache, run)) if self.id.is_some() || charge.cost > 0.0 => {
                cache.settle(run, self.id, self.most, charge).map(|(spent, estimated)| {
                    // Other sessions spend too.
                    (state.spent, state.estimated) = (spent, estimated);
                })
            }
            _ => Ok(()),
        };
        drop(state);
        self.budget.changed.notify_all();
        written
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        // What cannot be given back in the file is counted as spent by the next session: never too little.
        let _ = self.close(Charge::NOTHING);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn cost(cost: f64) -> Charge {
        Charge { cost, estimated: false }
    }

    #[test]
    fn a_reservation_is_waited_for_and_a_lack_is_not() {
        let budget = Budget::new(Some(1.0));
        let first = budget.reserve(0.75).unwrap();
        // Never, whatever comes back.
        let error = budget.reserve(1.5).unwrap_err().to_string();
        assert!(error.contains("0.0000 spent") && error.contains("0.7500") && error.contains("1.5000"), "{error}");
        std::thread::scope(|scope| {
            let second = scope.spawn(|| budget.reserve(0.5).map(|reserved| reserved.settle(cost(0.5))));
            std::thread::sleep(Duration::from_millis(30));
            assert!(!second.is_finished());
            first.settle(cost(0.25)).unwrap();
            second.join().unwrap().unwrap().unwrap();
        });
        assert_eq!((budget.spent(), budget.reserved()), (0.75, 0.0));
        drop(budget.reserve(0.25).unwrap());
        assert_eq!(budget.spent(), 0.75);
        assert!(matches!(budget.reserve(0.5), Err(LlmError::Budget { spent: 0.75, .. })));
        assert!(Budget::new(None).reserve(1e9).is_ok());
    }

    #[test]
    fn calls_are_served_in_their_order_and_none_is_forgotten() {
        let budget = Budget::new(Some(10.0));
        let most = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for i in 0..32_u32 {
                let (budget, most) = (&budget, &most);
                scope.spawn(move || {
                    let reserved = budget.reserve(f64::from(1 + i % 10)).unwrap();
                    assert!(budget.reserved() <= 10.0);
                    std::thread::sleep(Duration::from_millis(1));
                    most.fetch_add(1, Ordering::SeqCst);
                    reserved.settle(cost(0.0)).unwrap();
                });
            }
        });
        assert_eq!((most.into_inner(), budget.reserved()), (32, 0.0));
    }

    #[test]
    fn two_sessions_of_one_run_share_its_budget() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cache.sqlite");
        let open = |resume| Budget::of_run(Some(10.0), Arc::new(Cache::open(&path).unwrap()), "run", resume).unwrap();
        let (one, other) = (open(false), open(true));
        let held = one.reserve(8.0).unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| other.reserve(4.0).map(|reserved| reserved.settle(cost(4.0))));
            std::thread::sleep(Duration::from_millis(50));
            assert!(!waiting.is_finished());
            held.settle(cost(1.0)).unwrap();
            waiting.join().unwrap().unwrap().unwrap();
        });
        assert_eq!(other.spent(), 5.0);
        assert!(matches!(one.reserve(6.0), Err(LlmError::Budget { spent: 5.0, .. })));
    }

    #[test]
    fn what_was_under_way_when_a_session_was_killed_counts_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cache.sqlite");
        let open = || Budget::of_run(Some(10.0), Arc::new(Cache::open(&path).unwrap()), "run", true).unwrap();
        let killed = open();
        killed.reserve(1.0).unwrap().settle(cost(1.0)).unwrap();
        std::mem::forget(killed.reserve(3.0).unwrap());
        let alive = killed.reserve(2.0).unwrap();
        let next = open();
        assert_eq!((next.spent(), next.estimated()), (6.0, 5.0));
        assert_eq!(open().spent(), 6.0);
        // One of them was alive after all.
        alive.settle(cost(0.5)).unwrap();
        let next = open();
        assert_eq!((next.spent(), next.estimated()), (4.5, 3.0));
        let anew = Budget::of_run(Some(1.0), Arc::new(Cache::open(&path).unwrap()), "run", false).unwrap();
        assert_eq!((anew.spent(), anew.estimated()), (0.0, 0.0));
    }
}
