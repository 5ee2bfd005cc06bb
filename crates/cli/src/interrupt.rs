//! Ctrl-C, once: a flag that long commands look at. Twice: the process ends at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::status::Failure;

/// From now on an interrupt (or a request to terminate) sets this flag instead of ending the process; a second one ends
/// it. What is on disk stands any end.
///
/// # Errors
/// Where the system lets nobody handle its signals.
pub fn flag() -> Result<Arc<AtomicBool>, Failure> {
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    if let Some(flag) = FLAG.get() {
        return Ok(Arc::clone(flag));
    }
    let flag = Arc::clone(FLAG.get_or_init(Arc::default));
    let handled = Arc::clone(&flag);
    ctrlc::set_handler(move || {
        if handled.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        anstream::eprintln!("\nstopping: what is complete is being written (once more to end at once)");
    })
    .map_err(Failure::runtime)?;
    Ok(flag)
}
