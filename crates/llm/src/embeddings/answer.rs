use pericope_util::to_length_one;
use serde_json::Value;

use crate::error::LlmError;
use crate::request::Usage;

/// Numbers of a vector, at most.
pub(super) const LONGEST: usize = 1 << 16;

/// Reads `usage`.
pub(super) fn told(body: &Value) -> Option<Usage> {
    let count = |path: &str| body.pointer(path).and_then(Value::as_u64);
    let prompt = count("/usage/total_tokens").or_else(|| count("/usage/prompt_tokens"))?;
    Some(Usage { prompt, ..Usage::default() })
}

/// Returns the vectors of an answer in the order of its `index`, at length 1; one of zeros stays. `dimension` 0: whatever comes.
pub(super) fn rows(body: &Value, count: usize, dimension: usize) -> Result<Vec<Vec<f32>>, LlmError> {
    let invalid = |problem: String| LlmError::Invalid { problem, answer: "an embeddings answer".into() };
    let data = body.get("data").and_then(Value::as_array).ok_or_else(|| invalid("\"data\" is no list".into()))?;
    let mut rows: Vec<Option<Vec<f32>>> = vec![None; count];
    for (at, item) in data.iter().enumerate() {
        let index = item.get("index").and_then(Value::as_u64).map_or(Some(at), |n| usize::try_from(n).ok());
        let numbers = item.get("embedding").and_then(Value::as_array);
        let vector: Option<Vec<f32>> =
            numbers.and_then(|numbers| numbers.iter().map(|n| n.as_f64().map(|n| n as f32)).collect());
        let vector = vector.ok_or_else(|| invalid("an \"embedding\" is no list of numbers".into()))?;
        if vector.is_empty() || vector.len() > LONGEST || (dimension != 0 && vector.len() != dimension) {
            return Err(invalid(format!("a vector has {} numbers, expected {dimension}", vector.len())));
        }
        let slot =
            index.and_then(|index| rows.get_mut(index)).ok_or_else(|| invalid("an \"index\" is too high".into()))?;
        let scaled =
            to_length_one(&vector).ok_or_else(|| invalid("a vector holds a number that is too large".into()))?;
        if slot.replace(vector.into_iter().map(scaled).collect()).is_some() {
            return Err(invalid("an \"index\" is there twice".into()));
        }
    }
    let rows: Option<Vec<Vec<f32>>> = rows.into_iter().collect();
    rows.ok_or_else(|| invalid(format!("{count} vectors expected, {} came", data.len())))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::rows;

    #[test]
    fn answers_are_checked() {
        let one = |index: u64, numbers: &[f64]| json!({"index": index, "embedding": numbers});
        let good = rows(&json!({"data": [one(1, &[0.0, 2.0]), one(0, &[3.0, 4.0])]}), 2, 2).unwrap();
        assert_eq!(good, [[0.6, 0.8], [0.0, 1.0]]);
        let zeros = rows(&json!({"data": [one(0, &[0.0, 0.0]), one(1, &[1e-300, 0.0])]}), 2, 2).unwrap();
        assert_eq!(zeros, [[0.0, 0.0], [0.0, 0.0]]);
        for data in [
            json!([one(0, &[1.0, 0.0])]),
            json!([one(0, &[1.0, 0.0]), one(0, &[1.0, 0.0])]),
            json!([one(0, &[1.0, 0.0]), one(2, &[1.0, 0.0])]),
            json!([one(0, &[1.0, 0.0]), one(1, &[1.0])]),
            json!([one(0, &[1.0, 0.0]), {"index": 1}]),
            json!([one(0, &[1.0, 0.0]), one(1, &[1e300, 0.0])]),
            json!([one(0, &[1.0, 0.0]), {"index": 1, "embedding": [1.0, null]}]),
            json!([one(0, &[1.0, 0.0]), one(1, &[1.0, 0.0]), one(1, &[0.0, 1.0])]),
            json!([one(0, &[1.0, 0.0]), one(u64::MAX, &[1.0, 0.0])]),
            json!("none"),
        ] {
            assert!(rows(&json!({"data": data}), 2, 2).is_err(), "{data}");
        }
    }
}
