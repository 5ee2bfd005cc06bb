//! What a library has to say while a call waits. Like a logger there is one listener a process.

use std::sync::{PoisonError, RwLock};

type Listener = Box<dyn Fn(&str) + Send + Sync>;

static LISTENER: RwLock<Option<Listener>> = RwLock::new(None);

/// Tells `listener` from now on what holds calls up, a line each time: a server that asks to wait, for example. Without a
/// listener nothing is said.
pub fn on_notice(listener: impl Fn(&str) + Send + Sync + 'static) {
    *LISTENER.write().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(listener));
}

/// Tells the listener.
pub(crate) fn tell(notice: &str) {
    if let Some(listener) = LISTENER.read().unwrap_or_else(PoisonError::into_inner).as_ref() {
        listener(notice);
    }
}
