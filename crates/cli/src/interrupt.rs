//! Ctrl-C, once: a flag that long commands look at. Twice: the process ends at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once, OnceLock};

use crate::status::Failure;

/// Set where a command goes on after an interrupt.
static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// From now on an interrupt (or a request to terminate, or the end of the terminal) sets this flag instead of ending the
/// process; a second one ends it. What is on disk stands any end.
///
/// # Errors
/// Where the system lets nobody handle its signals.
pub fn flag() -> Result<Arc<AtomicBool>, Failure> {
    flag_while("what is complete is being written")
}

/// As [`flag`]; `stopping` says what the command does before it ends.
///
/// # Errors
/// As [`flag`].
pub fn flag_while(stopping: &'static str) -> Result<Arc<AtomicBool>, Failure> {
    if let Some(flag) = FLAG.get() {
        return Ok(Arc::clone(flag));
    }
    let flag = Arc::clone(FLAG.get_or_init(Arc::default));
    let handled = Arc::clone(&flag);
    on_signal(move || {
        if handled.swap(true, Ordering::Relaxed) {
            pericope_util::stop_programs();
            std::process::exit(130);
        }
        tell!("\nstopping: {stopping} (once more to end at once)");
    })?;
    Ok(flag)
}

/// From now on an interrupt ends the programs that this command has started, which run in process groups of their own and
/// hear nothing of it. Commands that go on after an interrupt see to it themselves.
pub fn end_programs() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // Where nobody may handle signals, programs end when they read the end of their input.
        let _ = on_signal(|| {
            if FLAG.get().is_none() {
                pericope_util::stop_programs();
                std::process::exit(130);
            }
        });
    });
}

#[cfg(unix)]
fn on_signal(act: impl Fn() + Send + 'static) -> Result<(), Failure> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut heard = vec![SIGINT, SIGTERM];
    if !hangup_is_ignored() {
        heard.push(SIGHUP);
    }
    let mut signals = signal_hook::iterator::Signals::new(heard).map_err(Failure::runtime)?;
    std::thread::spawn(move || signals.forever().for_each(|_| act()));
    Ok(())
}

/// True where this process was told to outlive its terminal (`nohup`): that stays so. Without /proc nobody can tell, and
/// the signal is left alone.
#[cfg(unix)]
fn hangup_is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // A bit a signal; the lowest is the first, which is this one.
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_none_or(|mask| mask & 1 == 1)
}

#[cfg(not(unix))]
fn on_signal(act: impl Fn() + Send + 'static) -> Result<(), Failure> {
    ctrlc::set_handler(act).map_err(Failure::runtime)
}
