//! Which candidates become questions: kinds and documents take turns.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use pericope_api::{Document, Kind, Span};

use super::candidate::Candidate;
use super::corpus::Corpus;
use super::options::Dropped;
use super::{DraftOptions, Drafted, QuestionKind};

/// The share of words that two queries have in common, 0..=1, from which on they are one question.
const SAME: f64 = 0.8;
/// At most one in so many headings of a document is taken out.
const ONE_IN: usize = 2;

/// Candidates of one kind, by document; each document's are in random order.
struct Heap {
    kind: QuestionKind,
    left: BTreeMap<usize, Vec<Candidate>>,
    /// Documents by the questions that they have, and their random rank.
    order: BTreeSet<(usize, usize, usize)>,
}

/// Takes candidates until there are enough: sections and facts take turns, within each their kinds do, and within a kind
/// the document with the fewest questions comes next; of several the first in `order`.
pub(super) fn deal(
    corpus: &Corpus<'_>,
    candidates: Vec<Candidate>,
    order: &[usize],
    options: &DraftOptions,
    out: &mut Drafted,
) -> Vec<Candidate> {
    let mut groups: [VecDeque<Heap>; 2] = Default::default();
    let [sections, facts] = &mut groups;
    for &kind in &options.kinds {
        let group = if kind.asks_for_a_section() { &mut *sections } else { &mut *facts };
        group.push_back(Heap { kind, left: BTreeMap::new(), order: BTreeSet::new() });
    }
    for candidate in candidates {
        if let Some(heap) = groups.iter_mut().flatten().find(|heap| heap.kind == candidate.kind) {
            heap.left.entry(candidate.document).or_default().push(candidate);
        }
    }
    for (rank, &document) in order.iter().enumerate() {
        groups.iter_mut().flatten().filter(|heap| heap.left.contains_key(&document)).for_each(|heap| {
            heap.order.insert((0, rank, document));
        });
    }
    let mut dealt = Dealt::default();
    while dealt.taken.len() < options.questions && groups.iter().flatten().any(|heap| !heap.order.is_empty()) {
        for group in &mut groups {
            // A kind that has no more leaves its turns to the others of its group.
            group.retain(|heap| !heap.order.is_empty());
            if let Some(mut heap) = group.pop_front().filter(|_| dealt.taken.len() < options.questions) {
                heap.take(corpus, &mut dealt, out);
                group.push_back(heap);
            }
        }
    }
    dealt.taken
}

#[derive(Default)]
struct Dealt {
    taken: Vec<Candidate>,
    /// The stems of each query.
    stems: Vec<Box<[u32]>>,
    /// Queries by stem.
    by_stem: HashMap<u32, Vec<usize>>,
    /// Headings that are taken out, by document.
    masks: HashMap<usize, BTreeSet<usize>>,
    /// The answers, with their documents.
    answers: HashSet<(usize, Span)>,
    /// Questions of each document.
    counts: HashMap<usize, usize>,
}

impl Heap {
    /// Takes the next candidate that fits to those that are taken.
    fn take(&mut self, corpus: &Corpus<'_>, dealt: &mut Dealt, out: &mut Drafted) {
        while let Some((count, rank, document)) = self.order.pop_first() {
            // It may have got questions of other kinds since.
            let now = dealt.counts.get(&document).copied().unwrap_or(0);
            if now > count {
                self.order.insert((now, rank, document));
                continue;
            }
            let Some(candidates) = self.left.get_mut(&document) else { continue };
            while let Some(candidate) = candidates.pop() {
                match dealt.check(corpus, &candidate) {
                    Ok(stems) => {
                        dealt.add(candidate, stems);
                        if !candidates.is_empty() {
                            self.order.insert((now + 1, rank, document));
                        }
                        return;
                    }
                    Err(Some(why)) => out.drop_one(why),
                    Err(None) => {}
                }
            }
        }
    }
}

impl Dealt {
    /// The stems of a candidate that can be added; `Err(None)`: its document has given enough of its headings.
    fn check(&self, corpus: &Corpus<'_>, candidate: &Candidate) -> Result<Box<[u32]>, Option<Dropped>> {
        let stems = corpus.stems.distinct(&candidate.query);
        let mut shared: HashMap<usize, usize> = HashMap::new();
        for number in stems.iter().filter_map(|stem| self.by_stem.get(stem)).flatten() {
            *shared.entry(*number).or_default() += 1;
        }
        let is_same = |(number, common): (&usize, &usize)| {
            let other = self.stems.get(*number).map_or(0, |stems| stems.len());
            *common as f64 >= SAME * (stems.len() + other - common) as f64
        };
        if stems.is_empty()
            || shared.iter().any(is_same)
            || self.answers.contains(&(candidate.document, candidate.answer))
        {
            return Err(Some(Dropped::Repeated));
        }
        let masks = self.masks.get(&candidate.document);
        let more = candidate.masks.iter().filter(|mask| masks.is_none_or(|masks| !masks.contains(mask))).count();
        let headings = corpus.documents.get(candidate.document).map_or(0, headings);
        if more > 0 && masks.map_or(0, BTreeSet::len) + more > (headings / ONE_IN).max(1) {
            return Err(None);
        }
        Ok(stems)
    }

    fn add(&mut self, candidate: Candidate, stems: Box<[u32]>) {
        let number = self.taken.len();
        stems.iter().for_each(|stem| self.by_stem.entry(*stem).or_default().push(number));
        self.stems.push(stems);
        self.answers.insert((candidate.document, candidate.answer));
        self.masks.entry(candidate.document).or_default().extend(candidate.masks.iter().copied());
        *self.counts.entry(candidate.document).or_default() += 1;
        self.taken.push(candidate);
    }
}

fn headings(document: &Document) -> usize {
    document.sentences.iter().filter(|s| matches!(s.kind, Kind::Heading(_))).count()
}
