//! Who hears of programs. Like a logger there is one listener a process.

use std::sync::{OnceLock, PoisonError, RwLock};

type Listener = Box<dyn Fn(&str) + Send + Sync>;

static LISTENER: RwLock<Option<Listener>> = RwLock::new(None);
static BEFORE: OnceLock<fn()> = OnceLock::new();

/// Hands `listener` from now on each line that a program writes on its standard error, with the program's name before it
/// and no character that steers a terminal. Without a listener nothing is said.
pub fn on_program_line(listener: impl Fn(&str) + Send + Sync + 'static) {
    *LISTENER.write().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(listener));
}

/// Calls `prepare` before each start of a program; the first call of this function counts. A command that handles signals itself
/// does so from then on, and calls [`stop_programs`](super::stop_programs) when it is interrupted.
pub fn on_program_start(prepare: fn()) {
    BEFORE.get_or_init(|| prepare);
}

pub(super) fn prepare() {
    if let Some(prepare) = BEFORE.get() {
        prepare();
    }
}

pub(super) fn tell(line: &str) {
    if let Some(listener) = LISTENER.read().unwrap_or_else(PoisonError::into_inner).as_ref() {
        listener(line);
    }
}
