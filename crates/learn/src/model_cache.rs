//! Models that were loaded once and are used again.

use std::sync::{Arc, Mutex, PoisonError};

/// Models by an id of what they are made from: however many specs name one, it is loaded once.
pub(crate) struct ModelCache<T>(Mutex<Vec<(String, Arc<T>)>>);

impl<T> ModelCache<T> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// The model `id`, which `open` loads where it is not there yet. One that cannot be loaded is tried again.
    pub(crate) fn get<E>(&self, id: &str, open: impl FnOnce() -> Result<T, E>) -> Result<Arc<T>, E> {
        let mut models = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, model)) = models.iter().find(|(known, _)| known == id) {
            return Ok(Arc::clone(model));
        }
        let model = Arc::new(open()?);
        models.push((id.to_owned(), Arc::clone(&model)));
        Ok(model)
    }
}
