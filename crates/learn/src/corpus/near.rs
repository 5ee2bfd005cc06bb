//! Near copies: documents that share much of their text, word for word.

use std::collections::HashMap;

use pericope_segment::kernels::fixed_words;
use rayon::prelude::*;
use twox_hash::XxHash3_64;

/// Words of a run; two documents that share several runs of thirteen have copied.
const RUN: usize = 13;

/// One run in so many is looked at, the same ones in every document.
const EVERY: u64 = 4;

/// Documents that share a run up to which every two of them are compared. A run of more is a phrase of many pages, or a page
/// of many versions: then each document is compared with the next one alone, which is enough to join versions.
const MANY: usize = 20;

/// The share of the smaller document's runs, 0..=1, from which on two documents are near copies.
const SHARE: f64 = 0.3;

/// Runs (of those looked at) that near copies share at least: some 25 words.
const FEWEST: u32 = 3;

/// What is kept of a document's text to find its near copies.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shingles {
    /// Hashes of the runs that are looked at, ascending, each once.
    runs: Vec<u64>,
    /// The hash of all words.
    whole: u64,
}

impl Shingles {
    /// Looks at the words of a document's sentences: letters and digits, in lower case. What stands between two marks in a script
    /// without spaces is several words, as a dictionary has them.
    pub fn of<'a>(sentences: impl IntoIterator<Item = &'a str>) -> Self {
        let hash = |word: &str| XxHash3_64::oneshot(word.to_lowercase().as_bytes());
        let mut words: Vec<u64> = Vec::new();
        for sentence in sentences {
            for word in sentence.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
                if word.is_ascii() {
                    words.push(hash(word));
                } else {
                    words.extend(fixed_words(word, 1).into_iter().map(|span| hash(span.of(word))));
                }
            }
        }
        let mut runs: Vec<u64> = words.windows(RUN).map(together).filter(|run| run % EVERY == 0).collect();
        runs.sort_unstable();
        runs.dedup();
        Self { runs, whole: together(&words) }
    }
}

/// One hash for a run of words.
fn together(words: &[u64]) -> u64 {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    XxHash3_64::oneshot(&bytes)
}

/// Gives each document the smallest index in its group of near copies. Two documents are near copies where the smaller one
/// has three tenths of its runs of thirteen words in the other, or where all words are the same; a near copy of a near
/// copy is in the group too. Of pages that share their phrases with more than twenty others, which ones are compared depends
/// on the order.
#[must_use]
pub fn groups(documents: &[&Shingles]) -> Vec<usize> {
    let mut joined = Groups { parents: (0..documents.len()).collect() };
    let mut wholes: Vec<(u64, usize)> = documents.iter().enumerate().map(|(i, one)| (one.whole, i)).collect();
    wholes.sort_unstable();
    for (a, b) in wholes.iter().zip(wholes.iter().skip(1)) {
        if a.0 == b.0 {
            joined.join(a.1, b.1);
        }
    }
    let mut places: Vec<(u64, u32)> = Vec::with_capacity(documents.iter().map(|one| one.runs.len()).sum());
    for (i, one) in (0..).zip(documents) {
        places.extend(one.runs.iter().map(|&run| (run, i)));
    }
    places.par_sort_unstable();
    let mut shared: HashMap<(u32, u32), u32> = HashMap::new();
    for sharing in places.chunk_by(|a, b| a.0 == b.0) {
        let reach = if sharing.len() > MANY { 1 } else { sharing.len() };
        for (i, (_, a)) in sharing.iter().enumerate() {
            for (_, b) in sharing.iter().skip(i + 1).take(reach) {
                *shared.entry((*a, *b)).or_default() += 1;
            }
        }
    }
    let runs = |i: u32| documents.get(i as usize).map_or(0, |one| one.runs.len());
    for (&(a, b), &count) in &shared {
        if count >= FEWEST && f64::from(count) >= SHARE * runs(a).min(runs(b)) as f64 {
            joined.join(a as usize, b as usize);
        }
    }
    (0..documents.len()).map(|i| joined.root(i)).collect()
}

/// Union-find, in which the smallest index stands for its group.
struct Groups {
    parents: Vec<usize>,
}

impl Groups {
    fn root(&mut self, mut i: usize) -> usize {
        while let Some(&parent) = self.parents.get(i)
            && parent != i
        {
            let above = self.parents.get(parent).copied().unwrap_or(parent);
            if let Some(own) = self.parents.get_mut(i) {
                *own = above;
            }
            i = above;
        }
        i
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        if let Some(parent) = self.parents.get_mut(a.max(b)) {
            *parent = a.min(b);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::{Groups, Shingles, groups};

    /// `words` words of a language with 5,000 of them, the same for the same seed.
    fn text(seed: u64, words: usize) -> Vec<String> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            format!("w{}", state % 5_000)
        };
        (0..words).map(|_| next()).collect()
    }

    fn shingles(words: &[String]) -> Shingles {
        let sentences: Vec<String> = words.chunks(9).map(|words| words.join(" ")).collect();
        Shingles::of(sentences.iter().map(String::as_str))
    }

    fn grouped(documents: &[Vec<String>]) -> Vec<usize> {
        let all: Vec<Shingles> = documents.iter().map(|words| shingles(words)).collect();
        groups(&all.iter().collect::<Vec<_>>())
    }

    #[test]
    fn near_copies_are_joined_and_others_are_not() {
        let base = text(1, 800);
        // Every hundredth word is another one.
        let near: Vec<String> =
            base.iter().enumerate().map(|(i, w)| if i % 100 == 50 { "other".to_owned() } else { w.clone() }).collect();
        let part = base[200..600].to_vec();
        // A paragraph of eighty words in common.
        let quoting = [&text(2, 400)[..], &base[..80], &text(3, 400)].concat();
        let found = grouped(&[base, text(4, 800), near, quoting, part]);
        assert_eq!(found, [0, 1, 0, 3, 0]);
    }

    #[test]
    fn the_same_words_in_short_texts_and_in_capitals() {
        let one = Shingles::of(["A short text, no more."]);
        let two = Shingles::of(["a SHORT text", "(no more)"]);
        let three = Shingles::of(["A short text, no less."]);
        assert_eq!(groups(&[&three, &one, &two]), [0, 1, 1]);
        assert_eq!(groups(&[]), [0; 0]);
    }

    /// Thirty letters without a space or a mark between them.
    fn unspaced(seed: u64) -> String {
        let letters: Vec<char> =
            "春夏秋冬山川草木花鳥風月日水火土金天地人心手足目耳口東西南北上中下大小多少".chars().collect();
        let number = |word: &String| word.trim_start_matches('w').parse::<usize>().unwrap();
        text(seed, 30).iter().map(|word| letters[number(word) % letters.len()]).collect()
    }

    #[test]
    fn near_copies_are_joined_in_scripts_without_spaces() {
        let page = |from: u64| (from..from + 12).map(unspaced).collect::<Vec<String>>();
        let base = page(1);
        // Two of twelve sentences are other ones.
        let mut near = base.clone();
        near[2] = unspaced(900);
        near[7] = unspaced(901);
        let all = [base, page(500), near].map(|lines| Shingles::of(lines.iter().map(String::as_str)));
        assert_eq!(groups(&all.iter().collect::<Vec<_>>()), [0, 1, 0]);
    }

    #[test]
    fn time_is_linear_in_a_run_without_marks() {
        // In the square of its length this takes minutes.
        let run: String = (0..2_000).map(unspaced).collect();
        assert!(Shingles::of([run.as_str()]).runs.len() > 2_000);
    }

    #[test]
    fn versions_of_a_page_are_joined_however_many_and_boilerplate_joins_nothing() {
        let page = text(5, 600);
        let versions = (0..60).map(|i| [&page[..], &text(100 + i, 60)].concat());
        let found = grouped(&versions.collect::<Vec<_>>());
        assert!(found.iter().all(|&group| group == 0), "{found:?}");
        let notice = text(6, 60);
        let pages = (0..60).map(|i| [&notice[..], &text(200 + i, 600)].concat());
        let found = grouped(&pages.collect::<Vec<_>>());
        assert!(found.iter().enumerate().all(|(i, &group)| group == i), "{found:?}");
    }

    proptest! {
        #[test]
        fn groups_are_those_of_the_connected_pairs(n in 1usize..30, pairs in prop::collection::vec((0usize..30, 0usize..30), 0..40)) {
            let pairs: Vec<(usize, usize)> = pairs.into_iter().filter(|&(a, b)| a < n && b < n).collect();
            let mut found = Groups { parents: (0..n).collect() };
            pairs.iter().for_each(|&(a, b)| found.join(a, b));
            // By spreading the smallest index until nothing changes.
            let mut wanted: Vec<usize> = (0..n).collect();
            for _ in 0..n {
                for &(a, b) in &pairs {
                    let low = wanted[a].min(wanted[b]);
                    wanted[a] = low;
                    wanted[b] = low;
                }
            }
            prop_assert_eq!((0..n).map(|i| found.root(i)).collect::<Vec<_>>(), wanted);
        }

        #[test]
        fn the_order_of_documents_changes_no_group(order in Just((0..8usize).collect::<Vec<_>>()).prop_shuffle()) {
            let base = text(7, 300);
            let documents: Vec<Vec<String>> = (0..8).map(|i| match i % 3 {
                0 => [&base[..], &text(300 + i, 100)].concat(),
                _ => text(300 + i, 300),
            }).collect();
            let straight = grouped(&documents);
            let shuffled = grouped(&order.iter().map(|&i| documents[i].clone()).collect::<Vec<_>>());
            for (a, &i) in order.iter().enumerate() {
                for (b, &j) in order.iter().enumerate() {
                    prop_assert_eq!(shuffled[a] == shuffled[b], straight[i] == straight[j]);
                }
            }
        }
    }
}
