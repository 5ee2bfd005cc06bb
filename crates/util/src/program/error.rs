use std::fmt;

/// Why a program gave no answer. Each message is one line.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProgramError {
    /// The command is no list of words.
    Words(String),
    /// It cannot be started.
    NotStarted {
        /// The command.
        program: String,
        /// What the system said.
        reason: String,
    },
    /// It ended before it answered.
    Ended {
        /// The command.
        program: String,
        /// How it ended: a status or a signal.
        how: String,
        /// The last line on its standard error; empty where there was none.
        last: String,
    },
    /// It did not answer in time.
    TimedOut {
        /// The command.
        program: String,
        /// The limit in seconds.
        seconds: u64,
        /// The setting that says the limit.
        setting: &'static str,
    },
    /// What it wrote is no answer.
    NoAnswer {
        /// The command.
        program: String,
        /// What is wrong.
        problem: String,
    },
    /// It failed too often to be started again.
    GivenUp {
        /// Failures one after the other.
        failures: u32,
        /// The last of them.
        last: String,
    },
    /// The command that asks is being interrupted.
    Interrupted,
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words(problem) => f.write_str(problem),
            Self::NotStarted { program, reason } => write!(f, "`{program}` cannot be started: {reason}"),
            Self::Ended { program, how, last } if last.is_empty() => {
                write!(f, "`{program}` ended before it answered ({how}); it wrote nothing on its standard error")
            }
            Self::Ended { program, how, last } => {
                write!(f, "`{program}` ended before it answered ({how}); its last line on standard error: {last}")
            }
            Self::TimedOut { program, seconds, setting } => write!(
                f,
                "`{program}` did not answer within {seconds} s and was ended (does it write each answer out at once? the \
                 setting {setting} gives it longer)"
            ),
            Self::NoAnswer { program, problem } => write!(f, "`{program}`: {problem}"),
            Self::GivenUp { failures, last } => {
                write!(
                    f,
                    "the program failed {failures} times in a row and is not started again; the last time: {last}"
                )
            }
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for ProgramError {}
