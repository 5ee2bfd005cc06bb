use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::error::LlmError;

/// The results of many items.
#[derive(Debug)]
pub struct BatchResult<R> {
    /// One result an item, in their order; `None`: not begun, because the run stopped before.
    pub results: Vec<Option<Result<R, LlmError>>>,
    /// The error that stopped the run before its end.
    pub stopped: Option<LlmError>,
}

/// Does `work` for every item, `workers` at a time (at least one), in order of their beginning. An error that would hit
/// every item ([`LlmError::aborts_run`]) stops the run: what is under way is finished, and nothing new is begun.
pub fn map_concurrent<T: Sync, R: Send>(
    workers: usize,
    items: &[T],
    work: impl Fn(usize, &T) -> Result<R, LlmError> + Sync,
) -> BatchResult<R> {
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let stopped: Mutex<Option<LlmError>> = Mutex::new(None);
    let one_worker = || {
        let mut done = Vec::new();
        while !stop.load(Ordering::Acquire) {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { break };
            match work(at, item) {
                Err(error) if error.aborts_run() => {
                    stop.store(true, Ordering::Release);
                    stopped.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                }
                result => done.push((at, result)),
            }
        }
        done
    };
    let mut results: Vec<Option<Result<R, LlmError>>> = items.iter().map(|_| None).collect();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers.clamp(1, items.len().max(1))).map(|_| scope.spawn(one_worker)).collect();
        for thread in threads {
            match thread.join() {
                Ok(done) => {
                    for (at, result) in done {
                        if let Some(slot) = results.get_mut(at) {
                            *slot = Some(result);
                        }
                    }
                }
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    BatchResult { results, stopped: stopped.into_inner().unwrap_or_else(PoisonError::into_inner) }
}

#[cfg(test)]
mod tests {
    use super::map_concurrent;
    use crate::error::LlmError;

    #[test]
    fn failures_stay_with_their_item_and_aborts_stop_all() {
        let items: Vec<u32> = (0..100).collect();
        let all = map_concurrent(7, &items, |_, n| if n % 10 == 3 { Err(LlmError::NotCached) } else { Ok(n * 2) });
        assert!(all.stopped.is_none());
        for (n, result) in items.iter().zip(&all.results) {
            match result {
                Some(Ok(double)) => assert!(*double == n * 2 && n % 10 != 3),
                Some(Err(LlmError::NotCached)) => assert_eq!(n % 10, 3),
                other => panic!("{n}: {other:?}"),
            }
        }
        let some = map_concurrent(1, &items, |_, n| if *n == 5 { Err(LlmError::Config("x".into())) } else { Ok(()) });
        assert!(matches!(some.stopped, Some(LlmError::Config(_))));
        assert_eq!(some.results.iter().filter(|r| r.is_some()).count(), 5);
        assert!(map_concurrent(3, &[], |_, _: &u32| Ok(())).results.is_empty());
    }
}
