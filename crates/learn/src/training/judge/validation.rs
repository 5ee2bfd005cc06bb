use pericope_segment::random::{SplitMix64, fnv1a};
use pericope_util::Bm25;

use super::data::JudgeQuestion;
use super::sample::{Kind, Sample};
use crate::cogltx::{Best, Judge, Sequence, best_span, runs, sequence};
use crate::training::events::Judged;
use crate::training::options::TrainError;

/// Questions that are asked at a validation, at most.
const QUESTIONS: usize = 300;
/// Relevant blocks of a question that are read by themselves, at most.
const RELEVANT: usize = 4;
/// The same of others: half of those with most words of the query, and half of any.
const OTHERS: usize = 12;

/// Questions with the blocks that are read of them, the same at every validation.
pub(super) struct Validating<'a> {
    questions: Vec<Asked<'a>>,
    bm25_auc: f64,
}

struct Asked<'a> {
    question: &'a JudgeQuestion,
    /// Blocks that are read by themselves; the first `relevant` are relevant.
    blocks: Vec<usize>,
    relevant: usize,
    /// What the reasoner reads.
    sample: Sample,
}

impl<'a> Validating<'a> {
    pub(super) fn new(questions: &'a [JudgeQuestion], tokens: usize, special: (u32, u32), seed: u64) -> Self {
        let mut order: Vec<usize> = (0..questions.len()).collect();
        SplitMix64::new(fnv1a(seed, *b"validation")).shuffle(&mut order);
        let chosen = order.into_iter().take(QUESTIONS).filter_map(|i| Some((i, questions.get(i)?)));
        let asked = chosen.map(|(i, question)| {
            let mut random = SplitMix64::new(fnv1a(seed, i.to_le_bytes()));
            let mut blocks = question.relevant.clone();
            random.shuffle(&mut blocks);
            blocks.truncate(RELEVANT);
            let relevant = blocks.len();
            let mut others = question.others();
            random.shuffle(&mut others);
            let scores = Bm25::new(question.all()).scores(&question.query);
            let any = others.split_off(others.len() / 2);
            others.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
            blocks.extend(others.into_iter().take(OTHERS / 2).chain(any.into_iter().take(OTHERS / 2)));
            let sample = Sample::of(question, Kind::Likely, tokens, special, &mut random);
            Asked { question, blocks, relevant, sample }
        });
        let questions: Vec<Asked<'_>> = asked.collect();
        let areas = questions.iter().filter_map(|asked| {
            let scores = Bm25::new(asked.question.all()).scores(&asked.question.query);
            let own: Vec<f32> = asked.blocks.iter().map(|&i| scores[i] as f32).collect();
            let (relevant, others) = own.split_at(asked.relevant);
            auc(relevant, others)
        });
        Self { bm25_auc: mean(&areas.collect::<Vec<_>>()), questions }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.questions.is_empty()
    }

    /// What a judge makes of the questions.
    pub(super) fn measure(&self, judge: &Judge) -> Result<Judged, TrainError> {
        let (mut areas, mut f1s) = (Vec::new(), Vec::new());
        for asked in &self.questions {
            let query = &asked.question.query;
            let alone = asked.blocks.iter().map(|&i| sequence(query, [asked.question.ids(i)], judge.special()));
            let sequences: Vec<Sequence> = alone.collect();
            let scores: Vec<f32> = judge.scores(&sequences, |_| 0..1)?.concat();
            let (relevant, others) = scores.split_at(asked.relevant.min(scores.len()));
            areas.extend(auc(relevant, others));
            if let [Some(first), Some(last)] = asked.sample.ends {
                f1s.push(asked.span_f1(judge, first..last + 1)?);
            }
        }
        Ok(Judged {
            questions: areas.len(),
            auc: mean(&areas),
            bm25_auc: self.bm25_auc,
            answers: f1s.len(),
            span_f1: (!f1s.is_empty()).then(|| mean(&f1s)),
        })
    }
}

impl Asked<'_> {
    /// The F1 of the tokens between the ends that the reasoner finds.
    fn span_f1(&self, judge: &Judge, gold: std::ops::Range<usize>) -> Result<f64, TrainError> {
        let Sample { sequence, chosen, .. } = &self.sample;
        let logits = judge.spans(std::slice::from_ref(sequence))?.pop().unwrap_or_default();
        let follows = |at: usize| chosen.get(at).zip(chosen.get(at + 1)).is_some_and(|(a, b)| a + 1 == *b);
        let runs = runs(chosen.len(), follows);
        let place =
            |(block, token): (usize, usize)| sequence.blocks.get(block).map_or(0, |places| places.start + token);
        let Some(Best { first, last, .. }) = best_span(&logits, &sequence.blocks, &runs) else { return Ok(0.0) };
        let found = place(first)..place(last) + 1;
        let shared = found.end.min(gold.end).saturating_sub(found.start.max(gold.start));
        Ok(2.0 * shared as f64 / (found.len() + gold.len()) as f64)
    }
}

/// The mean; 0.5 of nothing, which is no better than chance.
fn mean(all: &[f64]) -> f64 {
    if all.is_empty() { 0.5 } else { all.iter().sum::<f64>() / all.len() as f64 }
}

/// The probability that a relevant block has a higher score than another, ties half; `None` where either is missing.
fn auc(relevant: &[f32], others: &[f32]) -> Option<f64> {
    let pairs = relevant.len() * others.len();
    let wins = relevant.iter().flat_map(|a| {
        others.iter().map(move |b| {
            if a > b {
                1.0
            } else if a < b {
                0.0
            } else {
                0.5
            }
        })
    });
    (pairs > 0).then(|| wins.sum::<f64>() / pairs as f64)
}

#[cfg(test)]
mod tests {
    use super::auc;

    #[test]
    fn areas_by_hand() {
        assert_eq!(auc(&[0.9, 0.5], &[0.5, 0.1]), Some(0.875));
        assert_eq!((auc(&[], &[0.1]), auc(&[0.1], &[])), (None, None));
    }
}
