use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Lets requests to one endpoint through: so many at once, so many tokens a minute, and none while the server wants quiet.
#[derive(Debug)]
pub(crate) struct RateLimiter {
    at_once: usize,
    tokens_per_minute: Option<f64>,
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Debug)]
struct State {
    in_flight: usize,
    /// Tokens that may be used now; below 0 where more was used than foreseen.
    tokens_left: f64,
    counted_at: Instant,
    quiet_until: Option<Instant>,
    /// All the time for which the server wanted quiet.
    quiet: Duration,
}

/// What a server's wish to wait adds up to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pause {
    /// The time by which it makes a pause longer that others have asked for already.
    pub more: Duration,
    /// All pauses so far.
    pub total: Duration,
}

/// The right to send one request; given back when dropped.
pub(crate) struct Permit<'a>(&'a RateLimiter);

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.0.state().in_flight -= 1;
        self.0.freed.notify_one();
    }
}

impl RateLimiter {
    /// `at_once` is at least 1.
    pub(crate) fn new(at_once: usize, tokens_per_minute: Option<u64>) -> Self {
        let tokens_per_minute = tokens_per_minute.map(|n| n as f64);
        Self {
            at_once: at_once.max(1),
            tokens_per_minute,
            state: Mutex::new(State {
                in_flight: 0,
                // Servers allow a burst of a minute's tokens too.
                tokens_left: tokens_per_minute.unwrap_or_default(),
                counted_at: Instant::now(),
                quiet_until: None,
                quiet: Duration::ZERO,
            }),
            freed: Condvar::new(),
        }
    }

    /// Waits for a place and for `tokens`.
    pub(crate) fn acquire(&self, tokens: usize) -> Permit<'_> {
        let full = |state: &mut State| state.in_flight >= self.at_once;
        let mut state = self.freed.wait_while(self.state(), full).unwrap_or_else(PoisonError::into_inner);
        state.in_flight += 1;
        drop(state);
        let permit = Permit(self);
        while let Some(wait) = self.take(tokens, Instant::now()) {
            std::thread::sleep(wait);
        }
        permit
    }

    /// Takes `tokens`, or returns how long to wait first.
    fn take(&self, tokens: usize, now: Instant) -> Option<Duration> {
        let mut state = self.state();
        if let Some(until) = state.quiet_until {
            if until > now {
                return Some(until - now);
            }
            state.quiet_until = None;
        }
        let per_minute = self.tokens_per_minute?;
        let passed = now.saturating_duration_since(state.counted_at).as_secs_f64();
        state.tokens_left = (state.tokens_left + passed * per_minute / 60.0).min(per_minute);
        state.counted_at = now;
        // A request for more than a minute's tokens would wait for ever: it takes the whole minute.
        let wanted = (tokens as f64).min(per_minute);
        if state.tokens_left >= wanted {
            state.tokens_left -= wanted;
            return None;
        }
        let seconds = (wanted - state.tokens_left) * 60.0 / per_minute;
        // Rounded up, so that one wait is enough.
        Some(Duration::from_secs_f64(seconds) + Duration::from_millis(1))
    }

    /// Corrects the tokens that [`acquire`](Self::acquire) took by those that were used.
    pub(crate) fn settle(&self, taken: usize, used: u64) {
        if let Some(per_minute) = self.tokens_per_minute {
            let mut state = self.state();
            let taken = (taken as f64).min(per_minute);
            state.tokens_left = (state.tokens_left + taken - used as f64).min(per_minute);
        }
    }

    /// Holds every request back for `wait`: the server said so to one of them, and would say so to all.
    pub(crate) fn pause(&self, wait: Duration) -> Pause {
        self.pause_until(Instant::now(), wait)
    }

    fn pause_until(&self, now: Instant, wait: Duration) -> Pause {
        let mut state = self.state();
        let until = now + wait;
        let begun = state.quiet_until.map_or(now, |earlier| earlier.max(now));
        let more = until.saturating_duration_since(begun);
        if !more.is_zero() {
            state.quiet_until = Some(until);
            state.quiet += more;
        }
        Pause { more, total: state.quiet }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// A clock that only waits move.
    struct Clock(Instant);

    impl Clock {
        /// Takes `tokens` after all waits; seconds since `start`.
        fn take(&mut self, limiter: &RateLimiter, tokens: usize, start: Instant) -> f64 {
            while let Some(wait) = limiter.take(tokens, self.0) {
                self.0 += wait;
            }
            (self.0 - start).as_secs_f64()
        }
    }

    #[test]
    fn tokens_flow_by_the_minute() {
        let limiter = RateLimiter::new(8, Some(600));
        let start = Instant::now();
        let mut clock = Clock(start);
        // A minute's worth at once, then ten a second.
        for expected in [0.0, 0.0, 0.0, 20.0, 40.0, 60.0] {
            let seconds = clock.take(&limiter, 200, start);
            assert!((seconds - expected).abs() < 0.1, "{seconds} {expected}");
        }
        // Half of it was not used after all.
        limiter.settle(200, 100);
        assert!((clock.take(&limiter, 200, start) - 70.0).abs() < 0.1);
        // More than fits a minute is a minute's.
        assert!((clock.take(&limiter, 10_000, start) - 130.0).abs() < 0.1);
    }

    #[test]
    fn what_was_not_used_is_there_for_the_next_one() {
        let limiter = RateLimiter::new(8, Some(60));
        let start = Instant::now();
        let mut clock = Clock(start);
        // Of 55 that are taken two are used, and one returns each second.
        for expected in [0.0, 0.0, 0.0, 1.0, 3.0] {
            let seconds = clock.take(&limiter, 55, start);
            assert!((seconds - expected).abs() < 0.1, "{seconds} {expected}");
            limiter.settle(55, 2);
        }
    }

    #[test]
    fn the_longest_pause_counts() {
        let limiter = RateLimiter::new(2, None);
        let start = Instant::now();
        let seconds = |more, total| Pause { more: Duration::from_secs(more), total: Duration::from_secs(total) };
        let pause = |wait| limiter.pause_until(start, Duration::from_secs(wait));
        assert_eq!((pause(7), pause(3), pause(9)), (seconds(7, 7), seconds(0, 7), seconds(2, 9)));
        assert_eq!(Clock(start).take(&limiter, 1, start), 9.0);
    }

    #[test]
    fn places_are_limited() {
        let limiter = RateLimiter::new(2, None);
        let first = limiter.acquire(1);
        let _second = limiter.acquire(1);
        let (sender, third) = mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let _third = limiter.acquire(1);
                sender.send(()).unwrap();
            });
            assert!(third.recv_timeout(Duration::from_millis(50)).is_err());
            drop(first);
            assert!(third.recv_timeout(Duration::from_secs(10)).is_ok());
        });
    }
}
