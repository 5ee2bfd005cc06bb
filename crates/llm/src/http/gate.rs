use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

/// Lets requests to one endpoint through: so many at once, so many tokens a minute, and none while the server wants quiet.
#[derive(Debug)]
pub(crate) struct Gate {
    at_once: Semaphore,
    per_minute: Option<f64>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Tokens that may be used now; below 0 where more was used than foreseen.
    left: f64,
    counted_at: Instant,
    quiet_until: Option<Instant>,
}

impl Gate {
    pub(crate) fn new(at_once: usize, per_minute: Option<u64>) -> Self {
        let per_minute = per_minute.map(|n| n as f64);
        Self {
            at_once: Semaphore::new(at_once.clamp(1, Semaphore::MAX_PERMITS)),
            per_minute,
            state: Mutex::new(State {
                // Servers allow a burst of a minute's tokens too.
                left: per_minute.unwrap_or_default(),
                counted_at: Instant::now(),
                quiet_until: None,
            }),
        }
    }

    /// Waits for a place and for `tokens`; the place is free again when what is returned is dropped.
    pub(crate) async fn enter(&self, tokens: usize) -> Option<SemaphorePermit<'_>> {
        // Never closed, so never `None` from here.
        let permit = self.at_once.acquire().await.ok()?;
        loop {
            let Some(wait) = self.take(tokens as f64) else { return Some(permit) };
            tokio::time::sleep(wait).await;
        }
    }

    /// Takes `tokens` now, or says how long to wait first.
    fn take(&self, tokens: f64) -> Option<Duration> {
        let now = Instant::now();
        let mut state = self.state();
        if let Some(until) = state.quiet_until {
            if until > now {
                return Some(until - now);
            }
            state.quiet_until = None;
        }
        let per_minute = self.per_minute?;
        let passed = now.duration_since(state.counted_at).as_secs_f64();
        state.left = (state.left + passed * per_minute / 60.0).min(per_minute);
        state.counted_at = now;
        // A request for more than a minute's tokens would wait for ever: it takes the whole minute.
        let wanted = tokens.min(per_minute);
        if state.left >= wanted {
            state.left -= wanted;
            return None;
        }
        let seconds = (wanted - state.left) * 60.0 / per_minute;
        // Rounded up, so that one wait is enough.
        Some(Duration::from_secs_f64(seconds) + Duration::from_millis(1))
    }

    /// Corrects what [`enter`](Gate::enter) took by what was used.
    pub(crate) fn settle(&self, taken: usize, used: u64) {
        if let Some(per_minute) = self.per_minute {
            let mut state = self.state();
            let taken = (taken as f64).min(per_minute);
            state.left = (state.left + taken - used as f64).min(per_minute);
        }
    }

    /// Nothing goes through for `wait`: the server said so to one request, and would say so to all.
    pub(crate) fn quiet(&self, wait: Duration) {
        let until = Instant::now() + wait;
        let mut state = self.state();
        if state.quiet_until.is_none_or(|earlier| earlier < until) {
            state.quiet_until = Some(until);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn tokens_flow_by_the_minute() {
        let gate = Gate::new(8, Some(600));
        let start = Instant::now();
        // A minute's worth at once, then ten a second.
        for expected in [0.0, 0.0, 0.0, 20.0, 40.0, 60.0] {
            drop(gate.enter(200).await.unwrap());
            let seconds = start.elapsed().as_secs_f64();
            assert!((seconds - expected).abs() < 0.1, "{seconds} {expected}");
        }
        // Half of it was not used after all.
        gate.settle(200, 100);
        drop(gate.enter(200).await.unwrap());
        assert!((start.elapsed().as_secs_f64() - 70.0).abs() < 0.1);
        // More than fits a minute is a minute's.
        drop(gate.enter(10_000).await.unwrap());
        assert!((start.elapsed().as_secs_f64() - 130.0).abs() < 0.1);
    }

    #[tokio::test(start_paused = true)]
    async fn places_and_quiet() {
        let gate = Gate::new(2, None);
        let start = Instant::now();
        let first = gate.enter(1).await.unwrap();
        let _second = gate.enter(1).await.unwrap();
        assert!(tokio::time::timeout(Duration::from_secs(5), gate.enter(1)).await.is_err());
        drop(first);
        gate.quiet(Duration::from_secs(7));
        gate.quiet(Duration::from_secs(3));
        let _third = gate.enter(1).await.unwrap();
        assert!((start.elapsed().as_secs_f64() - 12.0).abs() < 0.1);
    }
}
