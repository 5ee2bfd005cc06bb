use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use pericope_api::{Reranker, SentenceEncoder, TokenCounter};
use pericope_segment::Resources;
use pericope_segment::registry::SegmenterEntry;

use super::Stores;
use crate::answer::Models;
use crate::config::{Experiment, JudgeKind};
use crate::record;

/// What a run needs from its caller.
pub struct Setup<'a> {
    /// The segmenters that specs may name.
    pub segmenters: &'a [SegmenterEntry],
    /// Segmenters' encoder, token counter and limits.
    pub resources: &'a dyn Resources,
    /// Makes the stores that chunkers are measured in; [`Embedded`](super::Embedded) makes folders.
    pub stores: &'a dyn Stores,
    /// The retrieval encoder; `None` where the configuration says `embedder = "none"`.
    pub encoder: Option<Arc<dyn SentenceEncoder>>,
    /// What counts tokens.
    pub counter: Arc<dyn TokenCounter>,
    /// The language models that answer and judge, where any do.
    pub models: Models,
    /// The rerankers that the experiment names ([`Experiment::rerankers`]), by their specs as it has them.
    pub rerankers: BTreeMap<String, Arc<dyn Reranker>>,
    /// SHA-256 of model files, by name; of other models and of rerankers what changes when their answers could.
    pub model_checksums: BTreeMap<String, String>,
    /// Whether an earlier run in the folder is taken up again.
    pub resume: bool,
    /// A folder for the rankings and the gold in TREC's formats; none writes none.
    pub trec: Option<PathBuf>,
}

impl Setup<'_> {
    /// What identifies the models and the parts that the caller brought.
    pub(super) fn checksums(&self, experiment: &Experiment) -> BTreeMap<String, String> {
        let mut found = self.model_checksums.clone();
        let mut insert = |key: String, fingerprint: String| {
            if !fingerprint.is_empty() {
                found.insert(key, fingerprint);
            }
        };
        if let Some(judge) = self.models.judge.as_ref().filter(|_| experiment.judge.kind == JudgeKind::Custom) {
            insert(record::JUDGE.to_owned(), judge.fingerprint());
        }
        for retriever in experiment.all_retrievers().iter().filter(|retriever| retriever.is_custom()) {
            if let Some(finder) = self.models.finders.get(&retriever.name) {
                insert(format!("retriever {}", retriever.name), finder.fingerprint());
            }
        }
        found
    }
}

/// Is told how far a run is.
pub trait Observer: Sync {
    /// A stage of `total` steps begins.
    fn stage(&self, what: &str, total: usize);
    /// `n` steps of the stage are done.
    fn advance(&self, n: usize);
    /// What the stage is at.
    fn at(&self, _name: &str) {}
    /// Something worth reading that is no error.
    fn note(&self, text: &str);
}

/// Says nothing.
impl Observer for () {
    fn stage(&self, _: &str, _: usize) {}
    fn advance(&self, _: usize) {}
    fn note(&self, _: &str) {}
}
