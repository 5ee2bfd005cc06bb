use std::sync::{Mutex, PoisonError};

/// Buffers of forward passes that nobody uses, for the next ones.
pub(super) struct Spare<T>(Mutex<Vec<T>>);

impl<T> Default for Spare<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Default> Spare<T> {
    /// Buffers that are used already, or new ones.
    pub(super) fn take(&self) -> T {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Keeps buffers for the next one.
    pub(super) fn give(&self, buffers: T) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(buffers);
    }
}
