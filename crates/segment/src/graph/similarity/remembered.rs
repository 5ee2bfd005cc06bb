use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use pericope_api::{Document, SegmentError};
use sha2::{Digest, Sha256};

use super::{NeighbourSimilarities, PairWeights};

/// Bytes of similarities that are remembered at most: of some 400,000 sentences with 5 neighbours each.
const MEMORY: usize = 1 << 24;

/// A measure that remembers the documents it has seen: where several segmenters use it, or one cuts a document several
/// times, the sentences are compared once. For measures beside whose work a SHA-256 of the text is nothing.
///
/// Those of the same name and fingerprint share what they remember, as long as one of them lives. The similarities
/// are the measure's own, to the last bit.
pub struct Remembered<S> {
    inner: S,
    memory: Arc<Memory>,
}

impl<S: PairWeights> Remembered<S> {
    /// Wraps a measure.
    #[must_use]
    pub fn new(inner: S) -> Self {
        let memory = Memory::shared(&format!("{} {}", inner.name(), inner.fingerprint()));
        Self { inner, memory }
    }
}

impl<S: PairWeights> PairWeights for Remembered<S> {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn fingerprint(&self) -> String {
        self.inner.fingerprint()
    }

    fn similarities(
        &self,
        document: &Document,
        sentences: &[usize],
        k: usize,
    ) -> Result<NeighbourSimilarities, SegmentError> {
        let key = key(document, sentences, k);
        if let Some(known) = self.memory.get(&key) {
            return Ok(known);
        }
        let found = self.inner.similarities(document, sentences, k)?;
        self.memory.store(key, &found, MEMORY);
        Ok(found)
    }
}

type Key = [u8; 32];

/// The SHA-256 of all that the similarities of some sentences of a document depend on.
fn key(document: &Document, sentences: &[usize], k: usize) -> Key {
    let mut digest = Sha256::new();
    digest.update((k as u64).to_be_bytes());
    for sentence in sentences.iter().filter_map(|&i| document.sentences.get(i)) {
        let text = document.visible(sentence.span);
        digest.update((text.len() as u64).to_be_bytes());
        digest.update(text.as_bytes());
    }
    digest.finalize().into()
}

/// Similarities by document; the oldest go first.
#[derive(Default)]
struct Memory(Mutex<State>);

#[derive(Default)]
struct State {
    known: HashMap<Key, NeighbourSimilarities>,
    order: VecDeque<Key>,
    bytes: usize,
}

impl Memory {
    /// The memory of that name, a new one where nobody has it any more.
    fn shared(name: &str) -> Arc<Self> {
        static IN_USE: Mutex<Vec<(String, Weak<Memory>)>> = Mutex::new(Vec::new());
        let mut in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
        in_use.retain(|(_, memory)| memory.strong_count() > 0);
        if let Some(memory) = in_use.iter().find(|(other, _)| other == name).and_then(|(_, memory)| memory.upgrade()) {
            return memory;
        }
        let memory = Arc::new(Self::default());
        in_use.push((name.to_owned(), Arc::downgrade(&memory)));
        memory
    }

    fn get(&self, key: &Key) -> Option<NeighbourSimilarities> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).known.get(key).cloned()
    }

    /// Remembers similarities, and forgets the oldest where that makes more than `most` bytes.
    fn store(&self, key: Key, found: &NeighbourSimilarities, most: usize) {
        let mut guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let state = &mut *guard;
        if found.bytes() > most || state.known.insert(key, found.clone()).is_some() {
            return;
        }
        state.order.push_back(key);
        state.bytes += found.bytes();
        while state.bytes > most {
            let Some(oldest) = state.order.pop_front() else { break };
            state.bytes -= state.known.remove(&oldest).map_or(0, |gone| gone.bytes());
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use pericope_api::{Document, SegmentError};

    use super::{Memory, NeighbourSimilarities, PairWeights, Remembered};

    /// As many values as there are sentences times k; counts how often it is asked.
    struct Counting {
        fingerprint: &'static str,
        asked: Arc<AtomicUsize>,
    }

    impl PairWeights for Counting {
        fn name(&self) -> &'static str {
            "counting"
        }

        fn fingerprint(&self) -> String {
            self.fingerprint.into()
        }

        fn similarities(
            &self,
            _: &Document,
            sentences: &[usize],
            k: usize,
        ) -> Result<NeighbourSimilarities, SegmentError> {
            let asked = self.asked.fetch_add(1, Ordering::Relaxed);
            Ok(NeighbourSimilarities::new(k, vec![asked as f64; sentences.len() * k]))
        }
    }

    #[test]
    fn each_question_is_asked_once_among_all_of_a_fingerprint() {
        let asked = Arc::new(AtomicUsize::new(0));
        let new = |fingerprint| Remembered::new(Counting { fingerprint, asked: asked.clone() });
        let (one, same, other) = (new("one"), new("one"), new("other"));
        let document = |texts: &[&str]| Document::from_sentences("d", texts);
        let (d, e, f) = (document(&["a", "bc"]), document(&["ab", "c"]), document(&["a", "bc", "d"]));
        let questions =
            [(&d, &[0usize, 1][..], 1), (&d, &[0, 1], 2), (&d, &[0], 1), (&e, &[0, 1], 1), (&f, &[0, 1, 2], 1)];
        let ask = |similarity: &Remembered<Counting>| -> Vec<NeighbourSimilarities> {
            questions.iter().map(|&(document, read, k)| similarity.similarities(document, read, k).unwrap()).collect()
        };
        let answers = ask(&one);
        assert_eq!(asked.load(Ordering::Relaxed), questions.len(), "all differ");
        assert_eq!((ask(&one), ask(&same)), (answers.clone(), answers.clone()));
        assert_eq!(asked.load(Ordering::Relaxed), questions.len());
        // The same sentences of a longer document are the same question.
        assert_eq!(one.similarities(&f, &[0, 1], 1).unwrap(), answers[0]);
        assert_ne!(ask(&other), answers);
        drop((one, same));
        assert_ne!(ask(&new("one")), answers, "nobody remembers it");
    }

    #[test]
    fn the_oldest_are_forgotten_first() {
        let memory = Memory::default();
        let values = |i: usize| NeighbourSimilarities::new(1, vec![i as f64; 10]);
        let most = 3 * values(0).bytes();
        for i in 0..5 {
            memory.store([i as u8; 32], &values(i), most);
            memory.store([i as u8; 32], &values(i), most);
        }
        memory.store([9; 32], &NeighbourSimilarities::new(1, vec![0.0; 100]), most);
        let known: Vec<usize> = (0..10).filter(|&i| memory.get(&[i as u8; 32]).is_some()).collect();
        assert_eq!(known, [2, 3, 4]);
        assert_eq!(memory.get(&[3; 32]), Some(values(3)));
    }
}
