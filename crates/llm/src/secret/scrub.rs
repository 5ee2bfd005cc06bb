use std::collections::BTreeSet;
use std::ops::Range;

use aho_corasick::AhoCorasick;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use serde_json::Value;

use super::layers::Layer;
use super::{HIDDEN, Secret};
use crate::error::LlmError;

/// A shorter secret is none: it would tear every text apart.
const SHORTEST: usize = 4;
/// A shorter encoded form could be any word.
const SHORTEST_ENCODED: usize = 8;
/// From this length on a secret is found in any case of its letters, and by a part of it: chance does not write so much.
const LONG: usize = 12;
/// A part of this length gives a secret away, however long it is.
const PART: usize = 32;
/// The number of times that escapes are undone: escapes of escapes of escapes.
const LEVELS: usize = 4;

/// Removes keys from what a server sent. It finds them as they are, in any case, with white space in between, escaped as
/// in JSON, addresses and HTML (also several times), as base64 and as hexadecimal digits, and half of a long one.
pub(crate) struct Scrubber {
    /// Short secrets: as they are written.
    exact: Option<AhoCorasick>,
    /// Parts of long ones: in any case.
    parts: Option<AhoCorasick>,
}

impl Scrubber {
    /// Knows these secrets.
    ///
    /// # Errors
    /// [`LlmError::Config`] where they are too long to be searched for.
    pub(crate) fn new(secrets: &[Secret]) -> Result<Self, LlmError> {
        let (mut exact, mut parts) = (BTreeSet::new(), BTreeSet::new());
        for secret in secrets {
            let key: Vec<u8> = secret.reveal().bytes().filter(|b| !b.is_ascii_whitespace()).collect();
            if key.len() < SHORTEST {
                continue;
            }
            let encoded = encoded(&key).into_iter().filter(|form| form.len() >= SHORTEST_ENCODED);
            for form in encoded.chain([key.clone()]) {
                if form.len() < LONG {
                    exact.insert(form);
                } else {
                    let length = (form.len() / 2).clamp(LONG, PART);
                    parts.extend(form.windows(length).map(<[u8]>::to_ascii_lowercase));
                }
            }
        }
        let search = |patterns: BTreeSet<Vec<u8>>, any_case: bool| {
            if patterns.is_empty() {
                return Ok(None);
            }
            let search = AhoCorasick::builder().ascii_case_insensitive(any_case).build(patterns);
            search.map(Some).map_err(|_| LlmError::Config("a key is too long".into()))
        };
        Ok(Self { exact: search(exact, false)?, parts: search(parts, true)? })
    }

    /// Returns `text` without keys.
    pub(crate) fn scrub(&self, text: &str) -> String {
        if self.exact.is_none() && self.parts.is_none() {
            return text.to_owned();
        }
        let mut found: Vec<Range<usize>> = Vec::new();
        let mut layer = Layer::plain(text);
        for _ in 0..=LEVELS {
            found.extend(matches(self.exact.as_ref(), &layer));
            found.extend(matches(self.parts.as_ref(), layer.squeezed().as_ref().unwrap_or(&layer)));
            match layer.unescaped() {
                Some(next) => layer = next,
                None => break,
            }
        }
        without(text, found)
    }

    /// Returns a JSON value without keys, in whatever string, name or long number they stand.
    pub(crate) fn scrub_json(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.scrub(&text)),
            Value::Array(items) => Value::Array(items.into_iter().map(|item| self.scrub_json(item)).collect()),
            Value::Object(fields) => Value::Object(
                fields.into_iter().map(|(name, value)| (self.scrub(&name), self.scrub_json(value))).collect(),
            ),
            // Vectors are lists of fractions, which are no keys.
            Value::Number(number) if number.as_u64().is_some_and(|n| n >= 1000) => {
                let text = number.to_string();
                let clean = self.scrub(&text);
                if clean == text { Value::Number(number) } else { Value::String(clean) }
            }
            other => other,
        }
    }
}

impl std::fmt::Debug for Scrubber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Scrubber")
    }
}

/// Returns the encoded forms of a key. In base64 a key looks different by what stands before it; the characters at its
/// ends depend on the neighbours and are left out.
fn encoded(key: &[u8]) -> Vec<Vec<u8>> {
    let mut forms = vec![key.iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect()];
    for before in 0..3_usize {
        let padded = [&[0; 2][..before.min(2)], key].concat();
        let whole = padded.len() * 8 / 6;
        for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
            let text = engine.encode(&padded).into_bytes();
            let first = (before * 8).div_ceil(6);
            forms.push(text.get(first..whole).unwrap_or_default().to_vec());
        }
    }
    forms
}

/// Returns the places in the text of everything that `search` finds.
fn matches(search: Option<&AhoCorasick>, layer: &Layer) -> Vec<Range<usize>> {
    let Some(search) = search else { return Vec::new() };
    search.find_overlapping_iter(&layer.bytes).filter_map(|found| layer.place(found.range())).collect()
}

/// Returns `text` with one mark in the place of each group of ranges that touch.
fn without(text: &str, mut found: Vec<Range<usize>>) -> String {
    if found.is_empty() {
        return text.to_owned();
    }
    found.sort_by_key(|range| (range.start, range.end));
    let mut out = String::with_capacity(text.len());
    let mut kept_to = 0;
    let mut ranges = found.into_iter().peekable();
    while let Some(mut range) = ranges.next() {
        while let Some(next) = ranges.next_if(|next| next.start <= range.end) {
            range.end = range.end.max(next.end);
        }
        out.push_str(text.get(kept_to..range.start).unwrap_or_default());
        out.push_str(HIDDEN);
        kept_to = range.end;
    }
    out.push_str(text.get(kept_to..).unwrap_or_default());
    out
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    const KEY: &str = "sk-live/AbCd/1234567890+zz";

    fn scrubber(keys: &[&str]) -> Scrubber {
        Scrubber::new(&keys.iter().map(|key| Secret::new(*key)).collect::<Vec<_>>()).unwrap()
    }

    fn each(of: impl Fn(u8) -> String) -> String {
        KEY.bytes().map(of).collect()
    }

    #[test]
    fn a_key_in_every_disguise() {
        let scrubber = scrubber(&[KEY]);
        let unicode = each(|b| format!("\\u{b:04X}"));
        let (half, rest) = KEY.split_at(13);
        for disguise in [
            KEY.to_owned(),
            KEY.to_uppercase(),
            KEY.to_lowercase(),
            KEY.replace('/', "\\/"),
            KEY.replace('/', "\\\\\\/"),
            KEY.replace('/', "%2F").replace('+', "%2b"),
            KEY.replace('/', "%252F"),
            KEY.replace('/', "&#47;").replace('-', "&#x2d;"),
            KEY.replace('/', "&sol;").replace('+', "&plus;"),
            unicode.clone(),
            unicode.replace('\\', "\\\\"),
            each(|b| format!("\\x{b:02x}")),
            each(|b| format!("%{b:02x}")),
            each(|b| format!("{b:02x}")),
            STANDARD_NO_PAD.encode(KEY),
            STANDARD_NO_PAD.encode(format!("Bearer {KEY}\n")),
            STANDARD_NO_PAD.encode(format!("x{KEY}yz")),
            URL_SAFE_NO_PAD.encode(format!("ab{KEY}")),
            STANDARD_NO_PAD.encode(KEY).replace('c', "\\u0063"),
            format!("{half}\n  {rest}"),
            format!("{half}\u{200b}{rest}"),
            half.to_owned(),
            rest.to_owned(),
        ] {
            let clean = scrubber.scrub(&format!("é before {disguise} after ü"));
            assert!(clean.starts_with("é before ") && clean.ends_with(" after ü"), "{disguise}: {clean}");
            assert!(clean.contains(HIDDEN), "{disguise}: {clean}");
            // What is left is less than a part: the ends of base64 that depend on the neighbours.
            let left = clean.replace(HIDDEN, "").replace("é before ", "").replace(" after ü", "");
            assert!(left.len() <= 14, "{disguise}: {clean}");
        }
    }

    #[test]
    fn texts_without_keys_stay() {
        let scrubber = scrubber(&[KEY, "EMPTY", "a", "Bearer xy"]);
        for text in ["", "banana", "an empty line \\u00e9 %20 &amp; 100% \\", "sk-live/", "[hidden]", "日本語\\"] {
            assert_eq!(scrubber.scrub(text), text);
        }
        assert_eq!(scrubber.scrub("EMPTY and empty"), "[hidden] and empty");
        let vectors = json!({"data": [{"embedding": [0.1, -2, 3e10], "index": 1}]});
        assert_eq!(scrubber.scrub_json(vectors.clone()), vectors);
    }

    #[test]
    fn names_and_numbers_of_json() {
        let clean = scrubber(&[KEY, "123456789012345"])
            .scrub_json(json!({KEY: [KEY, {"a": 123_456_789_012_345_u64}], "n": 12_345}));
        assert_eq!(clean, json!({HIDDEN: [HIDDEN, {"a": HIDDEN}], "n": 12_345}));
    }

    #[test]
    fn long_keys_are_not_costly() {
        let long: String = (0..8_000_u32).map(|i| char::from(b'a' + u8::try_from(i * i % 23).unwrap())).collect();
        let scrubber = scrubber(&[&long]);
        assert_eq!(scrubber.scrub(&format!("<{long}>")), format!("<{HIDDEN}>"));
    }
}
