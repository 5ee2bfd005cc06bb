use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::correctness::LlmJudge;
use super::schema::object;
use crate::error::LlmError;
use crate::fence::Material;
use crate::request::Request;
use crate::spent::Spent;

/// One statement of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statement {
    /// The statement, in the words of the judge.
    #[serde(rename = "claim")]
    pub text: String,
    /// True where the context says so.
    pub supported: bool,
}

/// The faithfulness of an answer: whether it says only what its context says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Faithfulness {
    /// The statements of the answer.
    #[serde(rename = "claims")]
    pub statements: Vec<Statement>,
    /// The share of statements that are supported, 0 to 1; `None` where the answer states nothing.
    pub share: Option<f64>,
    /// The tokens and the money that it took.
    pub spent: Spent,
}

/// The relevance of excerpts: which of them help to answer a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Relevance {
    /// True for each excerpt that helps, in order.
    pub relevant: Vec<bool>,
    /// The share of excerpts that help, 0 to 1; `None` without excerpts.
    pub share: Option<f64>,
    /// The tokens and the money that it took.
    pub spent: Spent,
}

impl LlmJudge {
    fn faithfulness_request(&self, answer: &str, chunks: &[&str]) -> Request {
        let claim = object(&[("claim", json!({"type": "string"})), ("supported", json!({"type": "boolean"}))]);
        let schema = object(&[("claims", json!({"type": "array", "items": claim}))]);
        let values = [("context", Material::Excerpts(chunks)), ("answer", Material::Text(answer))];
        self.shaped(&self.faithfulness, &values, "claims", schema, 0)
    }

    /// Takes an answer apart into statements, and looks for each in the excerpts that the answer was made from.
    ///
    /// # Errors
    /// [`LlmError`].
    pub fn faithfulness(&self, answer: &str, chunks: &[&str]) -> Result<Faithfulness, LlmError> {
        let checked = self.client.structured(&self.faithfulness_request(answer, chunks), statements, PartialEq::eq)?;
        let share = share(checked.value.iter().map(|statement| statement.supported));
        Ok(Faithfulness { statements: checked.value, share, spent: checked.spent })
    }

    fn relevance_request(&self, question: &str, chunks: &[&str]) -> Request {
        let one = object(&[("number", json!({"type": "integer"})), ("relevant", json!({"type": "boolean"}))]);
        let schema = object(&[("excerpts", json!({"type": "array", "items": one}))]);
        let values = [("question", Material::Text(question)), ("context", Material::Excerpts(chunks))];
        self.shaped(&self.relevance, &values, "excerpts", schema, 0)
    }

    /// Says of each excerpt whether it helps to answer the question. Without excerpts, nothing is asked.
    ///
    /// # Errors
    /// [`LlmError`].
    pub fn relevance(&self, question: &str, chunks: &[&str]) -> Result<Relevance, LlmError> {
        if chunks.is_empty() {
            return Ok(Relevance { relevant: Vec::new(), share: None, spent: Spent::default() });
        }
        let request = self.relevance_request(question, chunks);
        let checked = self.client.structured(&request, |object| excerpts(object, chunks.len()), PartialEq::eq)?;
        let share = share(checked.value.iter().copied());
        Ok(Relevance { relevant: checked.value, share, spent: checked.spent })
    }
}

fn share(flags: impl Iterator<Item = bool>) -> Option<f64> {
    let (yes, all) = flags.fold((0_usize, 0_usize), |(yes, all), flag| (yes + usize::from(flag), all + 1));
    (all > 0).then(|| yes as f64 / all as f64)
}

/// Reads true, false, or what models write for them.
fn flag(value: Option<&Value>) -> Option<bool> {
    match value? {
        Value::Bool(flag) => Some(*flag),
        Value::String(text) => match text.trim().to_lowercase().as_str() {
            "true" | "yes" => Some(true),
            "false" | "no" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

fn statements(object: &Value) -> Result<Vec<Statement>, String> {
    let list = object.get("claims").and_then(Value::as_array).ok_or("\"claims\" is no list")?;
    list.iter()
        .map(|item| {
            let text = item.get("claim").and_then(Value::as_str).ok_or("a \"claim\" is no text")?.trim().to_owned();
            let supported = flag(item.get("supported")).ok_or("a \"supported\" is neither true nor false")?;
            Ok(Statement { text, supported })
        })
        .collect()
}

fn excerpts(object: &Value, count: usize) -> Result<Vec<bool>, String> {
    let list = object.get("excerpts").and_then(Value::as_array).ok_or("\"excerpts\" is no list")?;
    let mut found: Vec<Option<bool>> = vec![None; count];
    for item in list {
        let number = item.get("number").and_then(Value::as_u64).ok_or("a \"number\" is no number")?;
        let at = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        let slot = at.and_then(|at| found.get_mut(at)).ok_or_else(|| format!("there is no excerpt {number}"))?;
        let relevant = flag(item.get("relevant")).ok_or("a \"relevant\" is neither true nor false")?;
        if slot.replace(relevant).is_some() {
            return Err(format!("excerpt {number} is there twice"));
        }
    }
    let missing = |at: usize| format!("excerpt {} is missing", at + 1);
    found.into_iter().enumerate().map(|(at, flag)| flag.ok_or_else(|| missing(at))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_excerpt_once() {
        let of = |numbers: &[(u64, bool)]| {
            let list: Vec<Value> = numbers.iter().map(|(n, r)| json!({"number": n, "relevant": r})).collect();
            excerpts(&json!({"excerpts": list}), 2)
        };
        assert_eq!(of(&[(2, true), (1, false)]), Ok(vec![false, true]));
        assert!(of(&[(1, true)]).is_err_and(|e| e.contains("2 is missing")));
        assert!(of(&[(1, true), (1, true)]).is_err_and(|e| e.contains("twice")));
        assert!(of(&[(0, true)]).is_err() && of(&[(3, true)]).is_err());
        assert_eq!(share([true, false].into_iter()), Some(0.5));
        assert_eq!(share(std::iter::empty()), None);
    }

    #[test]
    fn statements_in_what_models_write() {
        let found =
            statements(&json!({"claims": [{"claim": " a ", "supported": "Yes"}, {"claim": "b", "supported": false}]}));
        assert_eq!(
            found.map(|all| all.iter().map(|s| (s.text.clone(), s.supported)).collect::<Vec<_>>()),
            Ok(vec![("a".into(), true), ("b".into(), false)])
        );
        assert!(statements(&json!({"claims": [{"claim": "a", "supported": "perhaps"}]})).is_err());
        assert!(statements(&json!({"claims": "none"})).is_err());
    }
}
