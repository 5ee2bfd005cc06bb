//! Programs of others that answer a line for each line that they are sent.
//!
//! A [`Program`] is started without a shell, at the first question, and is asked one thing at a time. What it writes on its
//! standard error is handed to the listener of this process ([`on_program_line`]). It ends when it is dropped, and all of them end
//! with [`stop_programs`].

mod error;
mod find;
mod live;
mod notices;
mod output;
mod running;
mod words;

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

pub use error::ProgramError;
pub use find::find_program;
pub use live::stop_programs;
pub use notices::{on_program_line, on_program_start};
pub use words::command_words;

use running::Running;

/// Time beside the limit for the first answer of all: models are loaded then.
const START: Duration = Duration::from_secs(120);
/// Failures one after the other after which a program is not started again.
const IN_A_ROW: u32 = 3;

/// The limits of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProgramLimits {
    /// The time for an answer. Zero: no limit.
    pub time: Duration,
    /// What the first answer of all has beside that. A program that was started again has it no more.
    pub first: Duration,
    /// The setting that says the time, as messages name it.
    pub setting: &'static str,
    /// The most bytes of an answer, which is one line.
    pub answer: u64,
}

impl Default for ProgramLimits {
    /// 60 seconds, two minutes more at first, 64 MiB.
    fn default() -> Self {
        Self { time: Duration::from_secs(60), first: START, setting: "time=SECONDS", answer: 64 << 20 }
    }
}

/// A program that answers a line of UTF-8 for each line that it is sent.
///
/// It is started at the first question and then asked again and again, by any thread, one question at a time. One that
/// ends, takes too long or gives no answer is ended with everything that it started; the next question starts it anew. After three failures one after the
/// other it is not started again.
#[derive(Debug)]
pub struct Program {
    words: Vec<String>,
    limits: ProgramLimits,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    running: Option<Running>,
    /// Whether it was ever started.
    was_started: bool,
    failures: u32,
    /// The last failure, in words.
    last: String,
}

impl Program {
    /// Names a program: its file (or a name that `PATH` finds) and its arguments. Nothing is started yet.
    ///
    /// # Errors
    /// [`ProgramError::Words`] where there is no word at all.
    pub fn new(words: Vec<String>, limits: ProgramLimits) -> Result<Self, ProgramError> {
        if words.first().is_none_or(String::is_empty) {
            return Err(ProgramError::Words("no program is named".into()));
        }
        Ok(Self { words, limits, state: Mutex::default() })
    }

    /// The program and its arguments.
    #[must_use]
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Sends a line and returns what `read` makes of the answer. A line of more than a megabyte has longer, as
    /// [`time_limit`](crate::time_limit) says. An error of `read` says that the answer was none: the program is ended, since nobody knows what
    /// it writes next.
    ///
    /// # Errors
    /// [`ProgramError`].
    pub fn ask<T>(&self, line: &str, read: impl FnOnce(&str) -> Result<T, String>) -> Result<T, ProgramError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.failures >= IN_A_ROW {
            return Err(ProgramError::GivenUp { failures: state.failures, last: state.last.clone() });
        }
        let answer = self.answer(&mut state, line).and_then(|answer| {
            read(&answer).map_err(|problem| ProgramError::NoAnswer { program: self.shown(), problem })
        });
        match &answer {
            Ok(_) => state.failures = 0,
            Err(error) => {
                // Whatever comes next belongs to this question and not to the next one.
                state.running = None;
                state.failures += 1;
                state.last = error.to_string();
            }
        }
        answer
    }

    fn answer(&self, state: &mut State, line: &str) -> Result<String, ProgramError> {
        let mut time = crate::time_limit(self.limits.time, line.len() as u64);
        let running = match &mut state.running {
            Some(running) => running,
            none => {
                if !state.was_started {
                    time = time.map(|time| time.saturating_add(self.limits.first));
                }
                state.was_started = true;
                none.insert(Running::start(&self.words, &self.shown(), self.limits.answer)?)
            }
        };
        running.ask(line, time, &self.shown(), &self.limits)
    }

    /// The program as messages name it.
    fn shown(&self) -> String {
        /// Characters of a command in a message.
        const MOST: usize = 120;
        let whole = self.words.join(" ");
        let short: String = whole.chars().take(MOST).collect();
        let more = if short.len() < whole.len() { " ..." } else { "" };
        format!("{}{more}", crate::visible_line(&short))
    }
}

#[cfg(all(test, unix))]
mod tests;
