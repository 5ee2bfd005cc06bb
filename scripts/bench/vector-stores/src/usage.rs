//! What a process used so far.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// A field of `/proc/self/status`, in MB.
fn status(field: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) / 1024
}

/// The most memory that the process had, pages of mapped files included, in MB.
pub fn peak() -> u64 {
    status("VmHWM")
}

/// The memory that is the process's own now, in MB.
pub fn own() -> u64 {
    status("RssAnon")
}

/// The memory that it has now in pages of mapped files, in MB.
pub fn mapped() -> u64 {
    status("RssFile")
}

/// Seconds of processor time so far.
pub fn processor() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

/// Looks at the process's own memory 50 times a second.
pub struct Watch {
    stop: Arc<AtomicBool>,
    highest: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    pub fn start() -> Self {
        let (stop, highest) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (stopped, seen) = (Arc::clone(&stop), Arc::clone(&highest));
        let thread = std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                seen.fetch_max(own(), Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        Self { stop, highest, thread: Some(thread) }
    }

    /// The highest value that was seen, in MB.
    pub fn end(mut self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
        self.highest.load(Ordering::Relaxed).max(own())
    }
}
