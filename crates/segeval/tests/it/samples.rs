//! A small evaluation for tests.

use std::sync::Arc;

use pericope_api::{Boundaries, Document, SegmentError, Segmentation, Segmenter};
use pericope_segment::Chunker;
use pericope_segment::counters::WordCounter;
use pericope_segment::policy::SizePolicy;

use pericope_segeval::evaluate::{Evaluation, System, evaluate};
use pericope_segeval::read::{Segmented, Set};

/// High scores after every fourth sentence, or nowhere.
struct Fours(bool);

impl Segmenter for Fours {
    fn segment(&self, document: &Document) -> Result<Segmentation, SegmentError> {
        let scores = (1..document.len()).map(|i| if self.0 && i % 4 == 0 { 0.9 } else { 0.1 }).collect();
        Ok(Segmentation::Scores { scores, threshold: 0.5 })
    }
}

/// `one` with three documents and `two` with one.
pub fn sets() -> Vec<Set> {
    let document = |id: &str, n: usize, after: &[usize]| Segmented {
        document: Document::from_sentences(id, &vec!["A sentence."; n]),
        reference: Boundaries::new(n, after.to_vec()).unwrap(),
        labels: Vec::new(),
    };
    let one = vec![document("d0", 12, &[4, 8]), document("d1", 12, &[4, 9]), document("d2", 16, &[2, 5, 8, 12])];
    vec![
        Set { name: "one".into(), documents: one, skipped: vec!["one.jsonl:3: bad".into()], ..Set::default() },
        Set { name: "two".into(), documents: vec![document("e0", 9, &[4])], skipped: Vec::new(), ..Set::default() },
    ]
}

/// `near`, told and not, and `none` on both.
pub fn evaluation() -> Evaluation {
    let chunker = |cuts| Chunker::new(Box::new(Fours(cuts)), SizePolicy::default(), Arc::new(WordCounter));
    let (near, none) = (chunker(true), chunker(false));
    let systems = [("near", &near, false), ("near", &near, true), ("none", &none, false)]
        .map(|(name, chunker, known_count)| System { name: name.into(), chunker, known_count });
    evaluate(&sets(), &systems, &|_: &System<'_>, _: &str| {}).unwrap()
}
