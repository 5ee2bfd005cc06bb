//! The segmentations that a tree holds.

use std::sync::Arc;

use pericope_api::{Document, Kind, Segmenter, Span, segment_into};
use pericope_learn::hiercrf::CutBy;
use pericope_learn::registry;
use pericope_segment::counters::WordCounter;
use pericope_segment::spec::Spec;

use super::fixtures::{Topics, With, boundaries, check_laws, folder, read, segmenter};

#[test]
fn every_cut_keeps_the_laws() {
    for rest in [
        "",
        ",level=1",
        ",level=3,max_tokens=20",
        ",level=size,max_tokens=25",
        ",tau=0.3,min_tokens=10",
        ",level=scores",
    ] {
        let spec = Spec::parse(&format!("hiercrf:model={}{rest}", folder())).unwrap();
        let chunker = registry::build(&spec, &With(Arc::new(Topics::default()))).unwrap();
        assert!(chunker.fingerprint().starts_with("hiercrf:"));
        check_laws(&chunker, rest);
    }
}

#[test]
fn cuts_refine_each_other_and_fit_the_size() {
    let (document, _) = read("cuts", 12);
    let by = |cut: CutBy| boundaries(&segmenter().with(cut), &document);
    let levels: Vec<Vec<usize>> = (1..5).map(|level| by(CutBy::Level(level))).collect();
    assert!(!levels[0].is_empty());
    for pair in levels.windows(2) {
        assert!(pair[0].iter().all(|after| pair[1].contains(after)), "{levels:?}");
    }
    // A sentence has three words.
    let size = |max: usize| by(CutBy::Size { max, counter: Arc::new(WordCounter) });
    let tree = segmenter().read(&document).unwrap().tree;
    assert_eq!(size(3 * document.len()), Vec::<usize>::new());
    for most in [30, 14, 8] {
        let found = size(3 * most);
        assert_eq!(found, tree.cut(|node| node.len() <= most));
        let ends: Vec<usize> = [&[0], &found[..], &[document.len()]].concat();
        for pair in ends.windows(2) {
            // Longer only where the tree has nothing to cut at.
            let open =
                tree.nodes().iter().any(|n| n.start >= pair[0] && n.end <= pair[1] && n.len() < pair[1] - pair[0]);
            assert!(pair[1] - pair[0] <= most || !open, "{pair:?} of {found:?}");
        }
    }
    // The number known: the coarsest cut that has it.
    for level in &levels {
        let known = segment_into(&segmenter().with(CutBy::Level(1)), &document, level.len() + 1).unwrap();
        assert_eq!(known.after(), &level[..]);
    }
    for segments in [1, 2, document.len(), document.len() + 9] {
        let known = segment_into(&segmenter().with(CutBy::Level(1)), &document, segments).unwrap();
        assert_eq!(known.after().len(), segments.min(document.len()) - 1);
    }
}

#[test]
fn trees_are_told_in_bytes() {
    let (mut document, _) = read("json", 6);
    document.sentences[2].kind = Kind::Code;
    let segmenter = segmenter();
    let (found, names) = (segmenter.read(&document).unwrap(), &segmenter.model().settings().topics);
    let trees = segmenter.trees().unwrap();
    let root = trees.tree(&document).unwrap();
    assert_eq!((root.span, root.score), (Span::new(0, document.source.len()), None));
    let mut open = vec![&root];
    let mut leaves = Vec::new();
    while let Some(node) = open.pop() {
        let begins = document.sentences.iter().position(|sentence| sentence.span.start == node.span.start).unwrap();
        assert_eq!(node.score, begins.checked_sub(1).map(|gap| found.scores[gap]));
        assert!(node.label.as_ref().is_some_and(|label| names.contains(&label.name) && label.probability > 0.4));
        match &node.children[..] {
            [] => leaves.push(node.span),
            [first, .., last] => {
                assert_eq!(first.span.hull(&last.span), node.span);
                open.extend(node.children.iter().rev());
            }
            [_] => panic!("one child"),
        }
    }
    // One line end between two segments.
    assert!(leaves.len() > 2 && leaves.windows(2).all(|pair| pair[0].end + 1 == pair[1].start), "{leaves:?}");
    let empty = trees.tree(&Document::from_sentences::<&str>("e", &[])).unwrap();
    assert_eq!(serde_json::to_string(&empty).unwrap(), r#"{"start":0,"end":0}"#);
}
