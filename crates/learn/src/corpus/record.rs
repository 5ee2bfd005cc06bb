use pericope_api::Boundaries;
use serde::{Deserialize, Serialize};

/// What stands between the headings of one segment, where several follow each other without text between them.
const JOINED: &str = " > ";

/// What a blank sentence is read as: it keeps its place, and every boundary keeps its own.
const BLANK: &str = ".";

/// A document whose segments are known: one line of segmentation JSONL.
///
/// [`Record::parse`] checks it: `boundaries` and `paragraphs` are strictly increasing and inside `1..sentences.len()`, every
/// boundary ends a paragraph, `levels` is empty or one a boundary, `headings` and `labels` are empty or one a segment, and
/// no sentence is blank.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The id.
    pub id: String,
    /// The name of the collection that the document is of; empty where it is not said.
    #[serde(default)]
    pub source: String,
    /// The title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The sentences, trimmed, without headings.
    pub sentences: Vec<String>,
    /// The numbers of the sentences (1-based) after which a segment ends; the last sentence is not listed.
    pub boundaries: Vec<usize>,
    /// The depth of the section that starts after each boundary; 1 is the top. Empty where it is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<u8>,
    /// The heading of each segment. Empty where headings are not known; an empty one where the segment has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headings: Vec<String>,
    /// The numbers of the sentences (1-based) after which a paragraph ends; the last sentence is not listed. Empty where
    /// paragraphs are not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paragraphs: Vec<usize>,
    /// The topic label of each segment (WikiSection's `sectionLabel`). Empty where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
}

impl Record {
    /// Reads a line of JSON. A blank sentence becomes `.`, so that the numbers of those behind it stay. An end of a
    /// paragraph at the document's end is left out, and every boundary counts as one where paragraphs are known.
    ///
    /// # Errors
    /// What is wrong with the line, without its place.
    pub fn parse(line: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(line).map_err(|e| format!("it is not UTF-8: {e}"))?;
        let mut record: Self = serde_json::from_str(text).map_err(|e| e.to_string())?;
        let (sentences, boundaries) = (record.sentences.len(), record.boundaries.len());
        if sentences == 0 {
            return Err("it holds no sentence".into());
        }
        let reference = Boundaries::new(sentences, record.boundaries.clone()).map_err(|e| e.to_string())?;
        for (key, found, wanted, each) in [
            ("levels", record.levels.len(), boundaries, "boundary"),
            ("headings", record.headings.len(), boundaries + 1, "segment"),
            ("labels", record.labels.len(), boundaries + 1, "segment"),
        ] {
            if found != 0 && found != wanted {
                return Err(format!("{key} has {found} entries, not {wanted} (one a {each})"));
            }
        }
        if record.levels.contains(&0) {
            return Err("levels holds 0: the top is 1".into());
        }
        let paragraphs = std::mem::take(&mut record.paragraphs);
        record.paragraphs = reference.paragraph_ends(paragraphs).map_err(|e| format!("paragraphs: {e}"))?;
        record.sentences.iter_mut().for_each(tidy);
        Ok(record)
    }

    /// The number of segments.
    #[must_use]
    pub fn segments(&self) -> usize {
        self.boundaries.len() + 1
    }

    /// The headings of segment `i` (0-based), outermost first, each as a page shows it: `A > B` is two headings. Empty
    /// where there are none.
    pub fn heading_parts(&self, i: usize) -> impl Iterator<Item = &str> {
        let heading = self.headings.get(i).map_or("", String::as_str);
        heading.split(JOINED).map(str::trim).filter(|part| !part.is_empty())
    }

    /// Every text that a model may read of this document: its sentences, then its headings.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let headings = (0..self.headings.len()).flat_map(|i| self.heading_parts(i));
        self.sentences.iter().map(String::as_str).chain(headings)
    }
}

/// Trims a sentence; a blank one becomes `.`.
fn tidy(sentence: &mut String) {
    let trimmed = sentence.trim();
    if trimmed.is_empty() {
        BLANK.clone_into(sentence);
    } else if trimmed.len() < sentence.len() {
        *sentence = trimmed.to_owned();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::Record;

    #[test]
    fn a_line_is_read_with_all_that_it_says() {
        let line = br#"{"id":"d","source":"s","title":"T","sentences":[" a ","","c","d"],"boundaries":[2],"levels":[1],
            "headings":["A > B",""],"paragraphs":[1,4],"labels":["x","y"]}"#;
        let one = Record::parse(line).unwrap();
        assert_eq!((one.id.as_str(), one.source.as_str(), one.segments()), ("d", "s", 2));
        assert_eq!(one.title.as_deref(), Some("T"));
        assert_eq!(one.sentences, ["a", ".", "c", "d"]);
        assert_eq!((one.boundaries.as_slice(), one.levels.as_slice()), (&[2][..], &[1][..]));
        assert_eq!(one.paragraphs, [1, 2]);
        assert_eq!(one.texts().collect::<Vec<_>>(), ["a", ".", "c", "d", "A", "B"]);
        assert_eq!(one.heading_parts(1).count() + one.heading_parts(9).count(), 0);
        assert_eq!(one.labels, ["x", "y"]);
        let again = serde_json::to_vec(&one).unwrap();
        assert_eq!(Record::parse(&again).unwrap(), one);
    }

    #[test]
    fn what_is_wrong_with_a_line_is_said() {
        let line = |rest: &str| Record::parse(format!(r#"{{"id":"d","sentences":["a","b"],{rest}}}"#).as_bytes());
        for (rest, said) in [
            (r#""boundaries":[2]"#, "boundary 2 is outside 1..=1"),
            (r#""boundaries":[1],"levels":[1,2]"#, "levels has 2 entries, not 1 (one a boundary)"),
            (r#""boundaries":[1],"levels":[0]"#, "the top is 1"),
            (r#""boundaries":[],"headings":["a","b"]"#, "headings has 2 entries, not 1 (one a segment)"),
            (r#""boundaries":[],"labels":["a","b"]"#, "labels has 2 entries"),
            (r#""boundaries":[],"paragraphs":[1,1]"#, "paragraphs: boundaries must increase"),
            (r#""boundaries":"x""#, "invalid type"),
        ] {
            let error = line(rest).unwrap_err();
            assert!(error.contains(said), "{rest}: {error}");
        }
        assert!(Record::parse(br#"{"id":"d","sentences":[],"boundaries":[]}"#).unwrap_err().contains("no sentence"));
        assert!(Record::parse(b"{\"id\":\"\xff\"}").unwrap_err().contains("not UTF-8"));
    }
}
