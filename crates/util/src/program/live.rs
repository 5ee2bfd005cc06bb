//! The programs that run, so that an interrupt ends them.

use std::collections::BTreeSet;
use std::process::Child;
use std::sync::{Mutex, MutexGuard, PoisonError};

static LIVE: Mutex<Live> = Mutex::new(Live { groups: BTreeSet::new(), stopped: false });

/// Process numbers of the programs that run. Each is the first of a process group of its own.
struct Live {
    groups: BTreeSet<u32>,
    stopped: bool,
}

fn live() -> MutexGuard<'static, Live> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends all programs that were started, and lets none start again: for the end of this process.
pub fn stop_programs() {
    let mut live = live();
    live.stopped = true;
    for group in std::mem::take(&mut live.groups) {
        kill_group(group);
    }
}

/// Starts a child, unless this process is being ended.
pub(super) fn start(spawn: impl FnOnce() -> std::io::Result<Child>) -> Option<std::io::Result<Child>> {
    let mut live = live();
    if live.stopped {
        return None;
    }
    let child = spawn();
    if let Ok(child) = &child {
        live.groups.insert(child.id());
    }
    Some(child)
}

/// Ends a child with everything that it started, and waits for it.
pub(super) fn end(child: &mut Child) {
    // Its number is not given to another process before it was waited for.
    let mut live = live();
    if live.groups.remove(&child.id()) {
        kill_group(child.id());
    }
    let _ = child.kill();
    drop(live);
    let _ = child.wait();
}

#[cfg(unix)]
fn kill_group(group: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};
    if let Some(group) = i32::try_from(group).ok().and_then(Pid::from_raw) {
        // One that is gone already is what is wanted.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Elsewhere a process is ended alone, by whoever holds it.
#[cfg(not(unix))]
fn kill_group(_: u32) {}
