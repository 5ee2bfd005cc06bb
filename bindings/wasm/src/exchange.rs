use serde::Serialize;

use crate::{cut, offer};

/// A request and its answer, both JSON.
pub struct Exchange {
    request: Vec<u8>,
    answer: Vec<u8>,
}

/// `{"answer": ...}` or `{"error": "..."}`.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Outcome<T> {
    Answer(T),
    Error(String),
}

impl Exchange {
    pub const fn new() -> Self {
        Self { request: Vec::new(), answer: Vec::new() }
    }

    /// Makes room for a request.
    pub fn room(&mut self, bytes: usize) -> &mut [u8] {
        self.request.clear();
        self.request.resize(bytes, 0);
        &mut self.request
    }

    pub fn answer(&self) -> &[u8] {
        &self.answer
    }

    /// Answers the request: a [text to cut](cut::Request).
    pub fn cut(&mut self) {
        let request = serde_json::from_slice::<cut::Request>(&self.request);
        self.set(match request.map_err(|error| error.to_string()).and_then(|request| cut::cut(&request)) {
            Ok(cut) => Outcome::Answer(cut),
            Err(reason) => Outcome::Error(reason),
        });
    }

    /// Answers with what can be chosen, whatever the request.
    pub fn offer(&mut self) {
        self.set(Outcome::Answer(offer::offer()));
    }

    fn set<T: Serialize>(&mut self, outcome: Outcome<T>) {
        self.answer = serde_json::to_vec(&outcome).unwrap_or_default();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::Exchange;

    const PAGE: &str = "\r\n# Keys 🔑\r\n\r\nKeys expire after a year. Rotate them before that.\t東京の鍵。\r\n\r\n\
                        ## Lost\r\n\r\nRevoke a lost key at once. Then make a new one.\r\n\r\n";

    fn answer(exchange: &Exchange) -> Value {
        serde_json::from_slice(exchange.answer()).unwrap()
    }

    fn asked(request: &Value) -> Value {
        let mut exchange = Exchange::new();
        let bytes = serde_json::to_vec(request).unwrap();
        exchange.room(bytes.len()).copy_from_slice(&bytes);
        exchange.cut();
        answer(&exchange)
    }

    fn cut(text: &str, format: &str, segmenter: &str, max_tokens: usize) -> Value {
        asked(&json!({ "text": text, "format": format, "segmenter": segmenter, "max_tokens": max_tokens }))
    }

    fn offered() -> Value {
        let mut exchange = Exchange::new();
        exchange.offer();
        answer(&exchange)["answer"].take()
    }

    fn texts<'a>(values: &'a Value, key: &str) -> Vec<&'a str> {
        values.as_array().unwrap().iter().map(|value| value[key].as_str().unwrap()).collect()
    }

    /// The pieces of a cut give back its text, and say their sizes as they are.
    fn check(text: &str, answer: &Value, context: &str) {
        let chunks = answer["answer"]["chunks"].as_array().unwrap_or_else(|| panic!("{context}: {answer}"));
        let of = |chunk: &Value, key: &str| chunk[key].as_str().unwrap().to_owned();
        let mut joined = String::new();
        for chunk in chunks {
            joined += &[of(chunk, "before"), of(chunk, "own"), of(chunk, "after")].concat();
            let whole = of(chunk, "repeated") + &of(chunk, "own");
            let at = |key: &str| chunk[key].as_u64().unwrap() as usize;
            assert_eq!(text[at("start")..at("end")], whole, "{context}");
            assert_eq!(at("characters"), whole.chars().count(), "{context}");
        }
        // A text of blanks has no chunk.
        assert!(joined == text || (chunks.is_empty() && text.trim().is_empty()), "{context}: {joined:?}");
    }

    #[test]
    fn every_segmenter_that_is_offered_cuts_and_gives_the_text_back() {
        let offered = offered();
        let specs = texts(&offered["segmenters"], "spec");
        for name in ["fixed", "recursive", "structure", "texttiling", "c99", "u00", "bayesseg"] {
            assert!(specs.contains(&name), "{specs:?}");
        }
        assert!(specs.iter().any(|spec| spec.starts_with("graph:")), "{specs:?}");
        assert!(!specs.iter().any(|spec| spec.starts_with("same-size") || spec.starts_with("window")), "{specs:?}");
        for spec in specs {
            for max_tokens in [0, 8] {
                let found = cut(PAGE, "markdown", spec, max_tokens);
                check(PAGE, &found, spec);
                let tokens = |chunk: &Value| chunk["tokens"].as_u64().unwrap();
                let chunks = found["answer"]["chunks"].as_array().unwrap();
                assert!(max_tokens == 0 || chunks.iter().all(|chunk| tokens(chunk) <= 8), "{spec}: {found}");
            }
        }
    }

    #[test]
    fn formats_are_those_of_texts() {
        let formats: Vec<String> = serde_json::from_value(offered()["formats"].clone()).unwrap();
        for name in ["markdown", "html", "rst", "asciidoc", "plain"] {
            assert!(formats.iter().any(|format| format == name), "{formats:?}");
            check(PAGE, &cut(PAGE, name, "sentence", 0), name);
        }
        assert!(!formats.iter().any(|format| format == "jsonl" || format == "pdf"), "{formats:?}");
        assert_eq!(cut(PAGE, "jsonl", "sentence", 0)["error"], "there is no format `jsonl` for text");
    }

    #[test]
    fn headings_sizes_and_repeated_sentences() {
        let found = cut(PAGE, "markdown", "sentence:overlap=1,max_tokens=40", 8);
        let chunks = &found["answer"]["chunks"];
        assert_eq!(found["answer"]["segmenter"], "sentence:max_tokens=40,overlap=1");
        let first = json!("# Keys 🔑\r\n\r\nKeys expire after a year.");
        assert_eq!((&chunks[0]["before"], &chunks[0]["own"]), (&json!("\r\n"), &first));
        let sizes = ["start", "end", "characters"].map(|key| chunks[0][key].as_u64());
        assert_eq!(sizes, [Some(2), Some(42), Some(37)]);
        assert_eq!(chunks[1]["repeated"], "Keys expire after a year.");
        let last = chunks.as_array().unwrap().last().unwrap();
        assert_eq!(last["heading_path"], json!(["Keys 🔑", "Lost"]));
        assert_eq!((&last["own"], &last["after"]), (&json!(" Then make a new one."), &json!("\r\n\r\n")));
        check(PAGE, &found, "overlap");
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (spec, reason) in [
            ("paragraf", "did you mean `paragraph`?"),
            ("fusion", "it needs an encoder"),
            ("topic", "topic"),
            ("command:/bin/sh", "command"),
            ("structure:max_tokens=some", "a whole number"),
        ] {
            let said = cut("One. Two.", "plain", spec, 0);
            assert!(said["error"].as_str().unwrap_or_default().contains(reason), "{spec}: {said}");
        }
        assert!(asked(&json!({ "text": "One." }))["error"].as_str().unwrap().contains("format"));
        let long = cut(&"a".repeat(1_048_577), "plain", "sentence", 0);
        assert_eq!(long["error"], "the text has 1048577 bytes, and may have 1048576");
    }

    proptest! {
        #[test]
        fn any_text_comes_back(text in "(\\PC|[ \t\r\n#*>|`-]){0,80}") {
            for spec in ["structure:max_tokens=12", "bayesseg", "fixed:words=3,overlap=1"] {
                check(&text, &cut(&text, "markdown", spec, 30), spec);
            }
        }
    }
}
