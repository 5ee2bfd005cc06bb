//! `--dry-run` of what cuts documents: the language models that segmenters ask, and the endpoints that they embed with.

use pericope::segmenters;
use pericope_eval::asking::segmenter_config;
use pericope_eval::config::ModelFile;
use pericope_eval::run::{
    Estimate, ModelEstimate, TextSize, estimate_embedder, estimate_segment_embedders, estimate_segmenter,
};
use pericope_segment::llm::LanguageModel;
use pericope_segment::registry::check_in;
use pericope_segment::spec::Spec;

use crate::commands::dry_run;
use crate::status::{Failure, Outcome};

/// What the language models of a spec come to on documents of so many tokens; nothing where it asks none.
pub fn asked(spec: &Spec, documents: &[usize]) -> Result<Vec<ModelEstimate>, Failure> {
    let mut found = Vec::new();
    for wanted in LanguageModel::all_of(spec) {
        let config = segmenter_config(&wanted, None).map_err(|e| Failure::usage(format!("--segmenter: {e}")))?;
        found.extend(estimate_segmenter(&config, spec, documents));
    }
    Ok(found)
}

/// Says what cutting these documents by these specs comes to; nothing is opened, asked or cut.
pub fn run(specs: &[Spec], documents: &[TextSize], json: bool) -> Outcome {
    with_embedder(specs, documents, None, json)
}

/// As [`run`], and what embedding all segments comes to where an endpoint does that: a document's text once for each spec.
pub fn with_embedder(specs: &[Spec], documents: &[TextSize], embedder: Option<&str>, json: bool) -> Outcome {
    let tokens: Vec<usize> = documents.iter().map(|size| size.tokens).collect();
    let mut sum = Estimate::default();
    for (at, spec) in specs.iter().enumerate() {
        check_in(segmenters(), spec).map_err(Failure::usage)?;
        // Those of equal specs ask the same, and what one was answered the other takes from the cache.
        if specs.iter().take(at).any(|before| before == spec) {
            continue;
        }
        let models = asked(spec, &tokens)?;
        dry_run::add(&mut sum, Estimate { models, budget: budget(spec), ..Estimate::default() });
    }
    let models = estimate_segment_embedders(specs, documents);
    dry_run::add(&mut sum, Estimate { models, ..Estimate::default() });
    // Every segment of every spec: a sentence is in one of each, and none is smaller.
    let (texts, tokens) = total(documents);
    for _ in specs {
        let models = embedder.and_then(|name| estimate_embedder(name, texts, tokens)).into_iter().collect();
        dry_run::add(&mut sum, Estimate { models, ..Estimate::default() });
    }
    dry_run::segmenting(Estimate { documents: documents.len(), chunkers: specs.len(), ..sum }, json)
}

/// What may be spent, by the files that a spec names.
pub fn budget(spec: &Spec) -> Option<f64> {
    let mut files = LanguageModel::all_of(spec).into_iter().filter_map(|wanted| wanted.config);
    files.find_map(|path| ModelFile::load(&path).ok()?.budget)
}

/// Sentences and tokens of documents.
fn total(documents: &[TextSize]) -> (usize, usize) {
    documents.iter().fold((0, 0), |(texts, tokens), size| (texts + size.sentences, tokens + size.tokens))
}
