//! Where else an answer stands, word for word or nearly so.

use std::collections::{HashMap, HashSet};

use pericope_api::{Document, Span};
use rayon::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

/// Words of a run that is looked for; shorter answers are looked for as a whole.
const RUN: usize = 5;
/// The share of an answer's runs, 0..=1, from which on another place says the same.
pub const COPIED: f64 = 0.8;

/// Another place that says nearly the same as an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Copy {
    /// Index of the document that says most of it; the answer's own where it stands twice there.
    pub document: usize,
    /// The share of the answer's runs of five words that stand there, 0..=1.
    pub share: f64,
}

/// An answer's runs of words.
struct Wanted {
    /// Words of a run.
    run: usize,
    /// Distinct runs.
    runs: usize,
}

/// For each answer (index of its document, bytes of the source) the other place that says most of it, where that is at
/// least [`COPIED`] of it: another document, or the rest of its own. Takes time linear in the text.
#[must_use]
pub fn copies(documents: &[Document], answers: &[(usize, Span)]) -> Vec<Option<Copy>> {
    let mut wanted = Vec::with_capacity(answers.len());
    let mut by_run: HashMap<(usize, u64), Vec<usize>> = HashMap::new();
    for (number, (document, span)) in answers.iter().enumerate() {
        let text = documents.get(*document).map_or("", |d| d.text(*span));
        let words: Vec<u64> = text.unicode_words().map(hash).collect();
        let run = words.len().clamp(1, RUN);
        let distinct: HashSet<u64> = words.windows(run).map(together).collect();
        wanted.push(Wanted { run, runs: distinct.len() });
        for one in distinct {
            by_run.entry((run, one)).or_default().push(number);
        }
    }
    let mut lengths: Vec<usize> = wanted.iter().map(|w| w.run).collect();
    lengths.sort_unstable();
    lengths.dedup();
    let found: Vec<Vec<(usize, usize)>> = (documents.par_iter().enumerate())
        .map(|(at, document)| in_document(at, document, answers, &lengths, &by_run))
        .collect();
    let mut best: Vec<Option<Copy>> = vec![None; answers.len()];
    for (document, held) in found.into_iter().enumerate() {
        for (number, runs) in held {
            let Some((wanted, best)) = wanted.get(number).zip(best.get_mut(number)) else { continue };
            let share = runs as f64 / wanted.runs.max(1) as f64;
            if share >= COPIED && best.is_none_or(|best| share > best.share) {
                *best = Some(Copy { document, share });
            }
        }
    }
    best
}

/// How many distinct runs of each answer a document holds, outside of the answer itself.
fn in_document(
    at: usize,
    document: &Document,
    answers: &[(usize, Span)],
    lengths: &[usize],
    by_run: &HashMap<(usize, u64), Vec<usize>>,
) -> Vec<(usize, usize)> {
    let (places, words): (Vec<usize>, Vec<u64>) =
        document.source.unicode_word_indices().map(|(place, word)| (place, hash(word))).unzip();
    let mut held: HashMap<usize, HashSet<u64>> = HashMap::new();
    for &length in lengths {
        for (first, run) in words.windows(length).enumerate() {
            let one = together(run);
            let Some(numbers) = by_run.get(&(length, one)) else { continue };
            let (from, to) = (places.get(first), places.get(first + length - 1));
            for &number in numbers {
                let is_own = answers.get(number).is_some_and(|(document, span)| {
                    *document == at
                        && from.is_some_and(|from| *from < span.end)
                        && to.is_some_and(|to| *to >= span.start)
                });
                if !is_own {
                    held.entry(number).or_default().insert(one);
                }
            }
        }
    }
    let mut held: Vec<(usize, usize)> = held.into_iter().map(|(number, runs)| (number, runs.len())).collect();
    held.sort_unstable();
    held
}

/// FNV-1a of a word in lower case.
fn hash(word: &str) -> u64 {
    let mut letter = [0; 4];
    let low = word.chars().flat_map(char::to_lowercase);
    low.fold(0xcbf2_9ce4_8422_2325, |hash, c| {
        c.encode_utf8(&mut letter)
            .bytes()
            .fold(hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    })
}

/// One number for a run of words.
fn together(run: &[u64]) -> u64 {
    run.iter()
        .fold(0x9e37_79b9_7f4a_7c15, |hash, word| (hash ^ word).wrapping_mul(0xbf58_476d_1ce4_e5b9).rotate_left(29))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_and_near_copies_are_found_outside_of_the_answer() {
        let answer = "The keeper polished the brass lamp before every storm of the long winter night.";
        let near = answer.replace("brass", "old");
        let documents = [
            Document::from_sentences("a", &["First words.", answer]),
            Document::from_sentences("b", &["Other words.", &answer.to_uppercase()]),
            Document::from_sentences("c", &[&near]),
            Document::from_sentences("d", &["Quorum: three.", "Something else.", "Quorum: three."]),
        ];
        let of = |document: usize, start: usize, end: usize| (document, Span::new(start, end));
        let whole = documents[0].source.len();
        let found = copies(&documents, &[of(0, 13, whole), of(0, 0, 12), of(3, 0, 14)]);
        assert_eq!(found[0], Some(Copy { document: 1, share: 1.0 }));
        assert_eq!(found[1], None);
        assert_eq!(found[2], Some(Copy { document: 3, share: 1.0 }), "twice in its own document");
        let without_b = [documents[0].clone(), documents[2].clone()];
        // Five of the ten runs hold the word that differs.
        assert_eq!(copies(&without_b, &[of(0, 13, whole)]), [None]);
    }
}
