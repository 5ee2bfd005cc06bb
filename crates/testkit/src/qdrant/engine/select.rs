//! Which parts of a point are sent.

use std::collections::HashMap;

use qdrant_client::qdrant::{
    DenseVector, NamedVectorsOutput, SparseVector, Value, VectorOutput, VectorsOutput, WithPayloadSelector,
    WithVectorsSelector, vector_output, vectors_output, with_payload_selector, with_vectors_selector,
};

use super::model::Stored;

/// The fields of the payload that were asked for; none where nothing was said.
pub(super) fn payload(mut all: HashMap<String, Value>, which: Option<&WithPayloadSelector>) -> HashMap<String, Value> {
    match which.and_then(|which| which.selector_options.as_ref()) {
        None | Some(with_payload_selector::SelectorOptions::Enable(false)) => all.clear(),
        Some(with_payload_selector::SelectorOptions::Enable(true)) => {}
        Some(with_payload_selector::SelectorOptions::Include(list)) => {
            all.retain(|field, _| list.fields.contains(field));
        }
        Some(with_payload_selector::SelectorOptions::Exclude(list)) => {
            all.retain(|field, _| !list.fields.contains(field));
        }
    }
    all
}

/// The vectors that were asked for; none where nothing was said.
pub(super) fn vectors(stored: &Stored, which: Option<&WithVectorsSelector>) -> Option<VectorsOutput> {
    let wanted = match which?.selector_options.as_ref()? {
        with_vectors_selector::SelectorOptions::Enable(false) => return None,
        with_vectors_selector::SelectorOptions::Enable(true) => None,
        with_vectors_selector::SelectorOptions::Include(list) => Some(&list.names),
    };
    let wanted = |name: &String| wanted.is_none_or(|names| names.contains(name));
    #[allow(deprecated, reason = "the old fields must be given a value, and stay empty")]
    let output = |vector| VectorOutput { data: Vec::new(), indices: None, vectors_count: None, vector: Some(vector) };
    let dense =
        stored.dense.iter().filter(|(name, _)| wanted(name)).map(|(name, data)| {
            (name.clone(), output(vector_output::Vector::Dense(DenseVector { data: data.clone() })))
        });
    let sparse = stored.sparse.iter().filter(|(name, _)| wanted(name)).map(|(name, entries)| {
        let (indices, values) = entries.iter().unzip();
        (name.clone(), output(vector_output::Vector::Sparse(SparseVector { values, indices })))
    });
    let named = NamedVectorsOutput { vectors: dense.chain(sparse).collect() };
    Some(VectorsOutput { vectors_options: Some(vectors_output::VectorsOptions::Vectors(named)) })
}
