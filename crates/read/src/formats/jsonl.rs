use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use pericope_api::Document;
use serde::Deserialize;

use super::reader::Reader;
use super::text_readers::text_reader;
use crate::error::ReadError;
use crate::limits::{self, LONGEST_ID};
use crate::options::ReadOptions;

/// One document a line: `{"id", "title"?, "text", "format"?}`. A document's source is the decoded text.
pub(super) struct Jsonl;

#[derive(Deserialize)]
#[serde(expecting = "a JSON object with a `text`")]
struct Line {
    id: Option<Id>,
    title: Option<String>,
    text: String,
    format: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Id {
    Text(String),
    Number(serde_json::Number),
}

impl Reader for Jsonl {
    fn name(&self) -> &'static str {
        "jsonl"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["jsonl", "ndjson"]
    }

    fn read(
        &self,
        id: &str,
        source: Arc<str>,
        options: &ReadOptions,
        sink: &mut dyn FnMut(Result<Document, ReadError>),
    ) {
        let source = source.trim_start_matches('\u{feff}');
        let mut lines_of = HashMap::new();
        for (i, line) in source.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let fail = |message| ReadError::Line { id: id.to_owned(), line: i + 1, message };
            match document(line, || format!("{id}:{}", i + 1), options) {
                Ok(Ok(document)) => match lines_of.entry(document.id.clone()) {
                    Entry::Occupied(first) => {
                        let first: &usize = first.get();
                        sink(Err(fail(format!("the id {:?} is that of line {first} already", document.id))));
                    }
                    Entry::Vacant(free) => {
                        free.insert(i + 1);
                        sink(Ok(document));
                    }
                },
                Ok(Err(e)) => sink(Err(fail(e.to_string()))),
                Err(message) => sink(Err(fail(message))),
            }
        }
    }
}

/// The document on a line, which is called what `default_id` says where it has no id.
fn document(
    line: &str,
    default_id: impl Fn() -> String,
    options: &ReadOptions,
) -> Result<Result<Document, ReadError>, String> {
    // An array would be taken for the fields in their order.
    if line.trim_start().starts_with('[') {
        return Err("a document is a JSON object, and this is an array".to_owned());
    }
    let line: Line = serde_json::from_str(line).map_err(|e| {
        // serde_json counts lines too, and always says 1 here.
        e.to_string().replace(" at line 1 column", " at column")
    })?;
    let id = match line.id {
        Some(Id::Text(id)) => id,
        Some(Id::Number(id)) => id.to_string(),
        None => default_id(),
    };
    // Each chunk carries the id.
    if id.len() > LONGEST_ID {
        return Err(format!("the id has {} bytes; at most {LONGEST_ID} are allowed", id.len()));
    }
    let name = line.format.as_deref().unwrap_or("plain");
    let Some(inner) = text_reader(name) else {
        return Err(format!("there is no format {name:?} for a document; use md, mdx, html, rst, asciidoc or plain"));
    };
    let mut found = None;
    inner.read(&id, line.text.into(), options, &mut |document| found = Some(document));
    let document = found.ok_or("the text gave no document")?;
    let title = line.title.map(limits::title);
    Ok(document.map(|document| Document { title: title.or(document.title), ..document }))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use crate::{ReadOptions, reader};

    #[test]
    fn an_array_is_no_document() {
        let mut found = Vec::new();
        let source = r#"["x", "Text here.", "md", null]"#;
        reader("jsonl").unwrap().read("a", source.into(), &ReadOptions::default(), &mut |one| found.push(one));
        let said = found.remove(0).unwrap_err().to_string();
        assert!(said.contains("this is an array") && found.is_empty(), "{said}");
    }

    #[test]
    fn a_broken_line_does_not_stop_the_rest() {
        let source = "{\"id\": \"a\", \"title\": \"T\", \"text\": \"One. Two.\"}\n\nnot json\n{\"text\": \"# H\\n\\nx\", \
            \"format\": \"md\"}\r\n{\"id\": 7, \"text\": \"x\", \"format\": \"doc\"}\n{\"id\": 8}\n{\"id\": 9, \
            \"text\": \"<p>x\", \"format\": \"html\"}\n{\"id\": \"a\", \"text\": \"again\"}\n\
            {\"id\": 10, \"text\": \" \"}";
        let (mut ids, mut errors) = (Vec::new(), Vec::new());
        reader("jsonl").unwrap().read("f", source.into(), &ReadOptions::default(), &mut |item| match item {
            Ok(document) => {
                assert_eq!(document.check(), Ok(()));
                ids.push((document.id.clone(), document.title.clone(), document.len()));
            }
            Err(error) => errors.push(error.to_string()),
        });
        let expected = [("a", Some("T"), 2), ("f:4", Some("H"), 2), ("9", None, 1), ("10", None, 0)];
        assert_eq!(ids, expected.map(|(id, title, n)| (id.to_owned(), title.map(str::to_owned), n)));
        assert_eq!(errors.len(), 4);
        let mut said = String::new();
        reader("jsonl").unwrap().read("f", "\"text\"".into(), &ReadOptions::default(), &mut |item| {
            said = item.err().map(|error| error.to_string()).unwrap_or_default();
        });
        assert!(said.contains("expected a JSON object with a `text`"), "{said}");
        assert!(errors[3].contains("line 8") && errors[3].contains("line 1 already"), "{}", errors[3]);
        assert!(errors[0].starts_with("f, line 3: "), "{}", errors[0]);
        assert!(errors[1].contains("line 5") && errors[1].contains("\"doc\""), "{}", errors[1]);
        assert!(errors[2].contains("line 6") && errors[2].contains("text"), "{}", errors[2]);
    }
}
