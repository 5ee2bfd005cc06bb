//! What servers say that they used: not always true, and not always whole.

use serde_json::{Deserializer, Value, json};

use crate::request::Usage;

/// Tokens that a service may add to a prompt: instructions of its own, tools, templates.
const ADDED: u64 = 100_000;
/// Tokens that a model may write beyond what it was allowed: thoughts that a service counts elsewhere.
const THOUGHTS: u64 = 1_000_000;

/// Returns true where a request of `sent` bytes that allows `completion` tokens may have used so much. No token of a prompt
/// is shorter than a byte.
pub(super) fn plausible(usage: Usage, sent: usize, completion: u64) -> bool {
    usage.prompt <= ADDED.saturating_add(sent as u64)
        && usage.completion <= completion.saturating_add(THOUGHTS)
        && usage.cached <= usage.prompt
}

/// Returns the `usage` of an answer that is not whole, as an answer that holds nothing else.
pub(super) fn told_in_part(text: &str) -> Option<Value> {
    const NAME: &str = "\"usage\"";
    let at = text.rfind(NAME)?;
    // In the text of the answer itself it would be escaped.
    if text.get(..at)?.ends_with('\\') {
        return None;
    }
    let value = text.get(at + NAME.len()..)?.trim_start().strip_prefix(':')?;
    let usage: Value = Deserializer::from_str(value).into_iter().next()?.ok()?;
    usage.is_object().then(|| json!({"usage": usage}))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_can_be() {
        let of = |prompt, completion, cached| Usage { prompt, completion, cached, estimated: false };
        for (usage, can) in [
            (of(120, 50, 0), true),
            (of(20_000, 900_000, 20_000), true),
            (of(u64::MAX, 5, 0), false),
            (of(5, u64::MAX, 0), false),
            (of(5, 5, 6), false),
        ] {
            assert_eq!(plausible(usage, 400, 50), can, "{usage:?}");
        }
    }

    #[test]
    fn usage_of_a_body_that_breaks_off() {
        let told = json!({"usage": {"prompt_tokens": 3, "completion_tokens": 4}});
        let whole = r#"{"usage": {"prompt_tokens": 3, "completion_tokens": 4}, "choices": [{"message"#;
        assert_eq!(told_in_part(whole), Some(told));
        for text in
            ["", r#"{"usage": {"prompt_tok"#, r#"{"content": "say \"usage\": {}""#, r#"{"usage": 7, "#, r#""usage" 7"#]
        {
            assert_eq!(told_in_part(text), None, "{text}");
        }
    }
}
