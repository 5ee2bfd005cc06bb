//! An encoder of queries, loaded once, and what of it failed last.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pericope::api::SentenceEncoder;

use super::Problem;

/// So long after a failure an encoder is not tried again: what failed may be an endpoint that answers slowly.
const AGAIN: Duration = Duration::from_secs(30);

pub(super) type Loaded = Result<Arc<dyn SentenceEncoder>, Problem>;

/// An encoder that is loaded at the first question for it. For a while after it could not be loaded, or gave no answer, it is
/// not tried.
#[derive(Default)]
pub(super) struct Served {
    state: Mutex<State>,
    /// Held by the one who loads it.
    loading: Mutex<()>,
}

#[derive(Default, Clone)]
struct State {
    encoder: Option<Arc<dyn SentenceEncoder>>,
    /// Why it could not be loaded, or gave no answer, and when.
    failure: Option<(Problem, Instant)>,
}

impl Served {
    /// The encoder. `now` tells the time: loading may take longer than a failure is remembered.
    pub(super) fn get(&self, now: impl Fn() -> Instant, load: impl FnOnce() -> Loaded) -> Loaded {
        let known = || self.state().clone();
        let is_fresh = |at: Instant| now().saturating_duration_since(at) < AGAIN;
        let _turn = match known() {
            State { encoder: Some(encoder), .. } => return Ok(encoder),
            State { failure: Some((problem, at)), .. } if is_fresh(at) => return Err(problem),
            // One tries again; the others do not wait for it.
            State { failure: Some((problem, _)), .. } => match self.loading.try_lock() {
                Ok(turn) => turn,
                Err(_) => return Err(problem),
            },
            State { failure: None, .. } => self.loading.lock().unwrap_or_else(PoisonError::into_inner),
        };
        // Somebody else may have loaded it meanwhile.
        match known() {
            State { encoder: Some(encoder), .. } => return Ok(encoder),
            State { failure: Some((problem, at)), .. } if is_fresh(at) => return Err(problem),
            State { .. } => {}
        }
        let loaded = load();
        match &loaded {
            Ok(encoder) => *self.state() = State { encoder: Some(Arc::clone(encoder)), failure: None },
            Err(problem) => self.failed(problem.clone(), now()),
        }
        loaded
    }

    /// Why it is not tried at this time; none where it is.
    pub(super) fn failing(&self, now: Instant) -> Option<Problem> {
        let state = self.state();
        let failure = state.failure.as_ref().filter(|(_, at)| now.saturating_duration_since(*at) < AGAIN);
        failure.map(|(problem, _)| problem.clone())
    }

    /// It gave no answer.
    pub(super) fn failed(&self, problem: Problem, at: Instant) {
        self.state().failure = Some((problem, at));
    }

    /// It gave an answer.
    pub(super) fn answered(&self) {
        self.state().failure = None;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use pericope_testkit::encoders::BagOfWords;

    use super::*;

    #[test]
    fn what_failed_is_tried_again_later_and_what_is_loaded_stays() {
        let (served, begun) = (Served::default(), Instant::now());
        let refused = || Problem::internal("refused");
        let never = || panic!("it was tried");
        // It fails slowly: the time of the failure counts.
        let time = std::cell::Cell::new(begun);
        let slow = || {
            time.set(begun + AGAIN * 3);
            Err(refused())
        };
        assert!(served.get(|| time.get(), slow).is_err());
        let begun = begun + AGAIN * 3;
        assert!(served.get(|| begun + AGAIN / 2, never).is_err());
        assert_eq!(served.failing(begun + AGAIN / 2), Some(refused()));
        assert_eq!(served.failing(begun + AGAIN * 2), None);
        {
            let _turn = served.loading.lock().unwrap();
            assert!(served.get(|| begun + AGAIN * 2, never).is_err(), "who finds it being loaded does not wait");
        }
        assert!(served.get(|| begun + AGAIN * 2, || Ok(BagOfWords::new())).is_ok());
        assert_eq!(served.failing(begun + AGAIN / 2), None, "what was loaded has not failed");
        // What is loaded stays where it gives no answer.
        served.failed(refused(), begun);
        assert!(served.get(|| begun + AGAIN * 9, never).is_ok() && served.failing(begun).is_some());
        served.answered();
        assert_eq!(served.failing(begun), None);
    }
}
