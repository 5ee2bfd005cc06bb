//! Faults at system calls: a command runs under `ptrace`, and the n-th call that concerns a folder fails, or the command is
//! killed there.
//!
//! What a disk does to a program reaches it through system calls, and only there are SQLite, tantivy and our own code
//! alike. Nothing in the program is changed for it, and nothing in it can be forgotten: [`trace`] lists every call on the
//! folder that could fail, and a test makes each of them fail once.
//!
//! Linux on x86-64 alone; elsewhere the tests say `SKIPPED`.

mod calls;
mod memory;
mod tracer;

use std::path::{Path, PathBuf};

pub use calls::{Call, masked};
pub use nix::errno::Errno;
pub use tracer::trace;

/// A command to run under faults.
#[derive(Debug, Clone)]
pub struct Program {
    /// The file.
    pub file: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The folder that it runs in.
    pub folder: PathBuf,
    /// Environment variables that are set beside those of the test.
    pub environment: Vec<(String, String)>,
}

impl Program {
    /// Returns a command without arguments.
    #[must_use]
    pub fn new(file: impl Into<PathBuf>, folder: &Path) -> Self {
        Self { file: file.into(), arguments: Vec::new(), folder: folder.to_owned(), environment: Vec::new() }
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<S: Into<String>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.environment.push((name.to_owned(), value.into()));
        self
    }
}

/// What happens at a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It is not made, and the program is told this error.
    Fails(Errno),
    /// It is not made, and the process is killed (SIGKILL).
    Killed,
}

/// What is watched and what is done.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// Calls count that concern what is here or below. Empty: none counts.
    pub watched: PathBuf,
    /// The number of the call, from 0, and what happens there; nothing happens without.
    pub fault: Option<(usize, Fault)>,
    /// Seconds that are added to the clock that the program sees.
    pub clock: i64,
}

impl Plan {
    /// Returns the plan that only watches.
    #[must_use]
    pub fn watch(folder: &Path) -> Self {
        Self { watched: folder.to_owned(), ..Self::default() }
    }

    /// Adds a fault at call `nth`, from 0.
    #[must_use]
    pub fn at(mut self, nth: usize, fault: Fault) -> Self {
        self.fault = Some((nth, fault));
        self
    }
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// With this status.
    Status(i32),
    /// By this signal.
    Signal(i32),
}

/// What a traced run did.
#[derive(Debug, Clone)]
pub struct Traced {
    /// The calls that concern the watched folder, in order.
    pub calls: Vec<Call>,
    /// The call at which the fault happened; none where the run ended before.
    pub hit: Option<Call>,
    /// The end.
    pub ended: Ended,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// Returns whether this machine lets a test trace a command: the kernel, or a container, may forbid it.
#[must_use]
pub fn can_trace() -> bool {
    let folder = std::env::temp_dir();
    trace(&Program::new("/bin/true", &folder), &Plan::default()).is_ok_and(|traced| traced.ended == Ended::Status(0))
}
