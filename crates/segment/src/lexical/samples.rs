//! Checks that every lexical segmenter passes.
#![allow(clippy::unwrap_used, clippy::panic)]

use pericope_api::{Boundaries, Document, Kind, Segmentation, Segmenter, segment_into};

/// Three topics of 12, 20 and 9 sentences.
pub(super) fn topics() -> Document {
    let topics = [
        (12, "ship sail rope mast harbour captain deck voyage anchor storm wave crew"),
        (20, "bread flour yeast oven loaf dough crust baker butter salt kneading grain"),
        (9, "piano chord melody concert violin tempo rhythm composer opera tune singer drum"),
    ];
    let mut sentences = Vec::new();
    for (count, words) in topics {
        let words: Vec<&str> = words.split(' ').collect();
        for i in 0..count {
            let word = |step: usize| words[(i * step + step) % words.len()];
            sentences.push(format!(
                "The {} was with the {} and some {}, but the {}.",
                word(1),
                word(5),
                word(7),
                word(2)
            ));
        }
    }
    Document::from_sentences("topics", &sentences)
}

fn scores(segmenter: &dyn Segmenter, document: &Document) -> Vec<f64> {
    let Segmentation::Scores { scores, threshold } = segmenter.segment(document).unwrap() else { panic!("not scores") };
    assert_eq!(threshold, 0.5);
    assert_eq!(scores.len(), document.len().saturating_sub(1));
    assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)), "{scores:?}");
    scores
}

/// Finds three topics without and with their number, and has an answer for documents with nothing to find.
pub(super) fn check(segmenter: &dyn Segmenter) {
    let mut document = topics();
    let found = scores(segmenter, &document);
    let both =
        |found: &[usize]| found.len() <= 3 && (found.contains(&11) || found.contains(&12)) && found.contains(&32);
    assert!(both(Boundaries::above(&found, 0.5).after()), "{found:?}");
    assert_eq!(Boundaries::top(&found, 2).after(), [12, 32]);
    for segments in [0, 1, 2, 3, 4, 41, 42, usize::MAX] {
        let known = segment_into(segmenter, &document, segments).unwrap();
        assert_eq!(known.segments(), segments.clamp(1, 41), "{segments}");
        if segments == 3 {
            assert_eq!(known.after(), [12, 32]);
        }
    }
    // A block of code goes with what is before it or after it.
    document.sentences[11].kind = Kind::Code;
    let found = Boundaries::above(&scores(segmenter, &document), 0.5);
    assert!(both(found.after()), "{found:?}");

    for sentences in [&[][..], &["Ships."], &["Ships.", "Ships."], &["...", "!!!", "1999", "of the"]] {
        let document = Document::from_sentences("d", sentences);
        assert!(scores(segmenter, &document).iter().all(|&score| score <= 0.5), "{sentences:?}");
        for segments in 0..6 {
            let known = segment_into(segmenter, &document, segments).unwrap();
            assert_eq!(known.segments(), segments.clamp(1, sentences.len().max(1)).min(sentences.len()));
        }
    }
}
