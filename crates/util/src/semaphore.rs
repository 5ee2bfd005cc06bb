use std::sync::{Condvar, Mutex, PoisonError};

/// A counting semaphore: so many threads hold a permit at once, however many ask.
#[derive(Debug)]
pub struct Semaphore {
    free: Mutex<usize>,
    returned: Condvar,
}

/// A permit of a [`Semaphore`], given back when dropped.
#[derive(Debug)]
#[must_use]
pub struct Permit<'a>(&'a Semaphore);

impl Semaphore {
    /// Makes a semaphore of `most` permits, at least one.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { free: Mutex::new(most.max(1)), returned: Condvar::new() }
    }

    /// Waits for a permit.
    pub fn acquire(&self) -> Permit<'_> {
        // A number is never half written.
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        while *free == 0 {
            free = self.returned.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
        *free -= 1;
        Permit(self)
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.returned.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::Semaphore;

    #[test]
    fn no_more_than_that_hold_a_permit() {
        let (semaphore, inside, most) = (Semaphore::new(3), AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..12 {
                scope.spawn(|| {
                    let _permit = semaphore.acquire();
                    most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    std::thread::sleep(Duration::from_millis(2));
                    inside.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        assert!((1..=3).contains(&most.into_inner()));
    }
}
