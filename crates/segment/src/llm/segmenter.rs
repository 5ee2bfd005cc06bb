use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use pericope_api::{Boundaries, Document, ModelUse, SegmentError, Segmentation, Segmenter, ShiftFinder, TokenCounter};

use super::passages::{Passage, Unit, passages};

/// Tokens of a group: those with which LumberChunker retrieved best (Duarte et al. 2024, section 5).
pub const DEFAULT_TOKENS: usize = 550;
/// Characters a token, at most shown: no passage is longer than a group.
const LETTERS: usize = 4;
/// Documents that are asked about together.
const BATCH: usize = 64;

/// Asks a [`ShiftFinder`] where the content of a document shifts.
///
/// Passages are put together until they have some `tokens` tokens (the last one may go beyond; at least two). The finder names
/// the first of them whose content is other than that of those before it: there is a boundary, and there the next group begins.
/// Where it names none, the group ends a segment, so that no segment is longer than a group.
pub struct LlmSegmenter {
    finder: Arc<dyn ShiftFinder>,
    counter: Arc<dyn TokenCounter>,
    tokens: usize,
    unit: Unit,
}

impl LlmSegmenter {
    /// Makes a segmenter with groups of `tokens` tokens by this counter, at least 1.
    #[must_use]
    pub fn new(finder: Arc<dyn ShiftFinder>, counter: Arc<dyn TokenCounter>, tokens: usize, unit: Unit) -> Self {
        Self { finder, counter, tokens: tokens.max(1), unit }
    }

    fn boundaries(&self, document: &Document) -> Result<Boundaries, SegmentError> {
        let letters = self.tokens.saturating_mul(LETTERS);
        let passages = passages(document, self.unit, letters, self.counter.as_ref());
        let mut after = Vec::new();
        let mut rest = passages.as_slice();
        loop {
            let (group, _) = rest.split_at(group(rest, self.tokens));
            let shift = match group {
                [] | [_] => None,
                _ => {
                    let texts: Vec<&str> = group.iter().map(|passage| passage.text.as_str()).collect();
                    self.finder.first_shift(&texts)?.filter(|shift| (1..group.len()).contains(shift))
                }
            };
            rest = rest.get(shift.unwrap_or(group.len())..).unwrap_or_default();
            let Some(first) = rest.first() else { break };
            after.push(first.sentences.start);
        }
        Ok(Boundaries::new(document.len(), after)?)
    }
}

/// How many of the passages are the next group.
fn group(passages: &[Passage], tokens: usize) -> usize {
    let mut sum = 0;
    let full = passages.iter().position(|passage| {
        sum += passage.tokens;
        sum >= tokens
    });
    // A passage alone has no gap.
    full.map_or(passages.len(), |last| (last + 1).max(2)).min(passages.len())
}

impl Segmenter for LlmSegmenter {
    fn segment(&self, document: &Document) -> Result<Segmentation, SegmentError> {
        self.boundaries(document).map(Segmentation::Boundaries)
    }

    fn fingerprint(&self) -> String {
        self.finder.fingerprint()
    }

    fn batch_size(&self) -> usize {
        BATCH
    }

    /// Asks about several documents at once: within one, each question waits for the answer before it. When nobody answers any
    /// more, nothing more is asked.
    fn segment_batch(&self, documents: &[&Document]) -> Vec<Result<Segmentation, SegmentError>> {
        let (next, stopped) = (AtomicUsize::new(0), OnceLock::new());
        let work = || {
            let mut done = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(document) = documents.get(at) else { return done };
                let cut = match stopped.get() {
                    Some(problem) => Err(SegmentError::Model { problem: String::clone(problem), stops: true }),
                    None => self.segment(document),
                };
                if let Err(SegmentError::Model { problem, stops: true }) = &cut {
                    stopped.get_or_init(|| problem.clone());
                }
                done.push((at, cut));
            }
        };
        let workers = self.finder.workers().clamp(1, documents.len().max(1));
        let mut cut: Vec<(usize, Result<Segmentation, SegmentError>)> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
            let joined = threads.into_iter().map(|thread| thread.join());
            joined.flat_map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
        });
        cut.sort_by_key(|(at, _)| *at);
        cut.into_iter().map(|(_, cut)| cut).collect()
    }

    fn model_use(&self) -> Option<ModelUse> {
        Some(self.finder.used())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::counters::WordCounter;

    /// Shifts before a passage that begins with "new"; keeps what it was asked. Fails on "fail", for good.
    #[derive(Default)]
    struct New {
        asked: Mutex<Vec<Vec<String>>>,
        beyond: bool,
    }

    impl ShiftFinder for New {
        fn fingerprint(&self) -> String {
            "new".into()
        }

        fn first_shift(&self, passages: &[&str]) -> Result<Option<usize>, SegmentError> {
            self.asked.lock().unwrap().push(passages.iter().map(|text| (*text).to_owned()).collect());
            if passages.contains(&"fail") {
                return Err(SegmentError::Model { problem: "no money".into(), stops: true });
            }
            let found = passages.iter().skip(1).position(|text| text.starts_with("new")).map(|at| at + 1);
            Ok(if self.beyond { Some(passages.len()) } else { found })
        }

        fn workers(&self) -> usize {
            3
        }

        fn used(&self) -> ModelUse {
            ModelUse { asked: self.asked.lock().unwrap().len() as u64, ..ModelUse::default() }
        }
    }

    fn segmenter(finder: &Arc<New>, tokens: usize) -> LlmSegmenter {
        let finder: Arc<dyn ShiftFinder> = finder.clone();
        LlmSegmenter::new(finder, Arc::new(WordCounter), tokens, Unit::Sentence)
    }

    fn after(segmenter: &LlmSegmenter, sentences: &[&str]) -> Vec<usize> {
        let document = Document::from_sentences("d", sentences);
        match segmenter.segment(&document).unwrap() {
            Segmentation::Boundaries(found) => found.after().to_vec(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_next_group_begins_where_the_content_shifts() {
        let finder = Arc::new(New::default());
        let sentences = ["a b", "c d", "new e", "f g", "h i", "new j", "k"];
        assert_eq!(after(&segmenter(&finder, 6), &sentences), [2, 5]);
        let asked = finder.asked.lock().unwrap().clone();
        assert_eq!(asked, [vec!["a b", "c d", "new e"], vec!["new e", "f g", "h i"], vec!["new j", "k"],]);
    }

    #[test]
    fn a_group_without_a_shift_is_a_segment() {
        let finder = Arc::new(New::default());
        assert_eq!(after(&segmenter(&finder, 4), &["a b", "c d", "e f", "g h", "i"]), [2, 4]);
        // One that is as long as a group has the next one beside it.
        assert_eq!(after(&segmenter(&finder, 2), &["a b c", "d e f", "new g h"]), [2]);
        // Nothing is asked about a passage alone.
        let finder = Arc::new(New::default());
        assert!(after(&segmenter(&finder, 4), &["a"]).is_empty());
        assert_eq!(finder.used().asked, 0);
        // An answer that names none of the group is no answer.
        let beyond = Arc::new(New { beyond: true, ..New::default() });
        assert_eq!(after(&segmenter(&beyond, 4), &["a b", "c d", "e f"]), [2]);
    }

    /// Answers anything, the same for the same passages.
    struct Anything;

    impl ShiftFinder for Anything {
        fn fingerprint(&self) -> String {
            String::new()
        }

        fn first_shift(&self, passages: &[&str]) -> Result<Option<usize>, SegmentError> {
            let hash = pericope_api::Chunk::content_hash(&passages.join("\n"));
            Ok(usize::try_from(hash % (passages.len() as u128 + 3)).ok())
        }

        fn used(&self) -> ModelUse {
            ModelUse::default()
        }
    }

    proptest::proptest! {
        /// Whatever a model says, chunks are what they must be, and no segment is longer than a group.
        #[test]
        fn chunks_obey_the_laws(
            sentences in proptest::collection::vec("[a-z]{1,6}( [a-z]{1,6}){0,9}", 0..30),
            tokens in 2_usize..40,
            max in 3_usize..20,
        ) {
            let document = Document::from_sentences("d", &sentences);
            let segmenter = LlmSegmenter::new(Arc::new(Anything), Arc::new(WordCounter), tokens, Unit::Sentence);
            if let Segmentation::Boundaries(found) = segmenter.segment(&document).unwrap() {
                let ends = found.after().iter().copied().chain([document.len()]);
                let mut start = 0;
                for end in ends {
                    let words = |range: std::ops::Range<usize>| -> usize {
                        sentences[range].iter().map(|sentence| sentence.split(' ').count()).sum()
                    };
                    proptest::prop_assert!(end - start <= 2 || words(start..end - 1) < tokens);
                    start = end;
                }
            }
            let policy = crate::policy::SizePolicy { max_tokens: Some(max), ..crate::policy::SizePolicy::default() };
            let chunker = crate::Chunker::new(Box::new(segmenter), policy, Arc::new(WordCounter));
            crate::laws::check_chunker(&chunker, &document).unwrap();
        }
    }

    #[test]
    fn batches_are_the_documents_alone_and_end_when_nobody_answers() {
        let finder = Arc::new(New::default());
        let all: Vec<Document> =
            (0..20).map(|n| Document::from_sentences(&format!("d{n}"), &["a b", "new c", "d e", "f"])).collect();
        let documents: Vec<&Document> = all.iter().collect();
        let segmenter = segmenter(&finder, 5);
        for (document, cut) in documents.iter().zip(segmenter.segment_batch(&documents)) {
            assert_eq!(cut.unwrap(), segmenter.segment(document).unwrap());
        }
        assert_eq!(segmenter.model_use().unwrap().asked, finder.used().asked);
        let fails = Document::from_sentences("fails", &["a", "fail"]);
        let mut documents = vec![&fails; 40];
        documents[0] = &all[0];
        let before = finder.used().asked;
        let cut = segmenter.segment_batch(&documents);
        assert_eq!(cut.len(), 40);
        assert!(cut.iter().skip(1).all(|cut| cut.as_ref().is_err_and(SegmentError::stops_run)));
        // Each thread may have been at one of them when the first failed.
        assert!(finder.used().asked - before <= 1 + 3 + 3, "{}", finder.used().asked - before);
    }
}
