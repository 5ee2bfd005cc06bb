use super::data::{Asked, Labelled};
use crate::weswin::{Partition, Sentences, Special, Window, sequence};

/// A training sequence: its tokens, the places of its labelled `[SNT]`s, and their labels.
pub(super) struct Sample {
    pub(super) ids: Vec<u32>,
    pub(super) places: Vec<usize>,
    pub(super) labels: Vec<bool>,
}

/// The sequences of a document, as a partition makes them.
pub(super) fn boundary_samples(
    document: &Labelled,
    partition: Partition,
    tokens: usize,
    special: Special,
) -> Vec<Sample> {
    let last = document.sentences.len().saturating_sub(1);
    let make = |window| {
        let (ids, mut places) = sequence(&document.sentences, &window, special);
        // The document's end is no boundary to be learnt.
        let active = window.active.start..window.active.end.min(last);
        places.truncate(active.len());
        Sample { ids, places, labels: document.ends[active].to_vec() }
    };
    let windows = partition.windows(&document.sentences.tokens(), tokens - 2);
    windows.into_iter().map(make).filter(|sample| !sample.labels.is_empty()).collect()
}

/// The sequences of a question and its document.
pub(super) fn question_samples(asked: &Asked, tokens: usize, special: Special) -> Vec<Sample> {
    let budget = tokens.saturating_sub(3 + asked.question.len()).max(8);
    let cut = Sentences::new((0..asked.sentences.len()).map(|i| asked.sentences.of(i)), budget - 1);
    let make = |window: Window| {
        let (mut ids, places) = sequence(&cut, &window, special);
        ids.extend_from_slice(&asked.question);
        ids.push(special.end);
        Sample { ids, places, labels: asked.relevant[window.active].to_vec() }
    };
    Partition::Right(1).windows(&cut.tokens(), budget).into_iter().map(make).collect()
}
