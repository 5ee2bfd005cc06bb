//! JSON in what a model wrote.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// All attempts to read objects together look at so many bytes a byte of text, at most, and these.
const ATTEMPTS: usize = 8;
const SOME: usize = 4096;

/// Returns every outermost JSON object in `text`, in order. Prose and code fences around them are passed over, and so are a
/// leading `<think>` block, trailing commas, and line ends inside strings. An object that is cut off is none, and neither
/// is one that names a key twice. Time is linear in the text.
pub(crate) fn objects(text: &str) -> Vec<Value> {
    counted(text).0
}

/// Returns the objects, and the number of bytes that were looked at.
fn counted(text: &str) -> (Vec<Value>, usize) {
    let text = strip_reasoning(text);
    let mut looked_at = text.len();
    let mut left = text.len().saturating_mul(ATTEMPTS).saturating_add(SOME);
    let mut found = Vec::new();
    // Objects inside one that was read are its own business.
    let mut read_to = 0;
    for (start, end) in spans(text) {
        if start < read_to {
            continue;
        }
        let Some(inner) = text.get(start..end) else { continue };
        // Read as it stands, mended, and read again.
        let cost = inner.len() * 3;
        if cost > left {
            break;
        }
        left -= cost;
        looked_at += cost;
        if let Some(value) = parse(inner) {
            found.push(value);
            read_to = end;
        }
    }
    (found, looked_at)
}

/// Returns the places of all braces that close, by their beginning, in one pass. Quotes count inside of braces alone.
fn spans(text: &str) -> Vec<(usize, usize)> {
    let mut open: Vec<usize> = Vec::new();
    let mut spans = Vec::new();
    let (mut string, mut escaped) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if string && escaped => escaped = false,
            b'\\' if string => escaped = true,
            b'"' if string => string = false,
            _ if string => {}
            b'"' => string = !open.is_empty(),
            b'{' => open.push(at),
            b'}' => spans.extend(open.pop().map(|start| (start, at + 1))),
            _ => {}
        }
    }
    spans.sort_unstable();
    spans
}

/// The mark before the thoughts of a reasoning model.
pub(crate) const THOUGHTS: &str = "<think>";

/// Returns what a reasoning model says after its thoughts in `<think>`.
pub(crate) fn strip_reasoning(text: &str) -> &str {
    let trimmed = text.trim();
    if let Some(thought) = trimmed.strip_prefix(THOUGHTS) {
        return thought.split_once("</think>").map_or("", |(_, said)| said.trim());
    }
    trimmed
}

/// Returns what stands behind the line that ends thoughts which no mark began: the prompts of some models begin them. All of the text
/// where there is no such line.
pub(crate) fn behind_thoughts(text: &str) -> &str {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        if line.trim() == "</think>" {
            return text.get(at..).unwrap_or_default().trim();
        }
    }
    text
}

fn parse(text: &str) -> Option<Value> {
    let read = |text: &str| serde_json::from_str::<Strict>(text).ok();
    let value = read(text).or_else(|| read(&mended(text)))?.0;
    value.is_object().then_some(value)
}

/// A JSON value in which no object names a key twice: which of the two is meant, nobody knows.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Self)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(Strict(item)) = items.next_element()? {
            all.push(item);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        while let Some((name, Strict(value))) = fields.next_entry::<String, Strict>()? {
            if all.contains_key(&name) {
                return Err(A::Error::custom("a key is there twice"));
            }
            all.insert(name, value);
        }
        Ok(Value::Object(all))
    }
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

    use super::{SOME, counted, objects};

    #[test]
    fn what_models_write() {
        for (text, expected) in [
            ("{\"a\": 1}", json!({"a": 1})),
            ("```json\n{\"a\": 1}\n```", json!({"a": 1})),
            ("Sure!\n```json\n{\"score\": \"8/10\", }\n```", json!({"score": "8/10"})),
            ("Here {it} is: {\"a\": {\"b\": \"}{\\\"\"}} Good?", json!({"a": {"b": "}{\""}})),
            ("{\"a\": [1, 2,],\n}", json!({"a": [1, 2]})),
            ("{\"a\": [1.5, -2, true, null]}", json!({"a": [1.5, -2, true, null]})),
            ("{\"a\": \"two\nlines, }\"}", json!({"a": "two\nlines, }"})),
            ("<think>{\"a\": 0}</think>{\"a\": 1}", json!({"a": 1})),
            ("{ not json } {\"a\": \"é\"}", json!({"a": "é"})),
            ("{\"a\": \"comma,]\"}", json!({"a": "comma,]"})),
            ("{ so: {\"a\": 1} }", json!({"a": 1})),
            ("a { and then {\"a\": 1}", json!({"a": 1})),
        ] {
            assert_eq!(objects(text), [expected], "{text}");
        }
        assert_eq!(objects("{\"a\":1} then {\"a\":2}"), [json!({"a": 1}), json!({"a": 2})]);
        for text in ["", "no", "{\"a\": 1", "[1]", "{a: 1}", "<think>{\"a\":1}", "}{", "{\"a\": 1, \"a\": 2}"] {
            assert!(objects(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn the_bytes_looked_at_grow_with_the_text() {
        for nasty in ["{", "{\"", "}", "{}", "{{}", "{\"a\":", "{\"a\":{}", "{x}", "{\"a\":1}", "\\\"{"] {
            for closing in [false, true] {
                let looked_at = |n: usize| {
                    let close = if closing { "}".repeat(n) } else { String::new() };
                    let text = nasty.repeat(n) + &close;
                    let (_, looked_at) = counted(&text);
                    assert!(looked_at <= 9 * text.len() + SOME, "{nasty} {n}: {looked_at}");
                    looked_at
                };
                assert!(looked_at(40_000) <= 2 * looked_at(20_000) + SOME, "{nasty}");
            }
        }
    }
}
