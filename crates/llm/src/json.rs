//! JSON in what a model wrote.

use serde_json::Value;

/// Returns every outermost JSON object in `text`, in order. Prose and code fences around them are passed over, and so are a
/// leading `<think>` block, trailing commas, and line ends inside strings. An object that is cut off is none.
pub(crate) fn objects(text: &str) -> Vec<Value> {
    let mut found = Vec::new();
    let mut rest = strip_reasoning(text);
    while let Some(start) = rest.find('{') {
        let tail = rest.get(start..).unwrap_or_default();
        let parsed = end_of_object(tail)
            .and_then(|end| tail.get(..end).zip(tail.get(end..)))
            .and_then(|(inner, after)| parse(inner).map(|value| (value, after)));
        rest = match parsed {
            Some((value, after)) => {
                found.push(value);
                after
            }
            None => tail.get(1..).unwrap_or_default(),
        };
    }
    found
}

/// Returns what a reasoning model says after its thoughts in `<think>`.
pub(crate) fn strip_reasoning(text: &str) -> &str {
    let trimmed = text.trim();
    if let Some(thought) = trimmed.strip_prefix("<think>") {
        return thought.split_once("</think>").map_or("", |(_, said)| said.trim());
    }
    trimmed
}

/// Returns the byte after the brace that closes the one at the start.
fn end_of_object(text: &str) -> Option<usize> {
    let (mut depth, mut string, mut escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        if string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => string = true,
            b'{' => depth += 1,
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

fn parse(text: &str) -> Option<Value> {
    let value = serde_json::from_str(text).or_else(|_| serde_json::from_str(&mended(text))).ok()?;
    matches!(value, Value::Object(_)).then_some(value)
}

/// Returns a text without commas before a closing bracket, and with control characters in strings escaped.
fn mended(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut string, mut escaped) = (false, false);
    for c in text.chars() {
        if string {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => string = false,
                '\n' => {
                    out.push_str("\\n");
                    continue;
                }
                c if c.is_control() => {
                    out.push(' ');
                    continue;
                }
                _ => {}
            }
        } else {
            match c {
                '"' => string = true,
                '}' | ']' => {
                    let kept = out.trim_end();
                    if let Some(without) = kept.strip_suffix(',') {
                        out.truncate(without.len());
                    }
                }
                _ => {}
            }
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::objects;

    #[test]
    fn what_models_write() {
        for (text, expected) in [
            ("{\"a\": 1}", json!({"a": 1})),
            ("```json\n{\"a\": 1}\n```", json!({"a": 1})),
            ("Sure!\n```json\n{\"score\": \"8/10\", }\n```", json!({"score": "8/10"})),
            ("Here {it} is: {\"a\": {\"b\": \"}{\\\"\"}} Good?", json!({"a": {"b": "}{\""}})),
            ("{\"a\": [1, 2,],\n}", json!({"a": [1, 2]})),
            ("{\"a\": \"two\nlines, }\"}", json!({"a": "two\nlines, }"})),
            ("<think>{\"a\": 0}</think>{\"a\": 1}", json!({"a": 1})),
            ("{ not json } {\"a\": \"é\"}", json!({"a": "é"})),
            ("{\"a\": \"comma,]\"}", json!({"a": "comma,]"})),
        ] {
            assert_eq!(objects(text), [expected], "{text}");
        }
        assert_eq!(objects("{\"a\":1} then {\"a\":2}"), [json!({"a": 1}), json!({"a": 2})]);
        for text in ["", "no", "{\"a\": 1", "[1]", "{a: 1}", "<think>{\"a\":1}", "}{"] {
            assert!(objects(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn braces_that_never_close_are_no_objects() {
        assert!(objects(&"{\"".repeat(2_000)).is_empty());
        assert!(objects(&"{".repeat(2_000)).is_empty());
    }
}
