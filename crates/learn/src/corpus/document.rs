use super::Record;
use super::split::chance;

/// The deepest level of a heading, as readers of documents know them.
const DEEPEST: u8 = 6;

/// What becomes of a document's headings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Headings {
    /// They are left out: the model sees running text.
    Dropped,
    /// Each is a sentence of its own, at the beginning of its segment.
    Kept,
}

impl Headings {
    /// What becomes of the headings of the document with this id: each of the two in half of the documents. Another seed
    /// (of another pass over the data, say) chooses anew.
    #[must_use]
    pub fn chosen(seed: u64, id: &str) -> Self {
        if chance(seed, id) >> 63 == 0 { Self::Dropped } else { Self::Kept }
    }
}

/// A document as a sequence model reads it: sentences with what is known about the places between them.
///
/// Boundaries and paragraphs are as in [`Record`], counted in [`sentences`](Self::sentences): with the headings where these
/// are kept. A segment then begins with its own headings, and each heading is a paragraph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SequenceDocument {
    /// The id.
    pub id: String,
    /// The name of its source.
    pub source: String,
    /// The sentences, and the headings where they are kept. None is blank.
    pub sentences: Vec<String>,
    /// Of each sentence the level of the heading that it is, 1 to 6; 0 for running text.
    pub headings: Vec<u8>,
    /// The numbers of the sentences (1-based) after which a segment ends; the last sentence is not listed.
    pub boundaries: Vec<usize>,
    /// The depth of the section that starts after each boundary, 1 the top; empty where it is not known.
    pub levels: Vec<u8>,
    /// The numbers of the sentences (1-based) after which a paragraph ends, the last sentence not listed; nothing where
    /// paragraphs are not known.
    pub paragraphs: Option<Vec<usize>>,
    /// The topic label of each segment; empty where there are none.
    pub labels: Vec<String>,
}

impl SequenceDocument {
    /// Reads a record with its headings dropped or kept.
    #[must_use]
    pub fn new(record: &Record, headings: Headings) -> Self {
        let mut document = Self {
            id: record.id.clone(),
            source: record.source.clone(),
            sentences: Vec::with_capacity(record.sentences.len()),
            headings: Vec::with_capacity(record.sentences.len()),
            boundaries: Vec::with_capacity(record.boundaries.len()),
            levels: record.levels.clone(),
            paragraphs: None,
            labels: record.labels.clone(),
        };
        let mut paragraphs = Vec::with_capacity(record.paragraphs.len());
        let ends = record.boundaries.iter().copied().chain([record.sentences.len()]);
        let mut ending = record.paragraphs.iter().copied().peekable();
        let mut from = 0;
        for (segment, end) in ends.enumerate() {
            if segment > 0 {
                document.boundaries.push(document.sentences.len());
            }
            if headings == Headings::Kept {
                let level = segment.checked_sub(1).and_then(|before| record.levels.get(before)).copied().unwrap_or(1);
                for (part, deeper) in record.heading_parts(segment).zip(0usize..) {
                    document.push(part, (1..=DEEPEST).nth(usize::from(level.max(1)) - 1 + deeper).unwrap_or(DEEPEST));
                    paragraphs.push(document.sentences.len());
                }
            }
            for (number, sentence) in (from + 1..).zip(record.sentences.get(from..end).unwrap_or_default()) {
                document.push(sentence, 0);
                if ending.next_if_eq(&number).is_some() {
                    paragraphs.push(document.sentences.len());
                }
            }
            from = end;
        }
        document.paragraphs = (!record.paragraphs.is_empty()).then_some(paragraphs);
        document
    }

    fn push(&mut self, text: &str, heading: u8) {
        self.sentences.push(text.to_owned());
        self.headings.push(heading);
    }

    /// The number of sentences, kept headings with them.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sentences.len()
    }

    /// True where there is no sentence.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sentences.is_empty()
    }

    /// The number of segments.
    #[must_use]
    pub fn segments(&self) -> usize {
        self.boundaries.len() + 1
    }

    /// For each of the `len() - 1` places between two sentences, whether a segment ends there.
    #[must_use]
    pub fn boundary_flags(&self) -> Vec<bool> {
        flags(self.len(), &self.boundaries)
    }

    /// For each of the `len() - 1` places between two sentences, whether a paragraph ends there; nothing where paragraphs are
    /// not known.
    #[must_use]
    pub fn paragraph_flags(&self) -> Option<Vec<bool>> {
        self.paragraphs.as_ref().map(|ends| flags(self.len(), ends))
    }

    /// The sentences of each segment: 0-based ranges that cover the document.
    pub fn segment_ranges(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        let starts = std::iter::once(0).chain(self.boundaries.iter().copied());
        let ends = self.boundaries.iter().copied().chain([self.len()]);
        starts.zip(ends).map(|(start, end)| start..end)
    }
}

/// True at place `i - 1` for each number `i` of `after`.
fn flags(sentences: usize, after: &[usize]) -> Vec<bool> {
    let mut flags = vec![false; sentences.saturating_sub(1)];
    for &number in after {
        if let Some(flag) = number.checked_sub(1).and_then(|at| flags.get_mut(at)) {
            *flag = true;
        }
    }
    flags
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::{Headings, SequenceDocument};
    use crate::corpus::Record;

    fn record() -> Record {
        let line = br#"{"id":"d","source":"s","sentences":["a","b","c","d","e"],"boundaries":[2,3],"levels":[1,6],
            "headings":["T > U","","V > W"],"paragraphs":[1,2,3,4],"labels":["x","y","z"]}"#;
        Record::parse(line).unwrap()
    }

    #[test]
    fn dropped_headings_leave_the_text() {
        let one = SequenceDocument::new(&record(), Headings::Dropped);
        assert_eq!(one.sentences, ["a", "b", "c", "d", "e"]);
        assert_eq!((one.boundaries.as_slice(), one.headings.as_slice()), (&[2, 3][..], &[0; 5][..]));
        assert_eq!(one.paragraphs.as_deref(), Some(&[1, 2, 3, 4][..]));
        assert_eq!(one.boundary_flags(), [false, true, true, false]);
        assert_eq!(one.segment_ranges().collect::<Vec<_>>(), [0..2, 2..3, 3..5]);
    }

    #[test]
    fn kept_headings_begin_their_segments() {
        let one = SequenceDocument::new(&record(), Headings::Kept);
        assert_eq!(one.sentences, ["T", "U", "a", "b", "c", "V", "W", "d", "e"]);
        // Levels of the first segment from the top; no level is beyond 6.
        assert_eq!(one.headings, [1, 2, 0, 0, 0, 6, 6, 0, 0]);
        assert_eq!((one.boundaries.as_slice(), one.levels.as_slice()), (&[4, 5][..], &[1, 6][..]));
        assert_eq!(one.paragraphs.as_deref(), Some(&[1, 2, 3, 4, 5, 6, 7, 8][..]));
        assert_eq!(one.labels, ["x", "y", "z"]);
        assert_eq!(one.segment_ranges().collect::<Vec<_>>(), [0..4, 4..5, 5..9]);
    }

    #[test]
    fn unknown_paragraphs_stay_unknown() {
        let record = Record { paragraphs: Vec::new(), ..record() };
        for headings in [Headings::Dropped, Headings::Kept] {
            let one = SequenceDocument::new(&record, headings);
            assert_eq!((one.paragraphs.clone(), one.paragraph_flags()), (None, None));
        }
    }

    #[test]
    fn the_seed_chooses_halves() {
        let kept = |seed: u64| -> BTreeSet<usize> {
            (0..2_000).filter(|i| Headings::chosen(seed, &format!("d{i}")) == Headings::Kept).collect()
        };
        let (one, other) = (kept(1), kept(2));
        assert!((900..1_100).contains(&one.len()) && (900..1_100).contains(&other.len()));
        assert!((400..600).contains(&one.intersection(&other).count()));
        assert_eq!(one, kept(1));
    }

    fn records() -> impl Strategy<Value = Record> {
        (1usize..40).prop_flat_map(|n| {
            let ends = || prop::collection::btree_set(1..n.max(2), 0..10);
            let headings = prop::collection::vec("[a-c]{0,2}( > [a-c]{0,2}){0,2}", 11);
            (Just(n), ends(), ends(), headings, any::<bool>(), any::<bool>()).prop_map(
                |(n, ends, more, headings, levels, paragraphs)| {
                    let boundaries: Vec<usize> = ends.into_iter().filter(|&end| end < n).collect();
                    let segments = boundaries.len() + 1;
                    let record = Record {
                        id: "d".into(),
                        sentences: (0..n).map(|i| format!("sentence {i}")).collect(),
                        levels: if levels { (1..segments).map(|i| 1 + (i % 7) as u8).collect() } else { Vec::new() },
                        headings: headings.into_iter().take(segments).collect(),
                        paragraphs: if paragraphs {
                            more.into_iter().filter(|&end| end < n).collect()
                        } else {
                            Vec::new()
                        },
                        labels: (0..segments).map(|i| format!("label {i}")).collect(),
                        boundaries,
                        ..Record::default()
                    };
                    Record::parse(&serde_json::to_vec(&record).unwrap()).unwrap()
                },
            )
        })
    }

    proptest! {
        #[test]
        fn kept_headings_change_nothing_but_the_numbers(record in records()) {
            let dropped = SequenceDocument::new(&record, Headings::Dropped);
            let kept = SequenceDocument::new(&record, Headings::Kept);
            prop_assert_eq!(&dropped.sentences, &record.sentences);
            prop_assert_eq!(&dropped.boundaries, &record.boundaries);
            prop_assert_eq!(dropped.paragraphs.clone().unwrap_or_default(), record.paragraphs.clone());
            prop_assert_eq!(kept.segments(), record.segments());
            prop_assert_eq!(kept.headings.len(), kept.len());
            // Each segment is its headings, then its sentences.
            for (segment, (own, plain)) in kept.segment_ranges().zip(dropped.segment_ranges()).enumerate() {
                let parts: Vec<&str> = record.heading_parts(segment).collect();
                let (first, rest) = kept.sentences[own.clone()].split_at(parts.len());
                prop_assert_eq!(first, &parts[..]);
                prop_assert_eq!(rest, &dropped.sentences[plain]);
                let levels = &kept.headings[own];
                prop_assert!(levels.iter().take(parts.len()).all(|level| (1..=6).contains(level)));
                prop_assert!(levels.iter().skip(parts.len()).all(|&level| level == 0));
            }
            // Without the headings, every end is where it was.
            let number = |end: usize| kept.headings[..end].iter().filter(|&&level| level == 0).count();
            let plain: Vec<usize> = kept.boundaries.iter().map(|&end| number(end)).collect();
            prop_assert_eq!(&plain, &dropped.boundaries);
            prop_assert_eq!(kept.paragraphs.is_some(), dropped.paragraphs.is_some());
            if let (Some(ends), Some(before)) = (&kept.paragraphs, &dropped.paragraphs) {
                let plain: Vec<usize> =
                    ends.iter().filter(|&&end| kept.headings[end - 1] == 0).map(|&end| number(end)).collect();
                prop_assert_eq!(&plain, before);
                prop_assert!(ends.windows(2).all(|pair| pair[0] < pair[1]) && ends.iter().all(|&end| end < kept.len()));
                prop_assert!(kept.boundaries.iter().all(|end| ends.contains(end)));
            }
        }
    }
}
