use super::data::{LabelledDocument, PreparedQuestion};
use crate::weswin::{Asking, Partition, Special, Window, sequence};

/// A training sequence: its tokens, the places of its labelled `[SNT]`s, and their labels.
pub(super) struct Sample {
    pub(super) ids: Vec<u32>,
    pub(super) places: Vec<usize>,
    pub(super) labels: Vec<bool>,
}

/// The sequences of a document, as a partition makes them.
pub(super) fn boundary_samples(
    document: &LabelledDocument,
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
pub(super) fn question_samples(asked: &PreparedQuestion, tokens: usize, special: Special) -> Vec<Sample> {
    let asking = Asking::new(&asked.sentences, &asked.question, tokens);
    let make = |window: Window| {
        let (ids, places) = asking.sequence(&window, special);
        Sample { ids, places, labels: asked.relevant[window.active].to_vec() }
    };
    asking.windows().into_iter().map(make).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::question_samples;
    use crate::Sentences;
    use crate::training::PreparedQuestion;
    use crate::weswin::Special;

    #[test]
    fn a_long_question_is_cut_as_it_is_when_it_is_asked() {
        let ids: Vec<Vec<u32>> = (0..9).map(|n| vec![7; 3 * n]).collect();
        let sentences = Arc::new(Sentences::new(ids.iter().map(Vec::as_slice), usize::MAX));
        let asked = PreparedQuestion { sentences, relevant: vec![true; 9], question: vec![9; 60] };
        let special = Special { start: 1, end: 2, sentence: 3 };
        let samples = question_samples(&asked, 32, special);
        assert!(samples.iter().all(|s| s.ids.len() <= 32 && s.ids.iter().filter(|&&id| id == 9).count() == 15));
        assert_eq!(samples.iter().map(|s| s.labels.len()).sum::<usize>(), 9);
    }
}
