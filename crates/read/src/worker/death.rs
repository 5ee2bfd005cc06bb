//! Why a worker ended, in words.

use std::process::ExitStatus;

/// The reason why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Death {
    /// It could not be started.
    NotStarted(String),
    /// It took more memory than it may.
    Memory,
    /// It was ended since it took too long.
    Time,
    /// It ended in another way.
    Crash(String),
}

impl Death {
    /// What the end of the process and its last words say.
    pub fn of(status: Option<ExitStatus>, last_words: &str) -> Self {
        // The words of Rust's standard library.
        if last_words.contains("memory allocation of") {
            return Self::Memory;
        }
        if last_words.contains("overflowed its stack") {
            return Self::Crash("crashed: the parts of the file lie too deep in each other".into());
        }
        Self::Crash(status.map_or_else(|| "crashed".into(), how))
    }
}

#[cfg(unix)]
fn how(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.signal(), status.code()) {
        (Some(9), _) => "was killed".into(),
        (Some(signal), _) => format!("crashed (signal {signal})"),
        (_, code) => format!("ended without an answer (status {})", code.unwrap_or(0)),
    }
}

#[cfg(not(unix))]
fn how(status: ExitStatus) -> String {
    format!("crashed ({status})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_tell_why() {
        assert_eq!(Death::of(None, "memory allocation of 123 bytes failed\n"), Death::Memory);
        let deep =
            "thread 'pericope-pdf' (7) has overflowed its stack\nfatal runtime error: stack overflow, aborting\n";
        assert!(matches!(Death::of(None, deep), Death::Crash(why) if why.contains("too deep")));
        assert_eq!(Death::of(None, ""), Death::Crash("crashed".into()));
    }

    #[cfg(unix)]
    #[test]
    fn signals_are_told_apart() {
        use std::os::unix::process::ExitStatusExt;
        let of = |raw| Death::of(Some(ExitStatus::from_raw(raw)), "");
        assert_eq!(of(9), Death::Crash("was killed".into()));
        assert_eq!(of(11), Death::Crash("crashed (signal 11)".into()));
        assert_eq!(of(3 << 8), Death::Crash("ended without an answer (status 3)".into()));
    }
}
