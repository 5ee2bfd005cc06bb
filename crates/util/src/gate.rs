use std::sync::{Condvar, Mutex, PoisonError};

/// Lets so many threads in at once, however many ask.
#[derive(Debug)]
pub struct Gate {
    free: Mutex<usize>,
    left: Condvar,
}

/// Somebody inside a [`Gate`]; leaves when dropped.
#[derive(Debug)]
#[must_use]
pub struct Inside<'a>(&'a Gate);

impl Gate {
    /// Makes a gate for `most`, at least one.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { free: Mutex::new(most.max(1)), left: Condvar::new() }
    }

    /// Waits until there is room.
    pub fn enter(&self) -> Inside<'_> {
        // A number is never half written.
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        while *free == 0 {
            free = self.left.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
        *free -= 1;
        Inside(self)
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.left.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::Gate;

    #[test]
    fn no_more_than_that_are_inside() {
        let (gate, inside, most) = (Gate::new(3), AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..12 {
                scope.spawn(|| {
                    let _inside = gate.enter();
                    most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    std::thread::sleep(Duration::from_millis(2));
                    inside.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        assert!((1..=3).contains(&most.into_inner()));
    }
}
