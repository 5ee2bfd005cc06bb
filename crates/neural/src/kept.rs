//! Models that were loaded once and are used again.

use std::sync::{Arc, Mutex, PoisonError};

/// Models by the names that specs give them: the same name gives the same model, loaded once.
pub(crate) struct Kept<T>(Mutex<Vec<(String, Arc<T>)>>);

impl<T> Kept<T> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// The model `name`, which `open` loads where it is not there yet. One that cannot be loaded is tried again.
    pub(crate) fn get(&self, name: &str, open: impl FnOnce(&str) -> Result<T, String>) -> Result<Arc<T>, String> {
        let mut models = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, model)) = models.iter().find(|(known, _)| known == name) {
            return Ok(Arc::clone(model));
        }
        let model = Arc::new(open(name)?);
        models.push((name.to_owned(), Arc::clone(&model)));
        Ok(model)
    }
}
