//! What a minimum promises, for segmenters of every kind.

use crate::support::Fake;
use pericope_api::{Document, Format, Kind};
use pericope_segment::{Limits, registry, spec::Spec};
use proptest::prelude::*;

/// Segmenters that score, decide, and cut inside sentences. None of them cuts inside words: each piece of a word counts as a
/// token of its own in the policy, and as less in the chunk.
const SPECS: [&str; 12] = [
    "structure",
    "structure:tau=0.2",
    "paragraph",
    "sentence",
    "window",
    "kamradt",
    "fusion",
    "c99",
    "texttiling",
    "random",
    "recursive:tokens=3",
    "fixed:words=3",
];

/// Sentences of so many words, some of them headings of a level (0: none).
fn document(parts: &[(usize, u8)]) -> Document {
    let text = |(i, &(words, _)): (usize, &(usize, u8))| {
        let words: Vec<String> =
            (0..words).map(|k| format!("{}{}", ["fox", "bread", "sail"][i / 4 % 3], k % 5)).collect();
        words.join(" ")
    };
    let texts: Vec<String> = parts.iter().enumerate().map(text).collect();
    let mut document = Document::from_sentences("d", &texts);
    document.format = Format::Markdown;
    for (sentence, &(_, level)) in document.sentences.iter_mut().zip(parts) {
        if level > 0 {
            sentence.kind = Kind::Heading(level);
        }
        sentence.paragraph /= 2;
    }
    document
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 80, ..ProptestConfig::default() })]
    #[test]
    fn a_chunk_under_the_minimum_fits_beside_none_of_its_neighbours(
        parts in proptest::collection::vec((1usize..14, prop_oneof![3 => Just(0u8), 1 => 1u8..4]), 1..24),
        min in 1usize..20,
        more in proptest::option::of(0usize..30),
        target in proptest::option::weighted(0.2, 5usize..30),
    ) {
        let document = document(&parts);
        let max = more.map(|more| min + more);
        let overrides = Limits { max_tokens: max.or(Some(0)), min_tokens: Some(min), target_tokens: target, overlap: None };
        for spec in SPECS {
            let chunker = registry::build(&Spec::parse(spec).unwrap(), &Fake { overrides }).unwrap();
            let chunks = chunker.chunks(&document).unwrap();
            // A target without a maximum bounds chunks by itself.
            let bound = max.or(target.map(|target| 8 * target)).unwrap_or(usize::MAX);
            for pair in chunks.windows(2) {
                let joined = chunker.counter().count(document.text(pair[0].span.hull(&pair[1].span)));
                let is_short = pair.iter().any(|chunk| chunk.tokens < min);
                prop_assert!(!is_short || joined > bound, "{spec}: {} and {}", pair[0].tokens, pair[1].tokens);
            }
        }
    }
}
