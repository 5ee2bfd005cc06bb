//! Training without relevance labels (Ding et al. 2020, section 3.3): they begin with BM25, and interventions change them.

use std::path::{Path, PathBuf};

use pericope_util::Bm25;
use serde::{Deserialize, Serialize};

use super::data::JudgeQuestion;
use super::options::Unsupervised;
use crate::cogltx::{Judge, Sequence, sequence};
use crate::training::options::TrainError;

/// The loss of an end that stands in no block that is read, in nats: as if the reasoner gave it a probability of 1 in 10,000.
const MISSING: f64 = 9.21;

/// The name of the file of labels.
const FILE: &str = "labels.json";

/// The labels of every epoch, on disk, so that an interrupted training goes on with them.
pub(super) struct Labels {
    path: PathBuf,
    epochs: Vec<Vec<Vec<usize>>>,
}

/// What an intervention changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Flips {
    /// Blocks that became relevant.
    pub(super) up: usize,
    /// Blocks that became irrelevant.
    pub(super) down: usize,
    /// Blocks that are relevant now.
    pub(super) relevant: usize,
}

/// The form of the file.
#[derive(Serialize, Deserialize)]
struct Saved {
    /// Says what is trained how.
    fingerprint: String,
    epochs: Vec<Vec<Vec<usize>>>,
}

impl Labels {
    /// Those that an earlier sitting of the same training left in `folder`, or those of BM25.
    pub(super) fn open(folder: &Path, fingerprint: &str, questions: &[JudgeQuestion], start: usize) -> Self {
        let path = folder.join(FILE);
        let saved = std::fs::read(&path).ok().and_then(|text| serde_json::from_slice::<Saved>(&text).ok());
        let saved = saved.filter(|saved| saved.fingerprint == fingerprint && !saved.epochs.is_empty());
        let epochs = saved.map(|saved| saved.epochs);
        let first = || vec![questions.iter().map(|question| likely(question, start)).collect()];
        Self { epochs: epochs.unwrap_or_else(first), path }
    }

    /// Gives the questions the labels of an epoch, from 0 on; forgets later ones.
    pub(super) fn apply(&mut self, epoch: usize, questions: &mut [JudgeQuestion]) {
        self.epochs.truncate(epoch + 1);
        if let Some(labels) = self.epochs.last() {
            questions.iter_mut().zip(labels).for_each(|(question, labels)| question.relevant.clone_from(labels));
        }
    }

    /// Takes note of the labels of the next epoch.
    pub(super) fn save(&mut self, fingerprint: &str, questions: &[JudgeQuestion]) -> Result<(), TrainError> {
        self.epochs.push(questions.iter().map(|question| question.relevant.clone()).collect());
        let saved = Saved { fingerprint: fingerprint.to_owned(), epochs: std::mem::take(&mut self.epochs) };
        let io = |source| TrainError::Io { path: self.path.clone(), source };
        let text = serde_json::to_vec(&saved).map_err(|e| TrainError::Options(e.to_string()))?;
        pericope_util::replace_file(&self.path, text).map_err(io)?;
        self.epochs = saved.epochs;
        Ok(())
    }
}

/// The blocks with most words of the query, at most so many.
fn likely(question: &JudgeQuestion, most: usize) -> Vec<usize> {
    let scores = Bm25::new(question.all()).scores(&question.query);
    let mut order: Vec<usize> = (0..scores.len()).filter(|&i| scores[i] > 0.0).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    order.truncate(most);
    order.sort_unstable();
    order
}

/// Labels blocks anew by what the reasoner loses without them.
pub(super) fn relabel(
    judge: &Judge,
    questions: &mut [JudgeQuestion],
    options: &Unsupervised,
) -> Result<Flips, TrainError> {
    let mut flips = Flips::default();
    for question in questions {
        let chosen = chosen(judge, question)?;
        let mut tried = vec![chosen.clone()];
        tried.extend(chosen.iter().map(|out| chosen.iter().copied().filter(|i| i != out).collect()));
        let losses = losses(judge, question, &tried)?;
        let Some((&whole, without)) = losses.split_first() else { continue };
        for (&block, loss) in chosen.iter().zip(without) {
            let change = change(question, block, loss - whole);
            let place = question.relevant.binary_search(&block);
            match place {
                Err(at) if change > options.up => {
                    question.relevant.insert(at, block);
                    flips.up += 1;
                }
                Ok(at) if change < options.down => {
                    question.relevant.remove(at);
                    flips.down += 1;
                }
                _ => {}
            }
        }
        flips.relevant += question.relevant.len();
    }
    Ok(flips)
}

/// What leaving a block out costs the reasoner, in nats. Nothing is gained by leaving out the answer, however badly the reasoner
/// finds it.
fn change(question: &JudgeQuestion, block: usize, difference: f64) -> f64 {
    let holds = question.answer.is_some_and(|answer| answer.first.0 == block || answer.last.0 == block);
    if holds { difference.max(0.0) } else { difference }
}

/// What the reasoner reads: the relevant blocks, and the others with the highest scores by themselves, as many as fit.
fn chosen(judge: &Judge, question: &JudgeQuestion) -> Result<Vec<usize>, TrainError> {
    let present: Vec<usize> = (0..question.blocks.len()).filter(|&i| !question.ids(i).is_empty()).collect();
    let alone = present.iter().map(|&i| sequence(&question.query, [question.ids(i)], judge.special()));
    let alone: Vec<Sequence> = alone.collect();
    let scores = judge.scores(&alone, |_| 0..1)?.concat();
    let mut order: Vec<(bool, f32, usize)> =
        present.iter().zip(scores).map(|(&i, score)| (question.is_relevant(i), score, i)).collect();
    order.sort_by(|a, b| b.0.cmp(&a.0).then(b.1.total_cmp(&a.1)).then(a.2.cmp(&b.2)));
    let mut length = question.query.len() + 2;
    let fits = |(.., i): &&(bool, f32, usize)| {
        length += question.ids(*i).len() + 1;
        length <= judge.settings().tokens
    };
    let mut chosen: Vec<usize> = order.iter().take_while(fits).map(|(.., i)| *i).collect();
    chosen.sort_unstable();
    Ok(chosen)
}

/// The reasoner's loss with each choice of blocks: the cross-entropies of both ends, in nats.
fn losses(judge: &Judge, question: &JudgeQuestion, tried: &[Vec<usize>]) -> Result<Vec<f64>, TrainError> {
    let made =
        tried.iter().map(|blocks| sequence(&question.query, blocks.iter().map(|&i| question.ids(i)), judge.special()));
    let sequences: Vec<Sequence> = made.collect();
    let logits = judge.spans(&sequences)?;
    let mut found = Vec::with_capacity(tried.len());
    for ((blocks, sequence), logits) in tried.iter().zip(&sequences).zip(logits) {
        let first = sequence.blocks.first().map_or(sequence.ids.len(), |places| places.start);
        let own = logits.get(first..).unwrap_or_default();
        let ends = question.answer.map(|answer| [answer.first, answer.last]).into_iter().flatten();
        let one = |(which, (block, token)): (usize, (usize, usize))| {
            let at = blocks.binary_search(&block).ok().and_then(|at| sequence.blocks.get(at));
            let logit = at.and_then(|places| logits.get(places.start + token)).map(|logits| f64::from(logits[which]));
            let Some(logit) = logit else { return MISSING };
            let all = || own.iter().map(|logits| f64::from(logits[which]));
            let most = all().fold(f64::NEG_INFINITY, f64::max);
            most + all().map(|one| (one - most).exp()).sum::<f64>().ln() - logit
        };
        found.push(ends.enumerate().map(one).sum());
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{change, likely};
    use crate::Sentences;
    use crate::training::{AnswerTokens, JudgeQuestion};

    fn question(answer: Option<AnswerTokens>) -> JudgeQuestion {
        let blocks: [&[u32]; 4] = [&[1, 2], &[5, 5], &[3], &[5, 6]];
        let blocks = Arc::new(Sentences::new(blocks, 9));
        JudgeQuestion { blocks, replaced: Vec::new(), query: vec![5, 6], relevant: Vec::new(), answer }
    }

    /// An end that is left out counts as a fixed loss, which may be less than that of an end that was read.
    #[test]
    fn nothing_is_gained_by_leaving_out_the_answer() {
        let question = question(Some(AnswerTokens { first: (1, 0), last: (2, 0) }));
        for (block, difference, found) in
            [(0, -3.0, -3.0), (1, -3.0, 0.0), (2, -3.0, 0.0), (2, 4.0, 4.0), (3, 0.5, 0.5)]
        {
            assert!((change(&question, block, difference) - found).abs() < 1e-12, "{block}");
        }
    }

    #[test]
    fn labels_begin_where_the_words_of_the_query_stand() {
        let question = question(None);
        assert_eq!(likely(&question, 3), [1, 3]);
        assert_eq!(likely(&question, 1), [3]);
    }
}
