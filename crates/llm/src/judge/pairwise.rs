use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::correctness::LlmJudge;
use super::schema::object;
use crate::error::LlmError;
use crate::fence::Material;
use crate::request::Request;
use crate::spent::Spent;

/// The better one of two answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// The one that was shown first.
    First,
    /// The one that was shown second.
    Second,
    /// Neither.
    Tie,
}

impl Better {
    /// Returns the same of the answers shown the other way round.
    #[must_use]
    pub fn swapped(self) -> Self {
        match self {
            Better::First => Better::Second,
            Better::Second => Better::First,
            Better::Tie => Better::Tie,
        }
    }
}

/// Two answers as a judge compared them in both orders.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The verdict with `a` shown first: `First` is a.
    pub straight: Better,
    /// The verdict with `b` shown first, told the same way: `First` is a.
    pub swapped: Better,
    /// The reason given with `a` shown first.
    pub reason: String,
    /// The tokens and the money that both took.
    pub spent: Spent,
}

impl Comparison {
    /// Returns the verdict of both orders; one that changes with the order is a tie.
    #[must_use]
    pub fn verdict(&self) -> Better {
        if self.straight == self.swapped { self.straight } else { Better::Tie }
    }
}

impl LlmJudge {
    fn pair_request(&self, question: &str, gold: &str, first: &str, second: &str) -> Request {
        let text = Material::Text;
        let answer = |answer| if str::trim(answer).is_empty() { text("(no answer)") } else { text(answer) };
        let values =
            [("question", text(question)), ("gold", text(gold)), ("first", answer(first)), ("second", answer(second))];
        let better = json!({"type": "string", "enum": ["first", "second", "tie"]});
        let schema = object(&[("reason", json!({"type": "string"})), ("better", better)]);
        self.shaped(&self.pairwise, &values, "comparison", schema, 0)
    }

    /// Compares two answers to one question, in both orders (Zheng et al. 2023, "Judging LLM-as-a-Judge with MT-Bench and
    /// Chatbot Arena", section 3.4: judges lean to a position, so both are asked for).
    ///
    /// # Errors
    /// [`LlmError`] where one of the two verdicts could not be had.
    pub fn compare(&self, question: &str, gold: &str, a: &str, b: &str) -> Result<Comparison, LlmError> {
        let same = |one: &(Better, String), other: &(Better, String)| one.0 == other.0;
        let one = self.client.structured(&self.pair_request(question, gold, a, b), verdict, same)?;
        let other = self.client.structured(&self.pair_request(question, gold, b, a), verdict, same)?;
        let mut spent = one.spent;
        spent += other.spent;
        let (straight, reason) = one.value;
        Ok(Comparison { straight, swapped: other.value.0.swapped(), reason, spent })
    }
}

/// Reads the word and the reason of a judge's object.
fn verdict(object: &Value) -> Result<(Better, String), String> {
    let word = object.get("better").and_then(Value::as_str).map(|word| word.trim().to_lowercase());
    let better = match word.as_deref() {
        Some("first") => Better::First,
        Some("second") => Better::Second,
        Some("tie") => Better::Tie,
        _ => return Err("\"better\" is none of \"first\", \"second\" and \"tie\"".to_owned()),
    };
    let reason = object.get("reason").and_then(Value::as_str).ok_or("\"reason\" is missing")?.trim().to_owned();
    Ok((better, reason))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Better, Comparison, Spent, verdict};

    #[test]
    fn words_that_are_a_verdict() {
        let of = |better: serde_json::Value| verdict(&json!({"better": better, "reason": " why "}));
        assert_eq!(of(json!(" First ")), Ok((Better::First, "why".to_owned())));
        assert_eq!(of(json!("tie")).map(|found| found.0), Ok(Better::Tie));
        for wrong in [json!("both"), json!(1), json!(null), json!("first and second")] {
            assert!(of(wrong).is_err_and(|problem| problem.contains("\"better\"")));
        }
        assert!(verdict(&json!({"better": "tie"})).is_err_and(|problem| problem.contains("\"reason\"")));
    }

    #[test]
    fn a_verdict_that_changes_with_the_order_is_a_tie() {
        let of = |straight, swapped: Better| {
            Comparison { straight, swapped, reason: String::new(), spent: Spent::default() }.verdict()
        };
        assert_eq!(of(Better::First, Better::First), Better::First);
        assert_eq!(of(Better::First, Better::First.swapped()), Better::Tie);
        assert_eq!(of(Better::Tie, Better::Second), Better::Tie);
    }
}
