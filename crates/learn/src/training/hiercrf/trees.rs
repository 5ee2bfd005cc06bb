use pericope_api::Kind;
use pericope_segment::random::SplitMix64;

use crate::corpus::SequenceDocument;
use crate::hiercrf::{Node, Outline, Tree};
use crate::training::runs::Run;

/// A document whose tree of segments is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeDocument {
    /// The id.
    pub id: String,
    /// The sentences that are read.
    pub sentences: Vec<String>,
    /// Of each sentence the level of the heading that it is, 1 to 6; 0 for running text.
    pub headings: Vec<u8>,
    /// The numbers of the sentences (1-based) after which a segment ends; the last one is not listed.
    pub boundaries: Vec<usize>,
    /// The numbers of the sentences (1-based) after which a paragraph ends, the last one not listed; nothing where paragraphs
    /// are not known.
    pub paragraphs: Option<Vec<usize>>,
    /// The tree over them.
    pub tree: Tree,
    /// The label of each segment that has one: its first sentence, one past its last, and the label.
    pub topics: Vec<(usize, usize, String)>,
}

impl TreeDocument {
    /// Makes the tree of a document from the depths of its sections. Sections of fewer than `least` sentences, subsections
    /// counted with them, are left out with their sentences; 0 keeps all.
    #[must_use]
    pub fn new(document: &SequenceDocument, least: usize) -> Self {
        let (tree, kept) = Outline::of(document).tree(least);
        let place = |sentence: usize| kept.partition_point(|&one| one < sentence);
        let ends = |ends: &[usize]| -> Vec<usize> {
            let ends = ends.iter().map(|&after| place(after));
            let mut ends: Vec<usize> = ends.filter(|&after| after > 0 && after < kept.len()).collect();
            ends.dedup();
            ends
        };
        let (boundaries, paragraphs) = (ends(&document.boundaries), document.paragraphs.as_deref().map(ends));
        let labels = document.segment_ranges().zip(&document.labels);
        let topics = labels.map(|(range, label)| (place(range.start), place(range.end), label.clone()));
        let topics = topics.filter(|(start, end, label)| start < end && !label.is_empty()).collect();
        let sentences = kept.iter().filter_map(|&i| document.sentences.get(i).cloned()).collect();
        let headings = kept.iter().map(|&i| document.headings.get(i).copied().unwrap_or(0)).collect();
        Self { id: document.id.clone(), sentences, headings, boundaries, paragraphs, tree, topics }
    }

    /// Adds a sentence to a run, with the `paragraphs` and the `headings` known as such or not.
    pub(super) fn add_to(&self, run: &mut Run, sentence: usize, paragraphs: bool, headings: bool) {
        let Some(text) = self.sentences.get(sentence) else { return };
        let ends = |ends: &[usize]| ends.binary_search(&(sentence + 1)).is_ok();
        let level = self.headings.get(sentence).copied().unwrap_or(0);
        let kind = if level > 0 && headings { Kind::Heading(level) } else { Kind::Prose };
        // Where none is known, every sentence is a paragraph.
        let paragraph = self.paragraphs.as_deref().filter(|_| paragraphs).is_none_or(ends);
        run.push(text, kind, ends(&self.boundaries), paragraph);
    }

    /// All that is known of the document, with its `paragraphs` or without.
    pub(super) fn run(&self, paragraphs: bool) -> Run {
        let mut run = Run::default();
        (0..self.sentences.len()).for_each(|sentence| self.add_to(&mut run, sentence, paragraphs, true));
        run
    }
}

/// What a step learns from: sentences of one document or several, and their tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Example {
    /// Documents, and sentences in them.
    pub(super) sentences: Vec<(usize, usize)>,
    pub(super) tree: Tree,
    /// Labelled segments, with the document and the place of the label in it.
    pub(super) topics: Vec<(usize, usize, (usize, usize))>,
}

impl Example {
    /// A document; where it has more than `limit` sentences, a part of it that begins with a segment.
    pub(super) fn of(documents: &[TreeDocument], document: usize, limit: usize, random: &mut SplitMix64) -> Self {
        let Some(one) = documents.get(document) else {
            return Self { sentences: Vec::new(), tree: Tree::flat(0), topics: Vec::new() };
        };
        let n = one.sentences.len();
        if n <= limit {
            return Self::part(one, document, 0, n);
        }
        let starts: Vec<usize> = std::iter::once(0).chain(one.boundaries.iter().copied()).collect();
        // A part near the end would be short.
        let early = starts.partition_point(|&start| start + limit / 2 <= n).max(1);
        let start = starts.get(random.below(early)).copied().unwrap_or(0);
        let most = (start + limit).min(n);
        // It ends with a segment where there is one that ends in its second half.
        let end = one.boundaries.iter().rev().copied().find(|&end| end <= most).filter(|&end| end > start + limit / 2);
        Self::part(one, document, start, if most == n { n } else { end.unwrap_or(most) })
    }

    /// The sentences `start..end` of a document.
    fn part(one: &TreeDocument, document: usize, start: usize, end: usize) -> Self {
        let topics = one.topics.iter().enumerate().filter(|(_, (s, e, _))| *s >= start && *e <= end);
        Self {
            sentences: (start..end).map(|sentence| (document, sentence)).collect(),
            tree: one.tree.slice(start, end),
            topics: topics.map(|(at, (s, e, _))| (s - start, e - start, (document, at))).collect(),
        }
    }

    /// A document made of others (Nair et al. 2023, section 4.3): two to four are drawn, each loses every other part of its root by
    /// chance, the rest is put in random order, and all come under a new root. It has at most `limit` sentences.
    pub(super) fn synthetic(documents: &[TreeDocument], limit: usize, random: &mut SplitMix64) -> Self {
        let mut made = Self { sentences: Vec::new(), tree: Tree::flat(0), topics: Vec::new() };
        let mut nodes = Vec::new();
        for _ in 0..2 + random.below(3) {
            let from = Self::of(documents, random.below(documents.len()), limit, random);
            let start = made.sentences.len();
            let mut parts = from.tree.children().into_iter().next().unwrap_or_default();
            random.shuffle(&mut parts);
            let mut kept: Vec<Node> = parts.iter().copied().filter(|_| random.below(2) == 0).collect();
            if kept.is_empty() {
                kept.extend(parts.first());
            }
            for part in kept {
                let at = made.sentences.len();
                if at + part.len() > limit {
                    continue;
                }
                let moved = |old: usize| old - part.start + at;
                made.sentences.extend(from.sentences.get(part.start..part.end).unwrap_or_default());
                // Text that stood before the sections and now follows one is a section of its own.
                nodes.push(Node { start: at, end: at + part.len(), level: 0 });
                let inside = from.tree.nodes().iter().filter(|n| n.start >= part.start && n.end <= part.end);
                nodes.extend(inside.map(|n| Node { start: moved(n.start), end: moved(n.end), level: n.level }));
                let topics = from.topics.iter().filter(|(start, end, _)| *start >= part.start && *end <= part.end);
                made.topics.extend(topics.map(|&(start, end, label)| (moved(start), moved(end), label)));
            }
            nodes.push(Node { start, end: made.sentences.len(), level: 0 });
        }
        let sentences = made.sentences.len();
        // Parts lie beside each other, so that nothing crosses.
        made.tree = Tree::new(sentences, nodes).unwrap_or_else(|_| Tree::flat(sentences));
        made
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use pericope_api::Kind;
    use pericope_segment::random::SplitMix64;

    use super::{Example, TreeDocument};
    use crate::corpus::{Headings, Record, SequenceDocument};

    /// A document of `sections` sections of four sentences, every third one a level deeper.
    fn document(id: &str, sections: usize) -> TreeDocument {
        let n = 4 * sections;
        let record = Record {
            id: id.into(),
            sentences: (0..n).map(|i| format!("{id} {i}")).collect(),
            boundaries: (1..sections).map(|s| 4 * s).collect(),
            levels: (1..sections).map(|s| if s % 3 == 2 { 2 } else { 1 }).collect(),
            labels: (0..sections).map(|s| format!("label {s}")).collect(),
            ..Record::default()
        };
        TreeDocument::new(&SequenceDocument::new(&record, Headings::Dropped), 3)
    }

    /// Every labelled segment of an example is a whole segment of its document, in order.
    fn check(example: &Example, documents: &[TreeDocument]) {
        assert_eq!(example.tree.len(), example.sentences.len());
        for &(start, end, (document, at)) in &example.topics {
            let (from, to, _) = &documents[document].topics[at];
            let expected: Vec<_> = (*from..*to).map(|sentence| (document, sentence)).collect();
            assert_eq!(example.sentences[start..end], expected);
        }
    }

    #[test]
    fn documents_become_trees() {
        let one = document("a", 6);
        assert_eq!((one.sentences.len(), one.topics.len(), one.boundaries.len()), (24, 6, 5));
        let spans: Vec<_> = one.tree.nodes().iter().map(|n| (n.start, n.end)).collect();
        assert_eq!(spans, [(0, 24), (0, 4), (4, 12), (8, 12), (12, 16), (16, 24), (20, 24)]);
        // The boundaries of the deepest level are those of the document.
        assert_eq!(one.tree.level(9), one.boundaries);
    }

    #[test]
    fn short_sections_are_left_out_with_their_labels() {
        let record = Record {
            sentences: (0..9).map(|i| i.to_string()).collect(),
            boundaries: vec![3, 5],
            labels: vec!["x".into(), "y".into(), "z".into()],
            ..Record::default()
        };
        let document = SequenceDocument::new(&record, Headings::Dropped);
        let one = TreeDocument::new(&document, 3);
        assert_eq!(one.sentences, ["0", "1", "2", "5", "6", "7", "8"]);
        assert_eq!(one.boundaries, [3]);
        assert_eq!(one.topics, [(0, 3, "x".into()), (3, 7, "z".into())]);
        assert_eq!(TreeDocument::new(&document, 0).boundaries, [3, 5]);
    }

    #[test]
    fn what_rows_are_made_of_is_kept() {
        let record = Record {
            sentences: (0..9).map(|i| i.to_string()).collect(),
            boundaries: vec![3, 4],
            headings: vec!["One".into(), "Two".into(), "Three".into()],
            paragraphs: vec![2, 3, 4, 6],
            ..Record::default()
        };
        let one = TreeDocument::new(&SequenceDocument::new(&record, Headings::Kept), 3);
        // The second section has a heading and a sentence, and is left out.
        assert_eq!(one.sentences, ["One", "0", "1", "2", "Three", "4", "5", "6", "7", "8"]);
        assert_eq!(
            (one.headings.as_slice(), one.boundaries.as_slice()),
            (&[1, 0, 0, 0, 1, 0, 0, 0, 0, 0][..], &[4][..])
        );
        assert_eq!(one.paragraphs.as_deref(), Some(&[1, 3, 4, 5, 7][..]));
        let run = one.run(true);
        assert_eq!(
            (run.sentences.as_slice(), run.ends.iter().position(|&end| end)),
            (one.sentences.as_slice(), Some(3))
        );
        let document = run.document();
        assert_eq!((document.sentences[4].kind, document.sentences[5].kind), (Kind::Heading(1), Kind::Prose));
        let paragraphs: Vec<u32> = document.sentences.iter().map(|sentence| sentence.paragraph).collect();
        assert_eq!(paragraphs, [0, 1, 1, 2, 3, 4, 4, 5, 5, 5]);
        // Where they are not known, every sentence is one.
        let paragraphs = one.run(false).document();
        assert!(paragraphs.sentences.iter().map(|sentence| sentence.paragraph).eq(0..10));
    }

    #[test]
    fn long_documents_give_parts_that_begin_with_a_segment() {
        let documents = [document("a", 30)];
        let mut random = SplitMix64::new(1);
        let mut starts = std::collections::BTreeSet::new();
        for _ in 0..50 {
            let example = Example::of(&documents, 0, 40, &mut random);
            check(&example, &documents);
            let first = example.sentences[0].1;
            assert!(first.is_multiple_of(4) && (20..=40).contains(&example.sentences.len()));
            starts.insert(first);
        }
        assert!(starts.len() > 5, "{starts:?}");
        assert_eq!(Example::of(&documents, 0, 400, &mut random).sentences.len(), 120);
    }

    #[test]
    fn synthetic_documents_are_parts_of_several_under_a_new_root() {
        let documents: Vec<TreeDocument> = (2..9).map(|i| document(&format!("d{i}"), i)).collect();
        let mut random = SplitMix64::new(2);
        let (mut several, mut moved) = (0, 0);
        for _ in 0..200 {
            let example = Example::synthetic(&documents, 60, &mut random);
            check(&example, &documents);
            assert!((1..=60).contains(&example.sentences.len()));
            // No sentence comes from two places, and no segment is torn apart.
            let mut last = None;
            for &(document, sentence) in &example.sentences {
                let goes_on = last == Some((document, sentence.wrapping_sub(1)));
                assert!(goes_on || sentence.is_multiple_of(4), "{:?}", example.sentences);
                moved += usize::from(last.is_some_and(|(d, s)| d == document && s > sentence));
                last = Some((document, sentence));
            }
            let joined: Vec<usize> = example.sentences.iter().map(|&(document, _)| document).collect();
            several += usize::from(joined.windows(2).any(|pair| pair[0] != pair[1]));
            // Where one document ends and another begins, a segment ends.
            let gaps = example.tree.gaps();
            let ends = joined.windows(2).zip(&gaps).filter(|(pair, _)| pair[0] != pair[1]);
            assert!(ends.into_iter().all(|(_, gap)| gap.is_some()));
        }
        assert!(several > 150 && moved > 50, "{several} {moved}");
        let again = |seed| Example::synthetic(&documents, 60, &mut SplitMix64::new(seed));
        assert_eq!(again(7), again(7));
        assert_ne!(again(7), again(8));
    }
}
