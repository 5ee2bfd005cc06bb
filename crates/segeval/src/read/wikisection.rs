//! WikiSection's layout: running text, and where in it each section begins.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use pericope_eval::data::{DataError, DataText};

use super::{Segmented, Splitter, from_segments};

#[derive(Deserialize)]
struct Article {
    #[serde(default)]
    id: String,
    #[serde(default)]
    title: Option<String>,
    text: String,
    annotations: Vec<Annotation>,
}

#[derive(Deserialize)]
struct Annotation {
    begin: usize,
    length: usize,
    #[serde(default, rename = "sectionLabel")]
    label: Option<String>,
}

/// Every article as a document, or why it is none.
pub(super) fn read(path: &Path, split: Splitter<'_>) -> Result<Vec<Result<Segmented, String>>, DataError> {
    let read = DataText::read(path)?;
    let layout = |e: serde_json::Error| DataError::Layout { path: path.to_owned(), problem: e.to_string() };
    let articles: Vec<Value> = serde_json::from_str(&read.text).map_err(layout)?;
    let place = |number: usize| format!("{}: article {}", path.display(), number + 1);
    let parsed = articles.into_iter().enumerate().map(|(i, value)| {
        read.check_value(&value).map_err(|problem| format!("{}: {problem}", place(i)))?;
        let article: Article = serde_json::from_value(value).map_err(|e| format!("{}: {e}", place(i)))?;
        parse(&article, split).map_err(|problem| format!("{} ('{}'): {problem}", place(i), article.id))
    });
    Ok(parsed.collect())
}

fn parse(article: &Article, split: Splitter<'_>) -> Result<Segmented, String> {
    let units = Units::of(article);
    let mut ends = vec![0, article.text.len()];
    let mut sections = Vec::with_capacity(article.annotations.len());
    for Annotation { begin, length, label } in &article.annotations {
        let byte =
            |at: usize| units.byte(at).ok_or_else(|| format!("a section reaches to {at}, beyond the text's end"));
        let (from, to) = (byte(*begin)?, byte(begin.saturating_add(*length))?);
        ends.extend([from, to]);
        sections.push((from..to, label.as_deref().unwrap_or_default()));
    }
    ends.sort_unstable();
    ends.dedup();
    let mut segments: Vec<Vec<&str>> = Vec::new();
    let mut labels = Vec::new();
    for pair in ends.windows(2) {
        let &[from, to] = pair else { continue };
        let Some(section) = article.text.get(from..to) else { continue };
        let sentences: Vec<&str> = split(section).into_iter().filter_map(|range| section.get(range)).collect();
        // What is between the sections has no label; a segment without text is none.
        let label = sections.iter().find(|(range, _)| range.contains(&from)).map_or("", |(_, label)| *label);
        if sentences.iter().any(|sentence| !sentence.trim().is_empty()) {
            segments.push(sentences);
            labels.push(label.to_owned());
        }
    }
    let mut one = from_segments(&article.id, &segments)?;
    one.document.title.clone_from(&article.title);
    if labels.iter().any(|label| !label.is_empty()) {
        one.labels = labels;
    }
    Ok(one)
}

/// From an annotation's offsets to bytes. They are UTF-16 units where the last section ends with the text in these, and
/// code points otherwise; the two differ only in texts with characters beyond the basic plane.
struct Units {
    bytes: Vec<usize>,
}

impl Units {
    fn of(article: &Article) -> Self {
        let text = &article.text;
        let end = article.annotations.iter().map(|a| a.begin.saturating_add(a.length)).max().unwrap_or(0);
        let utf16 = end > text.chars().count() && end <= text.encode_utf16().count();
        let starts = text.char_indices().flat_map(|(at, letter)| {
            // The second half of a pair is no place to cut; it stands for the character's start.
            std::iter::repeat_n(at, if utf16 { letter.len_utf16() } else { 1 })
        });
        Self { bytes: starts.chain([text.len()]).collect() }
    }

    fn byte(&self, unit: usize) -> Option<usize> {
        self.bytes.get(unit).copied()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::ops::Range;

    use super::read;

    fn at_stops(text: &str) -> Vec<Range<usize>> {
        let mut from = 0;
        let stops = text.match_indices('.').map(|(at, _)| at + 1);
        stops.map(|to| std::mem::replace(&mut from, to)..to).collect()
    }

    #[test]
    fn sections_are_segments_in_code_points_and_in_utf16() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("wikisection_en_test.json");
        // "Ä." are 2 code points, "𝔸." 2 code points and 3 UTF-16 units.
        let json = r#"[
            {"id":"a","title":"A","text":"Ä. B.\nC. D.","annotations":[
                {"begin":0,"length":6,"sectionHeading":"x","sectionLabel":"y"},{"begin":6,"length":5,"sectionLabel":null}]},
            {"id":"b","text":"𝔸. B. C.","annotations":[{"begin":0,"length":6},{"begin":6,"length":3}]},
            {"id":"c","text":"A.","annotations":[{"begin":0,"length":9}]},
            {"id":"d"},
            {"id":"e","text":"A.","annotations":[{"begin":-1,"length":1e99}]},
            {"id":"?","text":"A.","annotations":[]}]"#;
        // A byte that is not UTF-8 costs its article.
        let mut bytes = json.as_bytes().to_vec();
        *bytes.iter_mut().rfind(|byte| **byte == b'?').unwrap() = 0xff;
        std::fs::write(&path, bytes).unwrap();
        let found = read(&path, &at_stops).unwrap();
        let one = found[0].as_ref().unwrap();
        assert_eq!((one.document.len(), one.reference.after(), one.document.sentence(2)), (4, &[2][..], "C."));
        assert_eq!(one.document.title.as_deref(), Some("A"));
        // A section without a label has an empty one.
        assert_eq!(one.labels, ["y", ""]);
        assert!(found[1].as_ref().unwrap().labels.is_empty());
        assert_eq!(found[1].as_ref().unwrap().reference.after(), [2]);
        assert!(found[2].as_ref().unwrap_err().contains("article 3 ('c'): a section reaches to 9"));
        assert!(found[3].is_err() && found[4].is_err());
        assert!(found[5].as_ref().unwrap_err().ends_with("article 6: it is not UTF-8"), "{:?}", found[5]);
    }
}
