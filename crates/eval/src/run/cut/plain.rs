//! Cutting by specs of which nothing else is asked.

use pericope_api::{Document, SentenceEncoder};
use pericope_segment::Resources;
use pericope_segment::registry::SegmenterEntry;
use pericope_segment::spec::Spec;

use super::super::{Observer, RunError};
use super::Cut;
use super::resources::{CorpusResources, default_limits};
use crate::config::ChunkerConfig;

/// Cuts the corpus by specs that nothing else is asked of, in their order; `encoder` reads the chunks.
pub(in crate::run) fn plain(
    named: &[(&str, &Spec)],
    documents: &[Document],
    (segmenters, base): (&[SegmenterEntry], &dyn Resources),
    (max_tokens, encoder): (Option<usize>, &dyn SentenceEncoder),
    observer: &dyn Observer,
) -> Result<Vec<Cut>, RunError> {
    let counter = base.counter().map_err(RunError::Config)?;
    let defaults = default_limits(max_tokens, base.defaults(), Some(encoder), counter.as_ref());
    let names: Vec<ChunkerConfig> = named.iter().map(|(name, spec)| ChunkerConfig::plain(name, spec)).collect();
    let resources = CorpusResources::new(base, segmenters, documents, &names, defaults);
    let mut order: Vec<(usize, &(&str, &Spec))> = named.iter().enumerate().collect();
    order.sort_by_key(|(_, (_, spec))| spec.name == "same-size");
    let mut done = Vec::with_capacity(named.len());
    for (at, (name, spec)) in order {
        observer.stage(&format!("{name}: cutting"), documents.len());
        resources.limit_to(defaults, spec);
        let mut cut = resources.cut(name, spec, observer)?;
        resources.size(&mut cut, spec, observer)?;
        resources.learn(&cut);
        done.push((at, cut));
    }
    done.sort_by_key(|(at, _)| *at);
    Ok(done.into_iter().map(|(_, cut)| cut).collect())
}
