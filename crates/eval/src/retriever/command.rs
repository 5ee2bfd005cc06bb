//! A program that answers on its standard output.

use std::time::{Duration, Instant};

use pericope_util::{Program, ProgramError, ProgramLimits};
use serde_json::json;

use super::reply::NoReply;
use super::{MOST, PassageFinder, Query, Reply};
use crate::answer::Missing;

pub(super) struct Asking(Program);

impl Asking {
    pub(super) fn new(words: Vec<String>, timeout: Duration) -> Result<Self, String> {
        let limits =
            ProgramLimits { time: timeout, setting: "timeout_seconds", answer: MOST, ..ProgramLimits::default() };
        Program::new(words, limits).map(Self).map_err(|error| error.to_string())
    }

    /// The answer of the program; what it says that failed is in the answer.
    fn ask(&self, query: &Query<'_>) -> Result<Result<Reply, Missing>, ProgramError> {
        let line = json!({"question": query.question, "k": query.k}).to_string();
        let read = |answer: &str| {
            let start: String = answer.chars().take(80).collect();
            let value = serde_json::from_str(answer).map_err(|error| {
                format!(
                    "its answer is no JSON ({error}): {}; it writes one line for each question, and all else on its standard error",
                    pericope_util::visible_line(&start)
                )
            })?;
            match Reply::read(value) {
                // A program that says that it failed is asked again.
                Err(NoReply::Failed(problem)) => Ok(Err(Missing::Item(format!("the program says: {problem}")))),
                Err(NoReply::Form(problem)) => Err(problem),
                Ok(reply) => Ok(Ok(reply)),
            }
        };
        self.0.ask(&line, read)
    }
}

impl PassageFinder for Asking {
    fn check(&self, query: &Query<'_>) -> Result<(), String> {
        match self.ask(query) {
            Err(error @ (ProgramError::NotStarted { .. } | ProgramError::Ended { .. } | ProgramError::Interrupted)) => {
                Err(error.to_string())
            }
            _ => Ok(()),
        }
    }

    fn find(&self, query: &Query<'_>) -> Result<(Reply, Duration), Missing> {
        let start = Instant::now();
        let reply = self.ask(query).map_err(|error| match error {
            ProgramError::GivenUp { .. } | ProgramError::Interrupted => Missing::Run(error.to_string()),
            other => Missing::Item(other.to_string()),
        })??;
        Ok((reply, start.elapsed()))
    }
}
