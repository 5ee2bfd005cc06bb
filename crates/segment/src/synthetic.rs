//! Documents whose segmentation is known: parts of unrelated documents, one after the other.

use std::ops::RangeInclusive;

use pericope_api::Boundaries;

use crate::random::SplitMix64;

/// The recipe by which synthetic documents are put together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipe {
    /// Number of documents.
    pub documents: usize,
    /// Parts a document, each from another source.
    pub parts: usize,
    /// Sentences that a part may have: the number is drawn from this range, and so is where in its source it begins.
    /// `None`: whole sources.
    pub sentences: Option<RangeInclusive<usize>>,
    /// The seed: the same seed, recipe and sources give the same documents.
    pub seed: u64,
}

impl Default for Recipe {
    fn default() -> Self {
        Self { documents: 100, parts: 4, sentences: None, seed: 0 }
    }
}

/// A document put together from others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Synthetic {
    /// The sentences in order.
    pub sentences: Vec<String>,
    /// The boundaries at the joins.
    pub boundaries: Boundaries,
    /// The source of each part, as an index into those given.
    pub sources: Vec<usize>,
}

/// Puts documents together from `sources`, each a list of sentences.
///
/// A document's parts are from different sources. Sources are dealt like cards: none is used a second time before all
/// have been used, so far as a document's parts can still be different. Sources with no sentence, or with fewer than the
/// recipe's least number, are not used. Where fewer than `parts` sources are left, documents have as many parts as
/// there are sources; where none is, there are no documents.
///
/// ```
/// use pericope_segment::synthetic::{Recipe, concatenations};
///
/// let sources = [vec!["One a.".to_owned(), "Two a.".to_owned()], vec!["One b.".to_owned()]];
/// let found = concatenations(&sources, &Recipe { documents: 1, parts: 2, ..Recipe::default() });
/// assert_eq!(found[0].sentences.len(), 3);
/// assert_eq!(found[0].boundaries.segments(), 2);
/// ```
#[must_use]
pub fn concatenations(sources: &[Vec<String>], recipe: &Recipe) -> Vec<Synthetic> {
    let usable = usable(sources, recipe);
    let parts = recipe.parts.min(usable.len());
    if parts == 0 {
        return Vec::new();
    }
    let mut random = SplitMix64::new(recipe.seed);
    let mut deck: Vec<usize> = Vec::new();
    (0..recipe.documents)
        .map(|_| {
            let chosen = deal(&mut deck, &usable, parts, &mut random);
            let mut sentences = Vec::new();
            let mut after = Vec::new();
            for &source in &chosen {
                after.push(sentences.len());
                sentences.extend_from_slice(part(&sources[source], recipe.sentences.as_ref(), &mut random));
            }
            let after = after.split_off(1);
            let n = sentences.len();
            let boundaries = Boundaries::new(n, after).unwrap_or_else(|_| Boundaries::none(n));
            Synthetic { sentences, boundaries, sources: chosen }
        })
        .collect()
}

/// Returns the sources, as indexes, that have enough sentences for a recipe. With fewer of them than its parts,
/// [`concatenations`] makes documents of fewer parts.
#[must_use]
pub fn usable(sources: &[Vec<String>], recipe: &Recipe) -> Vec<usize> {
    let least = recipe.sentences.as_ref().map_or(1, |range| *range.start()).max(1);
    sources.iter().enumerate().filter(|(_, source)| source.len() >= least).map(|(at, _)| at).collect()
}

/// The next `parts` different sources; a new deck is shuffled when the old one has run out.
fn deal(deck: &mut Vec<usize>, usable: &[usize], parts: usize, random: &mut SplitMix64) -> Vec<usize> {
    let mut chosen: Vec<usize> = Vec::with_capacity(parts);
    while chosen.len() < parts {
        // Cards that this document has already, from the end of the old deck, stay in the new one.
        match deck.iter().rposition(|card| !chosen.contains(card)) {
            Some(place) => chosen.push(deck.remove(place)),
            None => {
                let mut new = usable.to_vec();
                random.shuffle(&mut new);
                new.append(deck);
                *deck = new;
            }
        }
    }
    chosen
}

/// The whole source, or a run of its sentences whose length is in the range (and at most the source's).
fn part<'a>(source: &'a [String], range: Option<&RangeInclusive<usize>>, random: &mut SplitMix64) -> &'a [String] {
    let Some(range) = range else { return source };
    let (least, most) = ((*range.start()).max(1), (*range.end()).min(source.len()));
    let length = least + random.below((most + 1).saturating_sub(least));
    let length = length.min(source.len());
    let start = random.below(source.len() - length + 1);
    &source[start..start + length]
}

#[cfg(test)]
mod tests {
    use super::{Recipe, concatenations};

    /// Sources of 1, 2, .. n sentences, each saying which it is.
    fn sources(n: usize) -> Vec<Vec<String>> {
        (1..=n).map(|i| (0..i).map(|j| format!("{i}.{j}")).collect()).collect()
    }

    #[test]
    fn parts_are_runs_of_different_sources() {
        let sources = sources(12);
        for sentences in [None, Some(3..=5), Some(0..=2)] {
            let recipe = Recipe { documents: 50, parts: 4, sentences, seed: 9 };
            let found = concatenations(&sources, &recipe);
            assert_eq!(found.len(), 50);
            for document in &found {
                assert_eq!(document.boundaries.sentences(), document.sentences.len());
                assert_eq!(document.boundaries.segments(), 4);
                for (range, &source) in document.boundaries.ranges().zip(&document.sources) {
                    let part = &document.sentences[range];
                    assert!(sources[source].windows(part.len()).any(|run| run == part));
                    match &recipe.sentences {
                        None => assert_eq!(part.len(), sources[source].len()),
                        Some(range) => assert!(range.contains(&part.len())),
                    }
                }
                let mut different = document.sources.clone();
                different.sort_unstable();
                different.dedup();
                assert_eq!(different.len(), 4);
            }
            assert_eq!(found, concatenations(&sources, &recipe));
            assert_ne!(found, concatenations(&sources, &Recipe { seed: 10, ..recipe }));
        }
    }

    #[test]
    fn all_sources_are_used_before_one_is_used_again() {
        let found = concatenations(&sources(12), &Recipe { documents: 3, parts: 4, ..Recipe::default() });
        let mut used: Vec<usize> = found.iter().flat_map(|d| d.sources.clone()).collect();
        used.sort_unstable();
        assert!(used.into_iter().eq(0..12));
    }

    #[test]
    fn too_few_sources() {
        let recipe = Recipe { documents: 2, parts: 5, ..Recipe::default() };
        assert_eq!(concatenations(&sources(3), &recipe)[1].boundaries.segments(), 3);
        assert!(concatenations(&[], &recipe).is_empty());
        assert!(concatenations(&[Vec::new()], &recipe).is_empty());
        let long = Recipe { sentences: Some(3..=9), ..recipe };
        assert_eq!(concatenations(&sources(3), &long)[0].sentences, ["3.0", "3.1", "3.2"]);
        assert!(concatenations(&sources(3), &Recipe { parts: 0, ..long }).is_empty());
    }
}
