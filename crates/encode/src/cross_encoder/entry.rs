use std::path::Path;
use std::sync::Arc;

use pericope_api::Reranker;
use pericope_segment::registry::SettingKey;

use super::model::{CrossEncoder, NAME};
use crate::device::best_device;
use crate::rerankers::{BuiltReranker, RerankerArgs, RerankerEntry};

/// The reranker `cross-encoder`.
pub const CROSS_ENCODER: RerankerEntry = RerankerEntry {
    name: NAME,
    summary: "a sequence classifier that reads query and passage together, from a folder (ms-marco-MiniLM, bge-reranker)",
    keys: &[
        SettingKey {
            name: "model",
            default: "",
            doc: "the folder, with config.json, tokenizer.json and model.safetensors: a BERT, DistilBERT, RoBERTa or \
                  XLM-RoBERTa with one label or two",
        },
        SettingKey {
            name: "max_tokens",
            default: "",
            doc: "tokens of query and passage together at most, the model's own window by default",
        },
    ],
    example: "cross-encoder:model=models/ms-marco-MiniLM-L6-v2",
    sends: false,
    weights: |_| None,
    build,
};

fn build(args: &RerankerArgs<'_>) -> BuiltReranker {
    let folder = args
        .get("model")
        .ok_or_else(|| args.unavailable("the folder of the model is missing: cross-encoder:model=DIR".to_owned()))?;
    let max_tokens = args.maybe_count("max_tokens", 8)?;
    let model = CrossEncoder::open(Path::new(folder), max_tokens, &best_device());
    model.map(|model| Some(Arc::new(model) as Arc<dyn Reranker>)).map_err(|e| args.unavailable(e.to_string()))
}
