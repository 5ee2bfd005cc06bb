//! Work that blocks: so much at once, so much waiting, and no more.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A lane of work: requests of the same weight.
#[derive(Clone)]
pub(super) struct Lane {
    places: Arc<Semaphore>,
    waiting: Arc<AtomicUsize>,
    queue: usize,
}

/// All places and the queue are taken.
#[derive(Debug)]
pub(super) struct Full;

struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Lane {
    pub(super) fn new(places: usize, queue: usize) -> Self {
        Self { places: Arc::new(Semaphore::new(places.max(1))), waiting: Arc::default(), queue }
    }

    /// A place, which is free again when it is dropped; at once where one is free, else in the order of asking.
    pub(super) async fn enter(&self) -> Result<OwnedSemaphorePermit, Full> {
        if let Ok(place) = Arc::clone(&self.places).try_acquire_owned() {
            return Ok(place);
        }
        let before = self.waiting.fetch_add(1, Ordering::AcqRel);
        let _waiting = Waiting(&self.waiting);
        if before >= self.queue {
            return Err(Full);
        }
        // The semaphore is never closed.
        Arc::clone(&self.places).acquire_owned().await.map_err(|_| Full)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[tokio::test]
    async fn one_more_than_fits_is_refused_at_once() {
        let lane = Lane::new(1, 1);
        let first = lane.enter().await.unwrap();
        let waits = tokio::spawn({
            let lane = lane.clone();
            async move { lane.enter().await.is_ok() }
        });
        while lane.waiting.load(Ordering::Acquire) == 0 {
            tokio::task::yield_now().await;
        }
        assert!(lane.enter().await.is_err());
        drop(first);
        assert!(waits.await.unwrap());
        assert!(lane.enter().await.is_ok());
        assert_eq!(lane.waiting.load(Ordering::Acquire), 0);
    }
}
