//! One document a line.

use std::path::Path;

use pericope_api::{Boundaries, Document};
use serde::Deserialize;

use crate::data::DataError;

use super::{Segmented, text_of};

#[derive(Deserialize)]
struct Line {
    id: String,
    sentences: Vec<String>,
    boundaries: Vec<usize>,
}

/// Every line as a document, or why it is none.
pub(super) fn read(path: &Path) -> Result<Vec<Result<Segmented, String>>, DataError> {
    let text = text_of(path)?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let place = |number: usize| format!("{}:{}", path.display(), number + 1);
    Ok(lines.map(|(i, line)| parse(line).map_err(|problem| format!("{}: {problem}", place(i)))).collect())
}

fn parse(line: &str) -> Result<Segmented, String> {
    let mut line: Line = serde_json::from_str(line).map_err(|e| e.to_string())?;
    let reference = Boundaries::new(line.sentences.len(), line.boundaries).map_err(|e| e.to_string())?;
    if line.sentences.is_empty() {
        return Err("it holds no sentence".into());
    }
    for sentence in &mut line.sentences {
        // A blank sentence would vanish from the document and shift every index after it.
        if sentence.trim().is_empty() {
            ".".clone_into(sentence);
        }
    }
    Ok(Segmented { document: Document::from_sentences(&line.id, &line.sentences), reference })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::{parse, read};

    #[test]
    fn blank_sentences_keep_their_place() {
        let one = parse(r#"{"id":"d","sentences":["a"," ","b"],"boundaries":[2],"levels":[1]}"#).unwrap();
        assert_eq!((one.document.len(), one.document.sentence(1)), (3, "."));
    }

    #[test]
    fn bad_lines_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl");
        std::fs::write(&path, "\n{\"id\":\"d\",\"sentences\":[\"a\"],\"boundaries\":[]}\nnonsense\n").unwrap();
        let found = read(&path).unwrap();
        assert_eq!(found.iter().filter(|one| one.is_ok()).count(), 1);
        assert!(found[1].as_ref().unwrap_err().contains("x.jsonl:3: "));
    }
}
