use serde_json::Value;

use crate::budget::Spent;
use crate::client::{Answered, Client};
use crate::error::{LlmError, short};
use crate::json::objects;
use crate::request::{Finish, Message, Request, Role};

/// The factor by which an answer may be longer that was cut off.
const LONGER: u32 = 4;

/// An answer that had the shape that was asked for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Checked<T> {
    /// The value that `check` made of it.
    pub(crate) value: T,
    /// True where the model had to be asked a second time.
    pub(crate) repaired: bool,
    /// The tokens and the money of all calls that it took.
    pub(crate) spent: Spent,
}

impl Client {
    /// As [`complete`](Client::complete); an answer that was cut off before it said anything is asked for once more, with
    /// four times the tokens. The calls that it took are in the second part.
    ///
    /// # Errors
    /// As [`complete`](Client::complete).
    pub(crate) fn complete_whole(&self, request: &Request) -> Result<(Answered, Spent), LlmError> {
        self.complete_until(request, |answered| !matches!(answered.text(), Err(LlmError::Empty(_))))
    }

    fn complete_until(
        &self,
        request: &Request,
        enough: impl Fn(&Answered) -> bool,
    ) -> Result<(Answered, Spent), LlmError> {
        let answered = self.complete(request)?;
        let mut spent = answered.spent();
        if answered.reply.finish != Finish::Length || enough(&answered) {
            return Ok((answered, spent));
        }
        let longer = Request { max_tokens: request.max_tokens.saturating_mul(LONGER), ..request.clone() };
        let answered = self.complete(&longer)?;
        spent += answered.spent();
        Ok((answered, spent))
    }

    /// Asks for a JSON object and has it checked. Where none can be found in the answer, or `check` says in words what is
    /// wrong with it, the model is told so and asked once more.
    ///
    /// # Errors
    /// [`LlmError::Invalid`] where the second answer is no better; [`LlmError::Refused`] and [`LlmError::Empty`]; else as
    /// [`complete`](Client::complete).
    pub(crate) fn structured<T>(
        &self,
        request: &Request,
        check: impl Fn(&Value) -> Result<T, String>,
    ) -> Result<Checked<T>, LlmError> {
        let (first, mut spent) = self.complete_until(request, |answered| find(&answered.reply.text, &check).is_ok())?;
        let text = first.text()?;
        let problem = match find(text, &check) {
            Ok(value) => return Ok(Checked { value, repaired: false, spent }),
            Err(problem) => problem,
        };
        let mut again = request.clone();
        if first.reply.finish == Finish::Length {
            again.max_tokens = again.max_tokens.saturating_mul(LONGER);
        }
        again.messages.push(Message::new(Role::Assistant, text));
        again.messages.push(Message::new(
            Role::User,
            format!("That answer cannot be used: {problem}. Answer again, with the JSON object alone."),
        ));
        let (second, more) = self.complete_until(&again, |answered| find(&answered.reply.text, &check).is_ok())?;
        spent += more;
        let text = second.text()?;
        match find(text, &check) {
            Ok(value) => Ok(Checked { value, repaired: true, spent }),
            Err(problem) => Err(LlmError::Invalid { problem, answer: short(text, 200) }),
        }
    }
}

/// Returns the last object of an answer that passes: models that think aloud come to their answer at the end.
fn find<T>(text: &str, check: impl Fn(&Value) -> Result<T, String>) -> Result<T, String> {
    let mut problem = None;
    for object in objects(text).iter().rev() {
        match check(object) {
            Ok(value) => return Ok(value),
            Err(wrong) => {
                problem.get_or_insert(wrong);
            }
        }
    }
    Err(problem.unwrap_or_else(|| "there is no whole JSON object in it".into()))
}
