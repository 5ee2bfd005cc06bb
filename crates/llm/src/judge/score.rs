use serde_json::Value;

/// Reads score and reason of a judge's object.
pub(super) fn verdict(object: &Value) -> Result<(u8, String), String> {
    let value = object.get("score").ok_or("\"score\" is missing")?;
    let score = match value {
        Value::Number(number) => number.as_f64().and_then(whole),
        Value::String(text) => written(text),
        _ => None,
    };
    // The value itself may be a document's: it is not repeated to the model.
    let score = score.ok_or("\"score\" is not a whole number from 0 to 10")?;
    let reason = object.get("reason").and_then(Value::as_str).ok_or("\"reason\" is missing")?.trim().to_owned();
    Ok((score, reason))
}

/// Returns true where two verdicts say the same: the score counts, not the words.
pub(super) fn same(one: &(u8, String), other: &(u8, String)) -> bool {
    one.0 == other.0
}

/// Reads a whole number, 0 to 10; never rounded, never clamped: a judge that says 11 has not understood, and its 11 is no 10.
fn whole(number: f64) -> Option<u8> {
    (0..=10_u8).find(|score| f64::from(*score) == number)
}

/// Reads "8", "8.0", "8/10", "8 out of 10".
fn written(text: &str) -> Option<u8> {
    let text = text.trim();
    let (score, of) = match text.split_once('/').or_else(|| text.split_once("out of")) {
        Some((score, of)) => (score, Some(of)),
        None => (text, None),
    };
    if of.is_some_and(|of| of.trim() != "10") {
        return None;
    }
    whole(score.trim().parse().ok()?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::verdict;

    #[test]
    fn scores() {
        for (value, expected) in [
            (json!(8), Some(8)),
            (json!(0), Some(0)),
            (json!(10.0), Some(10)),
            (json!("8"), Some(8)),
            (json!(" 8 / 10 "), Some(8)),
            (json!("8 out of 10"), Some(8)),
            (json!("8.0"), Some(8)),
            (json!(11), None),
            (json!(-1), None),
            (json!(7.5), None),
            (json!("11"), None),
            (json!("80/100"), None),
            (json!("eight"), None),
            (json!("NaN"), None),
            (json!(null), None),
            (json!([8]), None),
        ] {
            let found = verdict(&json!({"score": value, "reason": " why "}));
            assert_eq!(found.clone().ok().map(|(score, _)| score), expected, "{value}");
            match found {
                Ok((_, reason)) => assert_eq!(reason, "why"),
                Err(problem) => assert!(problem.contains("\"score\""), "{problem}"),
            }
        }
        assert!(verdict(&json!({"reason": "x"})).is_err_and(|e| e.contains("missing")));
        assert!(verdict(&json!({"score": 8})).is_err_and(|e| e.contains("\"reason\" is missing")));
    }
}
