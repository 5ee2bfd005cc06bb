use std::sync::Arc;

use pericope_api::{RerankError, Reranker};
use pericope_encode::rerankers::{BuiltReranker, RerankerArgs, RerankerEntry, RerankerSpec};
use pericope_read::{SentenceSplitter, default_splitter};
use pericope_segment::registry::SettingKey;

use super::model::WeSWin;
use super::segmenter::loaded;
use crate::checkpoint::SHIPPED;
use crate::sentences::Sentences;

pub(crate) const RERANKER: RerankerEntry = RerankerEntry {
    name: "weswin",
    summary: "WeSWin's head for questions: a passage is as good as its best sentence (English; what ships makes searches of documentation worse)",
    keys: &[SettingKey {
        name: "model",
        default: SHIPPED,
        doc: "a checkpoint that was trained with questions: `shipped`, or a file or folder of `pericope train weswin`",
    }],
    example: "weswin",
    sends: false,
    weights,
    build,
};

fn weights(spec: &RerankerSpec) -> Option<&'static str> {
    (spec.get("model").unwrap_or(SHIPPED) == SHIPPED).then_some(pericope_weights_weswin::SHA256)
}

fn build(args: &RerankerArgs<'_>) -> BuiltReranker {
    let name = args.get("model").unwrap_or(SHIPPED);
    let model = loaded(name).map_err(|e| args.unavailable(e.to_string()))?;
    let reranker = WeSWinReranker::new(model).map_err(|problem| args.unavailable(format!("{name}: {problem}")))?;
    Ok(Some(Arc::new(reranker)))
}

/// WeSWin-Ret as a reranker (Abbasi 2024): the score of a passage is the greatest log-odds that one of its sentences
/// answers the query.
///
/// Sentences are those of the default splitter of `pericope-read`. Sequences of all passages share batches.
pub struct WeSWinReranker {
    model: Arc<WeSWin>,
    splitter: Arc<dyn SentenceSplitter>,
}

impl WeSWinReranker {
    /// Reranks by the head for questions of a model.
    ///
    /// # Errors
    /// For a model without a head for questions.
    pub fn new(model: Arc<WeSWin>) -> Result<Self, String> {
        if !model.scores_relevance() {
            return Err(
                "the model was trained without questions, and has no head to rerank by: `pericope train weswin \
                        --questions FILE` makes one that has"
                    .into(),
            );
        }
        Ok(Self { model, splitter: default_splitter() })
    }

    /// The tokens of a passage's sentences; a blank passage is one empty sentence.
    fn sentences(&self, passage: &str) -> Sentences {
        let mut found = Vec::new();
        self.splitter.split(passage, &mut |span| found.push(span.of(passage)));
        if found.is_empty() {
            found.push("");
        }
        self.model.tokenize(&found)
    }
}

impl Reranker for WeSWinReranker {
    fn name(&self) -> &str {
        RERANKER.name
    }

    fn fingerprint(&self) -> String {
        format!("{}:{}", self.model.fingerprint(), self.splitter.name())
    }

    fn scores(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>, RerankError> {
        let sentences: Vec<Sentences> = passages.iter().map(|passage| self.sentences(passage)).collect();
        let found = self.model.best_odds(&sentences, query).map_err(|e| RerankError::Run(Box::new(e)))?;
        found.ok_or_else(|| RerankError::Model("the model has no head for questions".into()))
    }
}

impl std::fmt::Debug for WeSWinReranker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WeSWinReranker").field("model", &self.model).finish_non_exhaustive()
    }
}
