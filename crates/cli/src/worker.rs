//! The command as its own worker, for files that may break whoever reads them.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use pericope_read::{WorkerLimits, WorkerPool};

/// The first argument of a worker. Nobody types it, so it is in no help.
pub const FLAG: &str = "--read-worker";

/// Starts the command where it is no program of its own.
static STARTED_BY: OnceLock<fn() -> Command> = OnceLock::new();

/// Says how the command is started in a process of its own, where this program is another one that carries it. The first call
/// counts.
pub fn started_by(start: fn() -> Command) {
    STARTED_BY.get_or_init(|| start);
}

/// The limits of reading files.
#[derive(Debug, Clone, Copy)]
pub struct ReadLimits {
    /// The time that a document may take, and as long again for each megabyte of it; zero: no limit.
    pub time: Duration,
    /// Bytes of memory for all workers together.
    pub memory: u64,
}

/// Workers of this command.
pub fn pool(limits: ReadLimits) -> WorkerPool {
    let limits = WorkerLimits { memory: limits.memory, time: limits.time, ..WorkerLimits::default() };
    WorkerPool::new(
        || {
            let mut command = STARTED_BY.get().map_or_else(|| Command::new(this_program()), |start| start());
            command.arg(FLAG);
            command
        },
        limits,
    )
}

/// The file of this program. On Linux it is found even where an update has replaced it since.
fn this_program() -> PathBuf {
    let running = PathBuf::from("/proc/self/exe");
    if cfg!(target_os = "linux") && running.exists() {
        return running;
    }
    std::env::current_exe().unwrap_or_else(|_| "pericope".into())
}
