use std::collections::HashSet;
use std::sync::{Condvar, Mutex, PoisonError};

use super::key::CacheKey;

/// The keys that are being asked for in this process.
#[derive(Debug, Default)]
pub(super) struct SingleFlight {
    in_flight: Mutex<HashSet<CacheKey>>,
    ended: Condvar,
}

impl SingleFlight {
    /// Waits until no other thread holds `key`, then takes it.
    pub(super) fn begin(&self, key: &CacheKey) -> SingleFlightGuard<'_> {
        let mut in_flight = self.in_flight.lock().unwrap_or_else(PoisonError::into_inner);
        while !in_flight.insert(key.clone()) {
            in_flight = self.ended.wait(in_flight).unwrap_or_else(PoisonError::into_inner);
        }
        SingleFlightGuard { flight: self, key: key.clone() }
    }
}

/// The right to ask for an answer; given back when dropped.
pub(crate) struct SingleFlightGuard<'a> {
    flight: &'a SingleFlight,
    key: CacheKey,
}

impl Drop for SingleFlightGuard<'_> {
    fn drop(&mut self) {
        self.flight.in_flight.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
        self.flight.ended.notify_all();
    }
}
