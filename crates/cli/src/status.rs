//! How a command ends.

use std::fmt;

/// A command that came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Everything was done.
    Done,
    /// Done, but a check did not hold or input was left out.
    Incomplete,
    /// Ended early by Ctrl-C (or its like), with everything in order: the same command goes on.
    Interrupted,
}

/// A command that could not be carried out.
#[derive(Debug)]
pub enum Failure {
    /// Wrong usage or configuration: the user can mend it before anything runs.
    Usage(anyhow::Error),
    /// It failed while running.
    Runtime(anyhow::Error),
}

/// What a command returns.
pub type Outcome = Result<Status, Failure>;

impl Failure {
    /// Wrong usage, in one sentence.
    pub fn usage(message: impl fmt::Display) -> Self {
        Failure::Usage(anyhow::anyhow!("{message}"))
    }

    /// A failure while running, in one sentence.
    pub fn runtime(message: impl fmt::Display) -> Self {
        Failure::Runtime(anyhow::anyhow!("{message}"))
    }

    /// Wrong usage, where `is_usage`, or else a failure while running.
    pub fn of(is_usage: bool, message: impl fmt::Display) -> Self {
        if is_usage { Self::usage(message) } else { Self::runtime(message) }
    }

    /// The same, with the flag or the key that it is about.
    pub fn about(self, what: &str) -> Self {
        match self {
            Failure::Usage(error) => Failure::Usage(error.context(what.to_owned())),
            Failure::Runtime(error) => Failure::Runtime(error.context(what.to_owned())),
        }
    }

    /// The process's exit status.
    pub fn code(&self) -> u8 {
        match self {
            Failure::Usage(_) => 2,
            Failure::Runtime(_) => 3,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Usage(error) | Failure::Runtime(error) => write!(f, "{error:#}"),
        }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Failure::Runtime(error)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Failure::Runtime(error.into())
    }
}

impl Status {
    /// The process's exit status.
    pub fn code(self) -> u8 {
        match self {
            Status::Done => 0,
            Status::Incomplete => 1,
            // What shells report of a process that SIGINT ended.
            Status::Interrupted => 130,
        }
    }
}
