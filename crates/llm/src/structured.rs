use pericope_util::short_line;
use serde_json::Value;

use crate::client::{Answered, Client};
use crate::error::LlmError;
use crate::json::objects;
use crate::request::{Finish, Message, Request, Role};
use crate::spent::Spent;

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

    /// Asks for a JSON object and has it checked. Where none can be found in the answer, `check` says in words what is wrong
    /// with it, or there are two that are not the `same`, the model is told so and asked once more.
    ///
    /// # Errors
    /// [`LlmError::Invalid`] where the second answer is no better; [`LlmError::Refused`] and [`LlmError::Empty`]; else as
    /// [`complete`](Client::complete).
    pub(crate) fn structured<T>(
        &self,
        request: &Request,
        check: impl Fn(&Value) -> Result<T, String>,
        same: impl Fn(&T, &T) -> bool,
    ) -> Result<Checked<T>, LlmError> {
        let find = |text: &str| find(text, &check, &same);
        let (first, mut spent) = self.complete_until(request, |answered| find(&answered.reply.text).is_ok())?;
        let text = first.text()?;
        let problem = match find(text) {
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
        let (second, more) = self.complete_until(&again, |answered| find(&answered.reply.text).is_ok())?;
        spent += more;
        let text = second.text()?;
        match find(text) {
            Ok(value) => Ok(Checked { value, repaired: true, spent }),
            Err(problem) => Err(LlmError::Invalid { problem, answer: short_line(text, 200) }),
        }
    }
}

/// Returns the first object of an answer that passes. A second one that says something else makes it none: one of them may
/// be a document's, which the model has repeated.
fn find<T>(
    text: &str,
    check: impl Fn(&Value) -> Result<T, String>,
    same: impl Fn(&T, &T) -> bool,
) -> Result<T, String> {
    let mut found: Option<T> = None;
    let mut problem = None;
    for object in objects(text) {
        match (check(&object), &found) {
            (Ok(value), None) => found = Some(value),
            (Ok(value), Some(first)) if !same(first, &value) => {
                return Err("it holds two JSON objects that say different things".into());
            }
            (Ok(_), Some(_)) => {}
            (Err(wrong), _) => drop(problem.get_or_insert(wrong)),
        }
    }
    found.ok_or_else(|| problem.unwrap_or_else(|| "there is no whole JSON object in it".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_object_counts_and_another_one_must_not_differ() {
        let of = |text: &str| {
            let check =
                |object: &Value| object.get("n").and_then(Value::as_u64).ok_or_else(|| "\"n\" is missing".to_owned());
            find(text, check, PartialEq::eq)
        };
        assert_eq!(of(r#"{"n": 1}"#), Ok(1));
        assert_eq!(of(r#"{"x": 5} so {"n": 1} and again {"n": 1}"#), Ok(1));
        assert!(of(r#"{"n": 1} or {"n": 2}"#).is_err_and(|e| e.contains("different things")));
        assert!(of(r#"{"n": 1, "n": 2}"#).is_err());
        assert!(of(r#"{"x": 1}"#).is_err_and(|e| e.contains("missing")));
        assert!(of("none").is_err_and(|e| e.contains("no whole JSON object")));
    }
}
