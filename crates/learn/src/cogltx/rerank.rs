use std::sync::Arc;

use pericope_api::{RerankError, Reranker};
use pericope_encode::ModelError;
use pericope_encode::rerankers::{RerankerArgs, RerankerEntry, RerankerSpec, RerankerSpecError};
use pericope_segment::registry::SettingKey;

use super::judge::Judge;
use super::open::{SHIPPED, loaded};
use super::sequence::{Sequence, query_room, sequence};
use super::texts::Texts;

/// Passages that are read together: bounds memory.
const GROUP: usize = 64;

pub(crate) const RERANKER: RerankerEntry = RerankerEntry {
    name: NAME,
    summary: "CogLTX's judge: a passage is as good as its best block of some 63 tokens (English)",
    keys: &[SettingKey {
        name: "model",
        default: SHIPPED,
        doc: "a file or folder of `pericope train judge`; none ships with this version",
    }],
    example: "cogltx:model=my-judge",
    sends: false,
    weights,
    build,
};

const NAME: &str = "cogltx";

fn weights(_: &RerankerSpec) -> Option<&'static str> {
    None
}

fn build(args: &RerankerArgs<'_>) -> Result<Option<Arc<dyn Reranker>>, RerankerSpecError> {
    let found = reranker(args.get("model").unwrap_or(SHIPPED)).map_err(|e| args.unavailable(e.to_string()))?;
    Ok(Some(Arc::new(found)))
}

/// Scores passages by the judge: a passage's blocks are read together, as many in one sequence as fit, and its score is that of its
/// best block.
#[derive(Debug, Clone)]
pub struct JudgeReranker {
    judge: Arc<Judge>,
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
        Self { judge }
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
        self.judge.fingerprint().to_owned()
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
        Ok(scores)
    }
}
