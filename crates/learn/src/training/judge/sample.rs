//! What is read of a question in one step (Ding et al. 2020, section 3.3).

use std::sync::Arc;

use pericope_segment::random::SplitMix64;
use pericope_util::Bm25;

use super::data::JudgeQuestion;
use crate::cogltx::{Sequence, sequence};

/// A query with some blocks of its text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sample {
    pub(super) sequence: Sequence,
    /// The blocks by their number in the text; none of a block of another text.
    pub(super) chosen: Vec<usize>,
    /// True for the relevant ones.
    pub(super) relevant: Vec<bool>,
    /// The places of the answer's first and last token, where they are there.
    pub(super) ends: [Option<usize>; 2],
}

/// The kinds of samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `z_rand`: a run of blocks, as in the retrieval competition.
    Run,
    /// `z_relv`: the relevant blocks and others at random, as in rehearsal.
    Relevant,
    /// The relevant blocks and those others that have most words of the query: what the reasoner reads.
    Likely,
}

/// Relevant blocks of a question that are read by themselves in a step, and others, at most.
const EACH: usize = 2;

/// Blocks of other texts among which the one with most words of a query is looked for: half of them of questions nearby, which mostly
/// come of the same source, half of any. Half as many for each further one, so that not all are hard.
const POOL: usize = 96;
/// Blocks that are drawn for the last ones, at least.
const LEAST_POOL: usize = 4;
/// Tokens of a query that is looked for in blocks of other texts, at least: a copy of what it was taken from has it word for word.
const QUOTED: usize = 8;
/// How far away questions nearby are.
const NEARBY: usize = 1000;

/// What is read of a question in a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    /// Tokens of a sample at most.
    pub(super) tokens: usize,
    /// Tokens of a block at most: the shortest sample has room for one.
    pub(super) block: usize,
    /// Blocks of other texts beside those that are read by themselves.
    pub(super) elsewhere: usize,
}

impl Sample {
    /// Draws what is read of question `at` in a step: half of the time some blocks [by themselves](Self::alone), with some of
    /// [other texts](Self::elsewhere), else one sample of many blocks. The latter's length is L for half of them and anything from a quarter
    /// of it for the others.
    pub(super) fn drawn(
        questions: &[JudgeQuestion],
        at: usize,
        room: Room,
        special: (u32, u32),
        random: &mut SplitMix64,
    ) -> Vec<Self> {
        let Some(question) = questions.get(at) else { return Vec::new() };
        if random.below(2) == 0 {
            let mut samples = Self::alone(question, special, random);
            samples.extend(Self::elsewhere(questions, at, room.elsewhere, special, random));
            return samples;
        }
        let kind = [Kind::Run, Kind::Relevant, Kind::Likely][random.below(3) % 3];
        let least = (room.tokens / 4).max(question.query.len() + 2 + room.block + 1).min(room.tokens);
        let shorter = least + random.below(room.tokens - least + 1);
        let tokens = if random.below(2) == 0 { room.tokens } else { shorter };
        vec![Self::of(question, kind, tokens, special, random)]
    }

    /// Blocks by themselves, as the retrieval competition reads them first: up to two relevant ones and as many others, one of them with
    /// many words of the query. Among many blocks, a judge can tell the relevant ones by their likeness to each other, and learns
    /// nothing of the query.
    fn alone(question: &JudgeQuestion, special: (u32, u32), random: &mut SplitMix64) -> Vec<Self> {
        let mut relevant: Vec<usize> =
            question.relevant.iter().copied().filter(|&i| !question.ids(i).is_empty()).collect();
        random.shuffle(&mut relevant);
        let mut others = question.others();
        random.shuffle(&mut others);
        let scores = Bm25::new(question.all()).scores(&question.query);
        let (drawn, any) = others.split_at(others.len().div_ceil(2));
        let likely = drawn.iter().max_by(|&&a, &&b| scores[a].total_cmp(&scores[b]));
        let chosen = relevant.iter().take(EACH).chain(likely).chain(any.iter().take(EACH - 1));
        chosen.map(|&block| Self::put_together(question, vec![block], special)).collect()
    }

    /// Irrelevant blocks of other texts by themselves, no two alike and at most so many: the first has most words of the query among
    /// [`POOL`] blocks that are drawn, the next among half as many, and so on. Blocks that hold the whole of a longer query, or are the same
    /// as a relevant one, come of a copy of the text and are left out.
    fn elsewhere(
        questions: &[JudgeQuestion],
        at: usize,
        many: usize,
        special: (u32, u32),
        random: &mut SplitMix64,
    ) -> Vec<Self> {
        let Some(question) = questions.get(at).filter(|_| many > 0) else { return Vec::new() };
        let nearby = at.saturating_sub(NEARBY)..questions.len().min(at + NEARBY + 1);
        let is_copied = |ids: &[u32]| {
            let query = &question.query;
            question.relevant.iter().any(|&i| question.ids(i) == ids)
                || (query.len() >= QUOTED && ids.windows(query.len()).any(|part| part == query))
        };
        let mut taken: Vec<&[u32]> = Vec::with_capacity(many);
        for nth in 0..many {
            let size = POOL.checked_shr(nth as u32).unwrap_or(0).max(LEAST_POOL);
            let drawn = (0..size).filter_map(|i| {
                let range = if i % 2 == 0 { nearby.clone() } else { 0..questions.len() };
                let other = questions.get(range.start + random.below(range.len()))?;
                let ids = other.blocks.of(random.below(other.blocks.len()));
                let is_other = !Arc::ptr_eq(&other.blocks, &question.blocks) && !ids.is_empty();
                (is_other && !taken.contains(&ids) && !is_copied(ids)).then_some(ids)
            });
            let pool: Vec<&[u32]> = drawn.collect();
            let scores = Bm25::new(pool.iter().copied()).scores(&question.query);
            let best = pool.into_iter().zip(scores).max_by(|a, b| a.1.total_cmp(&b.1));
            taken.extend(best.map(|(ids, _)| ids));
        }
        let read = |ids| {
            let sequence = sequence(&question.query, [ids], special);
            Self { sequence, chosen: Vec::new(), relevant: vec![false], ends: [None, None] }
        };
        taken.into_iter().map(read).collect()
    }

    /// A sample of at most `tokens` tokens.
    pub(super) fn of(
        question: &JudgeQuestion,
        kind: Kind,
        tokens: usize,
        special: (u32, u32),
        random: &mut SplitMix64,
    ) -> Self {
        let room = tokens.saturating_sub(question.query.len() + 2);
        let mut chosen = match kind {
            Kind::Run => run(question, room, random),
            Kind::Relevant | Kind::Likely => {
                let mut others = question.others();
                random.shuffle(&mut others);
                if kind == Kind::Likely {
                    let scores = Bm25::new(question.all()).scores(&question.query);
                    others.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
                }
                // Where the relevant blocks are many, some of them and some others.
                let relevant = part(question, if others.is_empty() { room } else { room / 4 * 3 }, random);
                let taken: usize = relevant.iter().map(|&i| question.ids(i).len() + 1).sum();
                let rest = fitting(question, others.into_iter(), room.saturating_sub(taken));
                relevant.into_iter().chain(rest).collect()
            }
        };
        chosen.sort_unstable();
        Self::put_together(question, chosen, special)
    }

    /// A sample of these blocks, by their number.
    fn put_together(question: &JudgeQuestion, chosen: Vec<usize>, special: (u32, u32)) -> Self {
        let sequence = sequence(&question.query, chosen.iter().map(|&i| question.ids(i)), special);
        let place = |(block, token): (usize, usize)| {
            let at = chosen.binary_search(&block).ok()?;
            sequence.blocks.get(at).map(|places| places.start + token)
        };
        let ends = [question.answer.map(|answer| answer.first), question.answer.map(|answer| answer.last)];
        let ends = ends.map(|end| end.and_then(place));
        let relevant = chosen.iter().map(|&i| question.is_relevant(i)).collect();
        Self { sequence, chosen, relevant, ends }
    }

    /// The places of each block that has tokens, and whether it is relevant.
    pub(super) fn read(&self) -> impl Iterator<Item = (std::ops::Range<usize>, bool)> + '_ {
        let all = self.sequence.blocks.iter().cloned().zip(self.relevant.iter().copied());
        all.filter(|(places, _)| !places.is_empty())
    }

    /// Whether each token is relevant: query and special tokens before the blocks are, and a block's `[SEP]` is as its block.
    pub(super) fn labels(&self) -> Vec<bool> {
        let mut labels = vec![true; self.sequence.ids.len()];
        for (places, &relevant) in self.sequence.blocks.iter().zip(&self.relevant) {
            labels[places.start..=places.end].fill(relevant);
        }
        labels
    }
}

/// The blocks, one after the other, that fit.
fn fitting(question: &JudgeQuestion, blocks: impl Iterator<Item = usize>, room: usize) -> Vec<usize> {
    let mut length = 0;
    let fits = |i: &usize| {
        length += question.ids(*i).len() + 1;
        length <= room
    };
    blocks.take_while(fits).collect()
}

/// A run of blocks that begins anywhere, and reaches back where the text ends before the room does.
fn run(question: &JudgeQuestion, room: usize, random: &mut SplitMix64) -> Vec<usize> {
    let n = question.blocks.len();
    let start = random.below(n);
    let read = |i: &usize| !question.ids(*i).is_empty();
    let mut chosen = fitting(question, (start..n).filter(read), room);
    if chosen.last().is_none_or(|&last| !(last + 1..n).any(|i| read(&i))) {
        let taken: usize = chosen.iter().map(|&i| question.ids(i).len() + 1).sum();
        chosen.extend(fitting(question, (0..start).rev().filter(read), room.saturating_sub(taken)));
    }
    chosen
}

/// The relevant blocks, or as many as fit: from the first on, or from anywhere.
fn part(question: &JudgeQuestion, room: usize, random: &mut SplitMix64) -> Vec<usize> {
    let all = fitting(question, question.relevant.iter().copied(), room);
    if all.len() == question.relevant.len() || random.below(2) == 0 {
        return all;
    }
    let start = random.below(question.relevant.len());
    fitting(question, question.relevant.iter().copied().skip(start), room)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::Arc;

    use pericope_segment::random::SplitMix64;
    use proptest::prelude::*;

    use super::{Kind, Room, Sample};
    use crate::Sentences;
    use crate::training::judge::data::{AnswerTokens, JudgeQuestion};

    fn question(lengths: &[usize], relevant: Vec<usize>, answer: bool) -> JudgeQuestion {
        let ids: Vec<Vec<u32>> = lengths.iter().enumerate().map(|(i, &n)| vec![10 + i as u32; n]).collect();
        let (first, last) = (relevant[0], *relevant.last().unwrap());
        let answer = answer.then(|| AnswerTokens { first: (first, 0), last: (last, lengths[last] - 1) });
        let blocks = Arc::new(Sentences::new(ids.iter().map(Vec::as_slice), 99));
        JudgeQuestion { blocks, replaced: Vec::new(), query: vec![5, 6], relevant, answer }
    }

    proptest! {
        #[test]
        fn samples_fit_and_say_what_is_relevant(
            lengths in prop::collection::vec(1usize..9, 1..40), at in 0usize..40, many in 1usize..9, seed in any::<u64>(),
        ) {
            let n = lengths.len();
            let first = at % n;
            let relevant: Vec<usize> = (first..n.min(first + many)).collect();
            let asked = question(&lengths, relevant.clone(), true);
            let mut random = SplitMix64::new(seed);
            let room = Room { tokens: 60, block: 8, elsewhere: 2 };
            for sample in Sample::drawn(std::slice::from_ref(&asked), 0, room, (1, 2), &mut random) {
            let Sample { sequence, chosen, relevant: marked, ends } = &sample;
            prop_assert!(sequence.ids.len() <= 60 && chosen.is_sorted() && !chosen.is_empty());
            prop_assert_eq!(chosen.len(), sequence.blocks.len());
            for ((&i, places), &marked) in chosen.iter().zip(&sequence.blocks).zip(marked) {
                prop_assert_eq!(&sequence.ids[places.clone()], asked.ids(i));
                prop_assert_eq!(marked, relevant.contains(&i));
            }
            let labels = sample.labels();
            prop_assert_eq!(labels.len(), sequence.ids.len());
            prop_assert!(labels[..4].iter().all(|&yes| yes));
            let [from, to] = *ends;
            prop_assert_eq!(from.map(|at| sequence.ids[at]), chosen.contains(&first).then_some(10 + first as u32));
            let last = *relevant.last().unwrap();
            prop_assert_eq!(to.map(|at| (sequence.ids[at], sequence.ids[at + 1])), chosen.contains(&last).then_some((10 + last as u32, 2)));
            }
        }
    }

    /// A question about a text of six blocks: the relevant one, and five of a token each.
    fn asked(relevant: &[u32], query: &[u32], tokens: std::ops::Range<u32>) -> JudgeQuestion {
        let ids = std::iter::once(relevant.to_vec()).chain(tokens.map(|token| vec![token; 4]));
        let ids: Vec<Vec<u32>> = ids.collect();
        let blocks = Arc::new(Sentences::new(ids.iter().map(Vec::as_slice), 99));
        JudgeQuestion { blocks, replaced: Vec::new(), query: query.to_vec(), relevant: vec![0], answer: None }
    }

    /// The token that each sample's block begins with.
    fn firsts(samples: &[Sample]) -> Vec<u32> {
        samples.iter().map(|sample| sample.sequence.ids[sample.sequence.blocks[0].start]).collect()
    }

    #[test]
    fn blocks_of_other_texts_compete() {
        // One block of the second text has a word of the query, and none of the third has.
        let questions =
            [asked(&[5, 7, 7], &[5, 6], 20..25), asked(&[5, 8], &[5, 6], 30..35), asked(&[9], &[9], 40..45)];
        let mut hard = 0;
        for seed in 0..50 {
            let found = Sample::elsewhere(&questions, 0, 3, (1, 2), &mut SplitMix64::new(seed));
            let mut firsts = firsts(&found);
            hard += usize::from(firsts[0] == 5);
            assert!(firsts.iter().all(|token| [5, 9, 30, 31, 32, 33, 34, 40, 41, 42, 43, 44].contains(token)));
            firsts.sort_unstable();
            firsts.dedup();
            assert_eq!(firsts.len(), 3, "no two alike");
            for sample in &found {
                assert_eq!((&sample.relevant[..], sample.ends), (&[false][..], [None, None]));
                assert!(sample.labels()[4..].iter().all(|&yes| !yes));
            }
        }
        assert!(hard > 45, "{hard}");
        let many = Sample::elsewhere(&questions, 0, 9, (1, 2), &mut SplitMix64::new(1)).len();
        // One of the last pools held nothing that was not taken already.
        assert_eq!(many, 8);
        assert!(Sample::elsewhere(&questions, 0, 0, (1, 2), &mut SplitMix64::new(1)).is_empty());
        // All questions are about one text.
        assert!(Sample::elsewhere(&questions[..1], 0, 2, (1, 2), &mut SplitMix64::new(1)).is_empty());
    }

    #[test]
    fn copies_of_a_text_are_not_wrong_answers() {
        let query = [5, 6, 5, 6, 5, 6, 5, 6];
        let holds = [&[3][..], &query, &[4]].concat();
        let questions = [asked(&[5, 7], &query, 20..25), asked(&[5, 7], &query, 20..25), asked(&holds, &query, 40..45)];
        for seed in 0..30 {
            let found = Sample::elsewhere(&questions, 0, 2, (1, 2), &mut SplitMix64::new(seed));
            assert!(firsts(&found).iter().all(|token| *token >= 20), "{:?}", firsts(&found));
        }
    }

    #[test]
    fn blocks_by_themselves_are_drawn_with_those_of_other_texts() {
        let questions = [asked(&[5, 7], &[5, 6], 20..25), asked(&[9], &[9], 40..45)];
        let mut lengths = std::collections::BTreeSet::new();
        for seed in 0..40 {
            let room = Room { tokens: 60, block: 8, elsewhere: 2 };
            lengths.insert(Sample::drawn(&questions, 0, room, (1, 2), &mut SplitMix64::new(seed)).len());
        }
        // One sample of many blocks; or the relevant block, two others of the text, and two of the other text.
        assert_eq!(lengths, [1, 5].into());
    }

    #[test]
    fn kinds_of_samples() {
        let mut random = SplitMix64::new(1);
        let mut asked = question(&[3; 20], vec![4, 5], false);
        let run = Sample::of(&asked, Kind::Run, 4 + 20, (1, 2), &mut random);
        assert!(run.chosen.windows(2).all(|two| two[0] + 1 == two[1]) && run.chosen.len() == 5, "{:?}", run.chosen);
        let relevant = Sample::of(&asked, Kind::Relevant, 4 + 20, (1, 2), &mut random);
        assert!(relevant.chosen.contains(&4) && relevant.chosen.contains(&5) && relevant.chosen.len() == 5);
        assert_eq!(relevant.ends, [None, None]);
        for seed in 0..50 {
            let read = Sample::alone(&asked, (1, 2), &mut SplitMix64::new(seed));
            assert!(read.iter().all(|sample| sample.chosen.len() == 1));
            let marked: Vec<bool> = read.iter().map(|sample| sample.relevant[0]).collect();
            assert_eq!(marked, [true, true, false, false]);
        }
        // Block 9 alone has the query's words; block 12 is empty but for the query, which is left out of it.
        asked.replaced = vec![(9, vec![5, 5, 6]), (12, vec![])];
        let likely = Sample::of(&asked, Kind::Likely, 4 + 12, (1, 2), &mut random);
        assert_eq!(likely.chosen.len(), 3);
        assert!(likely.chosen.contains(&9), "{:?}", likely.chosen);
        let mut likely = 0;
        for seed in 0..50 {
            let one = Sample::of(&asked, Kind::Run, 99, (1, 2), &mut SplitMix64::new(seed));
            assert!(!one.chosen.contains(&12));
            let read = Sample::alone(&asked, (1, 2), &mut SplitMix64::new(seed));
            let others: Vec<usize> = read.iter().skip(2).map(|sample| sample.chosen[0]).collect();
            assert!(others.len() == 2 && others[0] != others[1] && others[1] != 12, "{others:?}");
            likely += usize::from(others[0] == 9);
        }
        // It competes in half of the cases, and comes first in all of these.
        assert!((10..40).contains(&likely), "{likely}");
        // All of the text is relevant.
        let read = Sample::alone(&question(&[3], vec![0], false), (1, 2), &mut random);
        assert_eq!(read.len(), 1);
    }
}
