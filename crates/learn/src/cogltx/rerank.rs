use std::sync::Arc;

use pericope_api::{RerankError, Reranker};
use pericope_encode::ModelError;
use pericope_encode::rerankers::{RerankerArgs, RerankerEntry, RerankerSpec, RerankerSpecError};
use pericope_segment::registry::SettingKey;

use super::judge::Judge;
use super::open::loaded;
use super::sequence::{Sequence, query_room, sequence};
use super::texts::Texts;
use crate::checkpoint::SHIPPED;
use crate::probability::probability;

/// The least probability whose log-odds are told from those of 0.
const LEAST: f32 = 1e-6;

/// Passages that are read together: bounds memory.
const GROUP: usize = 64;

pub(crate) const RERANKER: RerankerEntry = RerankerEntry {
    name: NAME,
    summary: "CogLTX's judge: a passage is as good as its best block of some 63 tokens (English)",
    keys: &[
        SettingKey { name: "model", default: SHIPPED, doc: "`shipped`, or a file or folder of `pericope train judge`" },
        SettingKey {
            name: "order",
            default: "0.5",
            doc: "how much the order of the search counts beside the judge, 0 to 10; 0: the judge alone",
        },
    ],
    example: "cogltx",
    sends: false,
    weights,
    build,
};

const NAME: &str = "cogltx";

/// `order` where nothing is said.
const ORDER: f32 = 0.5;
/// `order` at most.
const MOST_ORDER: f32 = 10.0;

fn weights(spec: &RerankerSpec) -> Option<&'static str> {
    (spec.get("model").unwrap_or(SHIPPED) == SHIPPED).then_some(pericope_weights_judge::SHA256)
}

fn build(args: &RerankerArgs<'_>) -> Result<Option<Arc<dyn Reranker>>, RerankerSpecError> {
    let order = args.number("order", ORDER.into(), 0.0..=MOST_ORDER.into())? as f32;
    let found = reranker(args.get("model").unwrap_or(SHIPPED)).map_err(|e| args.unavailable(e.to_string()))?;
    Ok(Some(Arc::new(found.with_order(order))))
}

/// Scores passages by the judge: a passage's blocks are read together, as many in one sequence as fit, and the judge's score of it is
/// that of its best block, 0 to 1. From its log-odds the logarithm of the passage's place is taken, times `order`: passages come in the
/// order of a search, which knows what the judge does not.
#[derive(Debug, Clone)]
pub struct JudgeReranker {
    judge: Arc<Judge>,
    order: f32,
}

/// The reranker `cogltx` of the model that `name` names: `shipped`, or a file or folder of `pericope train judge`.
///
/// # Errors
/// [`ModelError`], naming the file, or the command that makes it.
pub fn reranker(name: &str) -> Result<JudgeReranker, ModelError> {
    Ok(JudgeReranker::new(loaded(name)?))
}

impl JudgeReranker {
    /// With a judge that has been loaded.
    #[must_use]
    pub fn new(judge: Arc<Judge>) -> Self {
        Self { judge, order: ORDER }
    }

    /// The same with another weight of the search's order, 0 to 10 (others become the nearest of these, and what is no number 0); 0: the
    /// judge alone.
    #[must_use]
    pub fn with_order(self, order: f32) -> Self {
        Self { order: if order.is_nan() { 0.0 } else { order.clamp(0.0, MOST_ORDER) }, ..self }
    }

    /// The sequences of a passage: runs of its blocks.
    fn sequences(&self, query: &[u32], passage: &str) -> Vec<Sequence> {
        let settings = self.judge.settings();
        let passages = [passage];
        let texts = Texts::new(&passages, self.judge.words(), settings.block);
        let ids: Vec<Vec<u32>> = (0..texts.len()).map(|i| texts.ids(i)).collect();
        let mut runs: Vec<Vec<&[u32]>> = Vec::new();
        let mut length = usize::MAX;
        for block in &ids {
            length = length.saturating_add(block.len() + 1);
            match runs.last_mut() {
                Some(run) if length <= settings.tokens => run.push(block),
                _ => {
                    length = query_room(query) + block.len() + 1;
                    runs.push(vec![block.as_slice()]);
                }
            }
        }
        runs.into_iter().map(|run| sequence(query, run, self.judge.special())).collect()
    }
}

impl Reranker for JudgeReranker {
    fn name(&self) -> &str {
        NAME
    }

    fn fingerprint(&self) -> String {
        format!("{}:order={}", self.judge.fingerprint(), self.order)
    }

    fn scores(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>, RerankError> {
        let query = self.judge.query(query);
        let mut scores = vec![0.0f32; passages.len()];
        for (group, scores) in passages.chunks(GROUP).zip(scores.chunks_mut(GROUP)) {
            let made = group.iter().enumerate().flat_map(|(i, passage)| {
                self.sequences(&query, passage).into_iter().map(move |sequence| (i, sequence))
            });
            let (owners, sequences): (Vec<usize>, Vec<Sequence>) = made.unzip();
            let found = self.judge.scores(&sequences, |i| 0..sequences[i].blocks.len());
            let found = found.map_err(|error| RerankError::Run(Box::new(error)))?;
            for (owner, blocks) in owners.into_iter().zip(found) {
                if let Some(score) = scores.get_mut(owner) {
                    *score = blocks.into_iter().fold(*score, f32::max);
                }
            }
        }
        if self.order > 0.0 {
            for (place, score) in scores.iter_mut().enumerate() {
                *score = placed(*score, place, self.order);
            }
        }
        Ok(scores)
    }
}

/// The probability `p` with `order` times the logarithm of the place (from 0) taken from its log-odds.
fn placed(p: f32, place: usize, order: f32) -> f32 {
    let odds = p.clamp(LEAST, 1.0 - LEAST);
    let odds = (odds / (1.0 - odds)).ln() - order * (1.0 + place as f32).ln();
    probability(odds)
}

#[cfg(test)]
mod tests {
    use super::{ORDER, RERANKER};

    #[test]
    fn the_default_that_is_listed_is_the_one_that_is_taken() {
        let listed = RERANKER.keys.iter().find(|key| key.name == "order").and_then(|key| key.default.parse().ok());
        assert_eq!(listed, Some(ORDER));
    }
}
