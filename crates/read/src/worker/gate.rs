//! Who may work: some at once, or one alone.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Places to work at.
#[derive(Debug)]
pub(super) struct Gate {
    places: usize,
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    taken: usize,
    /// Those who want all places: nobody goes before them.
    waiting: usize,
}

/// Places that were taken, given back when dropped.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    gate: &'a Gate,
    places: usize,
}

impl Gate {
    pub fn new(places: usize) -> Self {
        Self { places: places.max(1), state: Mutex::default(), freed: Condvar::new() }
    }

    pub fn places(&self) -> usize {
        self.places
    }

    /// Waits for one place.
    pub fn one(&self) -> Turn<'_> {
        let mut state = self.lock();
        while state.waiting > 0 || state.taken >= self.places {
            state = self.freed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.taken += 1;
        Turn { gate: self, places: 1 }
    }

    /// Waits until nobody works, and keeps the others out.
    pub fn all(&self) -> Turn<'_> {
        let mut state = self.lock();
        state.waiting += 1;
        while state.taken > 0 {
            state = self.freed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.waiting -= 1;
        state.taken = self.places;
        Turn { gate: self, places: self.places }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.gate.lock().taken -= self.places;
        self.gate.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn who_takes_all_places_is_alone() {
        let gate = Gate::new(3);
        let (inside, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for i in 0..8 {
                let (gate, inside, most) = (&gate, &inside, &most);
                scope.spawn(move || {
                    for round in 0..200 {
                        let alone = (i + round) % 5 == 0;
                        let turn = if alone { gate.all() } else { gate.one() };
                        let now = inside.fetch_add(1, Ordering::SeqCst) + 1;
                        most.fetch_max(now, Ordering::SeqCst);
                        assert!(!alone || now == 1, "{now} are inside");
                        inside.fetch_sub(1, Ordering::SeqCst);
                        drop(turn);
                    }
                });
            }
        });
        assert!(most.load(Ordering::SeqCst) <= 3);
        assert_eq!(gate.lock().taken, 0);
    }
}
